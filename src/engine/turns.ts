/**
 * The loop: observe, run the due rules, commit to each target; one turn at a time. Targets are flushed in their order, and one that finds
 * something that rules read (a conflict) is followed by rules, not by the next target.
 */
import type { Clock } from '../timing/clock.ts';
import type { Reactor } from './reactor.ts';
import type { Target } from './target.ts';

export interface TurnsOptions {
  readonly reactor: Reactor;
  /** In the order in which they are flushed: later ones may depend on what earlier ones wrote. */
  readonly targets: readonly Target[];
  readonly clock: Clock;
  /** Runs a turn after everything that is due already. */
  readonly defer: (turn: () => void) => void;
  /** Called when a turn is scheduled. */
  readonly woken?: () => void;
  /** Called at the beginning of each turn: time passes here. */
  readonly begin?: () => void;
  /** What can be done before all targets are observed. @returns false if `enough()` interrupted it */
  readonly early?: (enough: () => boolean) => boolean;
  /** Runs the rules, and what is between their runs. @returns false if `enough()` interrupted it. Default: the rules alone */
  readonly derive?: (enough: () => boolean) => boolean;
  /** Called when rules or targets have to go on in another turn before everything is handed over. */
  readonly again?: () => void;
  /** Called when all due rules ran and each target was flushed. */
  readonly ended?: () => void;
  /** Called after each turn in which all targets were observed. @param converged all due rules ran, and each target was flushed */
  readonly turned?: (converged: boolean) => void;
}

/** A turn ends after this time: probes, watches and the Lease are served between turns. */
export const TURN_MS = 10;

export class Turns {
  /** The last step of the last turn, for measurements of turns. */
  doing = 'lists and rows';
  readonly #options: TurnsOptions;
  #scheduled = false;
  #stopped = false;

  constructor(options: TurnsOptions) {
    this.#options = options;
  }

  /** A turn is scheduled. */
  get scheduled(): boolean {
    return this.#scheduled;
  }

  /** All targets are observed. */
  get observed(): boolean {
    return this.#options.targets.every(({ observed }) => observed);
  }

  /** The tables of all targets are one consistent state. */
  get consistent(): boolean {
    return this.#options.targets.every(({ busy }) => !busy);
  }

  /** No target has a write that is due or under way. */
  get committed(): boolean {
    return this.#options.targets.every(({ quiet }) => quiet);
  }

  /** Schedules a turn. */
  wake(): void {
    if (this.#scheduled || this.#stopped) return;
    this.#scheduled = true;
    const { defer, woken, turned } = this.#options;
    woken?.();
    defer(() => {
      this.#scheduled = false;
      const converged = this.#turn();
      if (converged !== undefined) turned?.(converged);
    });
  }

  stop(): void {
    this.#stopped = true;
  }

  /** @returns whether all due rules ran and all writes were handed over; undefined: not all is observed */
  #turn(): boolean | undefined {
    if (this.#stopped) return undefined;
    const { reactor, targets, clock, begin, early, derive, ended } = this.#options;
    begin?.();
    if (!this.consistent) return undefined;
    const until = clock.now() + TURN_MS;
    const enough = (): boolean => clock.now() > until;
    if (!this.observed) {
      if (early?.(enough) === false) this.wake();
      return undefined;
    }
    this.doing = 'rules';
    const derived = derive === undefined ? reactor.runDue(enough) : derive(enough);
    if (!derived) return this.#again();
    for (const target of targets) target.prepare?.();
    for (const target of targets) {
      // The rules have to see a conflict that a diff just found before anything else is written to its object.
      if (!reactor.isIdle) return this.#again();
      this.doing = target.name;
      if (!target.flush()) return this.#again();
    }
    ended?.();
    if (!reactor.isIdle) this.wake();
    return true;
  }

  #again(): false {
    this.#options.again?.();
    this.wake();
    return false;
  }
}
