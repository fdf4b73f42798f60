/**
 * Devices that another program may have changed: each is looked at soon, and one that is changed over and over less and less often, since a program
 * in the pod may do so for ever.
 */
import { doublingDelay } from '../../timing/backoff.ts';
import type { Clock, TimerHandle } from '../../timing/clock.ts';
import type { DeviceName } from '../world/attachment.ts';

/** A change is followed by others. */
const FIRST_MS = 100;
/** Looks without a longer wait: a script that cleans up takes one thing after another. */
const QUICK = 5;
const LONGEST_MS = 30_000;
/** After so long without a change the next one is looked at soon again. */
const FORGOTTEN_MS = 120_000;

interface Suspect {
  readonly looks: number;
  readonly at: number;
  /** While a look is to come. */
  readonly timer: TimerHandle;
}

export class Suspects {
  readonly #clock: Clock;
  readonly #look: (name: DeviceName) => void;
  readonly #suspects = new Map<DeviceName, Suspect>();

  constructor(clock: Clock, look: (name: DeviceName) => void) {
    this.#clock = clock;
    this.#look = look;
  }

  notice(name: DeviceName): void {
    const clock = this.#clock;
    const known = this.#suspects.get(name);
    if (known?.timer !== undefined) return;
    const looks = known === undefined || clock.now() - known.at > FORGOTTEN_MS ? 0 : known.looks;
    const timer = clock.setTimeout(
      () => {
        this.#suspects.set(name, { looks: looks + 1, at: clock.now(), timer: undefined });
        this.#look(name);
      },
      doublingDelay(Math.max(0, looks - QUICK), FIRST_MS, LONGEST_MS),
    );
    this.#suspects.set(name, { looks, at: clock.now(), timer });
  }

  forget(name: DeviceName): void {
    const known = this.#suspects.get(name);
    if (known?.timer !== undefined) this.#clock.clearTimeout(known.timer);
    this.#suspects.delete(name);
  }

  stop(): void {
    for (const name of [...this.#suspects.keys()]) this.forget(name);
  }
}
