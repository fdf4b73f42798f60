/**
 * Answers the requests of a group together: all are granted, or none. What was allocated for a group that failed is rolled back, as if it
 * had never been tried: revisions of Subnets do not count it.
 */
import type { Ledger } from '../ipam/ledger.ts';
import type { Reservation } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import { failedReservation } from './allocation-failure.ts';
import { ClaimantsBySubnet } from './claimants-by-subnet.ts';
import type { Answers, Group } from './request-group.ts';
import type { SingleAnswer } from './single-answer.ts';

export class JointAnswers {
  readonly #world: World;
  readonly #ledger: Ledger;
  readonly #single: SingleAnswer;
  /** Requests that could be granted while one of their group failed, and failed requests of which a part is free. */
  readonly #blocked = new ClaimantsBySubnet();
  /** Revisions of the Subnets in `#blocked` when their requests were last answered. */
  #revisionsSeen: ReadonlyMap<string, number> = new Map();
  /** By Subnet: how much of its revision comes from allocations that were rolled back. */
  readonly #triedRevisions = new Map<string, number>();
  #isRollingBack = false;

  constructor(world: World, ledger: Ledger, single: SingleAnswer) {
    this.#world = world;
    this.#ledger = ledger;
    this.#single = single;
  }

  /** During a rollback a release frees nothing that other requests could use. */
  get isRollingBack(): boolean {
    return this.#isRollingBack;
  }

  /** Subnets that changed since the requests of blocked groups in them were answered. */
  get changedSubnets(): readonly string[] {
    return [...this.#blocked.subnets].filter((subnet) => this.#revisionsSeen.get(subnet) !== this.#revisionOf(subnet));
  }

  /** Claimants of blocked groups in changed Subnets: their requests are to be answered again. */
  takeDue(): readonly string[] {
    const due = this.changedSubnets.flatMap((subnet) => [...this.#blocked.of(subnet)]);
    this.#revisionsSeen = new Map(Array.from(this.#blocked.subnets, (subnet) => [subnet, this.#revisionOf(subnet)]));
    return due;
  }

  answer(group: Group): Answers {
    const [only, second] = group;
    if (only !== undefined && second === undefined) return [this.#single.reserve(only)];
    const failed = group.map((request): Reservation | undefined => {
      const failures = this.#single.failures(request);
      return failures === undefined ? undefined : failedReservation(request, failures);
    });
    if (failed.some((answer) => answer !== undefined)) return failed;
    const before = new Map(group.flatMap(({ subnets }) => subnets.map((subnet) => [subnet, this.#revisionOf(subnet)])));
    const granted: Reservation[] = [];
    for (const request of group) {
      const answer = this.#single.reserve(request);
      if (answer.kind === 'granted') {
        granted.push(answer);
        continue;
      }
      // Two requests of the group need the last address of one Subnet.
      this.#rollBack(granted, before);
      return group.map((one) => (one === request ? answer : undefined));
    }
    return granted;
  }

  /** The answer of one request of a group was recorded. */
  recorded(claimant: string, subnets: readonly string[], answer: Reservation | undefined): void {
    const isBlocked = answer === undefined || (answer.kind === 'failed' && answer.partlyFree === true);
    this.#blocked.put(claimant, isBlocked ? subnets : []);
  }

  requestEnded(claimant: string): void {
    this.#blocked.remove(claimant);
  }

  subnetRemoved(subnet: string): void {
    this.#triedRevisions.delete(subnet);
  }

  #revisionOf(subnet: string): number {
    return this.#ledger.revision(subnet) + this.#ledger.holdersRevision(subnet) - (this.#triedRevisions.get(subnet) ?? 0);
  }

  #rollBack(granted: readonly Reservation[], before: ReadonlyMap<string, number>): void {
    this.#isRollingBack = true;
    for (const { claimant } of granted)
      if (this.#world.reservations.peek(claimant)?.kind !== 'granted') this.#ledger.release('reservation', claimant);
    this.#isRollingBack = false;
    for (const [subnet, revision] of before)
      this.#triedRevisions.set(subnet, (this.#triedRevisions.get(subnet) ?? 0) + this.#revisionOf(subnet) - revision);
  }
}
