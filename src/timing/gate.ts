/**
 * What can hold a turn back. Whoever asks a gate says whom to wake, and whoever opens it wakes them: there is no other way to ask, and none
 * to open. So work that met a closed gate cannot be forgotten.
 *
 * A gate may close by itself, as time passes. It never opens by itself.
 */
import type { Clock } from './clock.ts';

export interface Gate {
  /** For messages. */
  readonly name: string;
  /** @param wake called once, when the gate opens, if it is closed now; the same function each time */
  passes(wake: () => void): boolean;
}

/** The owner's side of a gate, which is closed at first. */
export class GateKeeper {
  readonly gate: Gate;
  readonly #clock: Pick<Clock, 'now'> | undefined;
  readonly #waiting = new Set<() => void>();
  #openUntil = -Infinity;

  /** @param clock for a gate that is opened until a time */
  constructor(name: string, clock?: Pick<Clock, 'now'>) {
    this.#clock = clock;
    this.gate = {
      name,
      passes: (wake) => {
        if (this.isOpen) return true;
        this.#waiting.add(wake);
        return false;
      },
    };
  }

  /** For the owner, and for reports: nothing may wait for it. */
  get isOpen(): boolean {
    return (this.#clock?.now() ?? 0) < this.#openUntil;
  }

  get openUntil(): number {
    return this.#openUntil;
  }

  open(until = Infinity): void {
    this.#openUntil = until;
    if (!this.isOpen || this.#waiting.size === 0) return;
    const waiting = [...this.#waiting];
    this.#waiting.clear();
    for (const wake of waiting) wake();
  }

  close(): void {
    this.#openUntil = -Infinity;
  }

  set(open: boolean): void {
    if (open) this.open();
    else this.close();
  }
}

/** Open while all of them are. They are asked in their order, up to the first that is closed. */
export function allOf(name: string, gates: readonly Gate[]): Gate {
  return { name, passes: (wake) => gates.every((gate) => gate.passes(wake)) };
}
