/**
 * Answers the requests of a group together: all are granted, or none. What was allocated for a group that failed is released again.
 */
import type { Ledger } from '../ipam/ledger.ts';
import type { Reservation } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import { failedReservation } from './allocation-failure.ts';
import type { Answers, Group } from './request-group.ts';
import type { SingleAnswer } from './single-answer.ts';

export class JointAnswers {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #single: SingleAnswer;
  #isTrying = false;

  constructor(world: World, ledger: Ledger, single: SingleAnswer) {
    this.#world = world;
    this.#ledger = ledger;
    this.#single = single;
  }

  /** Whether a change of the ledger is part of an attempt that may fail as a whole. */
  get isTrying(): boolean {
    return this.#isTrying;
  }

  answer(group: Group): Answers {
    const [only, second] = group;
    if (only !== undefined && second === undefined) return [this.#single.reserve(only)];
    const failed = group.map((request): Reservation | undefined => {
      const failures = this.#single.failures(request);
      return failures === undefined ? undefined : failedReservation(request, failures);
    });
    if (failed.some((answer) => answer !== undefined)) return failed;
    this.#isTrying = true;
    const answers = this.#reserveAll(group);
    this.#isTrying = false;
    return answers;
  }

  #reserveAll(group: Group): Answers {
    const granted: Reservation[] = [];
    for (const request of group) {
      const answer = this.#single.reserve(request);
      if (answer.kind === 'failed') {
        // Two requests of the group need the last address of one Subnet.
        for (const { claimant } of granted)
          if (this.#world.reservations.peek(claimant)?.kind !== 'granted') this.#ledger.release('reservation', claimant);
        return group.map((one) => (one === request ? answer : undefined));
      }
      granted.push(answer);
    }
    return granted;
  }
}
