/**
 * Answers the rules' address requests with reservations, between rounds of compile. No other folder allocates addresses.
 *
 * Guarantees:
 * - An answer depends on the present World and the present requests alone: a process that starts now answers the same.
 * - A claimant that holds addresses is answered with these. Requests are answered oldest first.
 * - The requests of a group (all interfaces of a new pod) are granted together or not at all, in one step.
 * - Each request has exactly one answer in `world.reservations`, granted or failed; none where it could be granted but a request of its
 *   group failed. An answer that does not change is not written again, so no rule runs for it.
 * - A request that is not granted is answered again when one of its Subnets changes: an address or MAC gets or loses a claimant, or its
 *   spec or pools change; a granted one when precedence in a conflict or the limits of its Subnet change. Nothing is retried by time.
 *
 * Costs: `run` is O(changed requests + requests that wait in changed Subnets); of waiting requests of one kind, only the first is tried if
 * it fails. `enough` bounds the time of one call; the next call continues.
 */
import type { Reason } from '../api/reasons.ts';
import type { DesiredAddresses } from '../compile/desired-addresses.ts';
import { poolFields } from '../compile/pool-fields.ts';
import type { Holder } from '../ipam/holder.ts';
import { Ledger } from '../ipam/ledger.ts';
import { hasSameLimits, parseSubnetFields } from '../ipam/subnet-spec.ts';
import type { AddressRequest } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import { failureText } from './allocation-failure.ts';
import { ExpectedReservations } from './expected-reservations.ts';
import { Holders } from './holders.ts';
import { JointAnswers } from './joint-answers.ts';
import { isStatic, kindOf } from './ledger-request.ts';
import type { Answers, Group } from './request-group.ts';
import { sameReservation } from './request-group.ts';
import { RequestQueue } from './request-queue.ts';
import { SingleAnswer } from './single-answer.ts';
import { UsagePublisher } from './usage-publisher.ts';

/** Why a request fails. */
export interface RequestFailure {
  readonly code: Reason;
  readonly message: string;
  /** The holders of the requested address. */
  readonly holders: readonly Holder[];
}

export class AllocationStep {
  readonly ledger: Ledger;
  readonly usage: UsagePublisher;
  readonly #world: World;
  readonly #desired: DesiredAddresses;
  readonly #holders: Holders;
  readonly #queue: RequestQueue;
  readonly #single: SingleAnswer;
  readonly #joint: JointAnswers;
  /** Failures of this run by kind of request: a waiting request of the same kind gets the same answer without a trial. */
  readonly #knownFailures = new Map<string, Answers>();
  readonly #expected: ExpectedReservations;

  constructor(world: World, desired: DesiredAddresses) {
    this.#world = world;
    this.#desired = desired;
    this.ledger = new Ledger({
      onChanged: (subnet) => {
        if (!this.#joint.isTrying) this.#queue.changed(subnet);
      },
      onContested: (claimants) => this.#queue.contested(claimants),
    });
    this.#queue = new RequestQueue(desired);
    this.#single = new SingleAnswer(world, desired, this.ledger);
    this.#joint = new JointAnswers(world, this.ledger, this.#single);
    this.#holders = new Holders(world, this.ledger);
    this.#expected = new ExpectedReservations(world.reservations);
    this.usage = new UsagePublisher(world, this.ledger);
  }

  /** Whether there is nothing to answer. */
  get quiet(): boolean {
    return this.#queue.isEmpty && !this.#holders.due && this.#nothingNew;
  }

  get #nothingNew(): boolean {
    const { duePools, dueRequests } = this.#desired;
    return duePools.size + dueRequests.size === 0 && !this.#queue.hasNews;
  }

  /**
   * While lists are read: records the holders known so far. @returns false if `enough()` interrupted it
   */
  prepare(enough: () => boolean): boolean {
    return this.#expected.state !== 'collecting' || this.#holders.recordChanges(enough, this.#expected.expect);
  }

  /** Before the first run of rules. @returns false if `enough()` interrupted it; call it again */
  expectReservations(enough: () => boolean = () => false): boolean {
    if (!this.prepare(enough)) return false;
    if (this.#expected.state === 'collecting') this.#expected.complete();
    return true;
  }

  /** Answers what changed since the last call. @param enough returns true to interrupt; the next call continues */
  run(enough: () => boolean = () => false): void {
    if (!this.#holders.recordChanges(enough)) return;
    if ((this.#expected.state === 'ready' || !this.#nothingNew) && !this.#gather(enough)) return;
    for (let group = this.#queue.first; group !== undefined; group = this.#queue.first) {
      if (enough()) return;
      this.#answer(group);
    }
    this.#queue.clear();
    this.#knownFailures.clear();
  }

  #answer(group: Group): void {
    const isNew = this.#queue.shift(group);
    // If a waiting request failed, the next one of the same kind fails too: a change does not cost a trial of each.
    const kind = isNew || group.some(isStatic) ? undefined : group.map(kindOf).join('; ');
    const known = kind === undefined ? undefined : this.#knownFailures.get(kind);
    if (known !== undefined && !group.some((request) => this.#single.holdsSome(request))) {
      const same = known.map((answer, i) => answer && { ...answer, claimant: group[i]?.claimant ?? '' });
      this.#record(group, same);
      return;
    }
    const answers = this.#joint.answer(group);
    this.#record(group, answers);
    if (kind !== undefined && answers.some((answer) => answer?.kind !== 'granted')) this.#knownFailures.set(kind, answers);
  }

  /**
   * Adds new requests to the queue in their order.
   * @returns false if `enough()` interrupted it: no request is answered before all are known
   */
  #gather(enough: () => boolean): boolean {
    for (const claimant of this.#desired.dueRequests) {
      if (enough()) return false;
      this.#desired.dueRequests.delete(claimant);
      const request = this.#desired.request(claimant);
      if (request === undefined) this.#drop(claimant);
      else {
        this.#queue.requested(claimant, request.subnets);
        this.#expected.requested(claimant);
      }
    }
    if (this.#expected.state !== 'ended') this.#expected.removeUnrequested();
    // At a start, pools and the order of all requests take a tenth of a second each with 50,000 requests: each has its own turn.
    if (this.#desired.duePools.size > 0) {
      this.#takePools();
      if (enough()) return false;
    }
    this.#queue.refill();
    this.#knownFailures.clear();
    return true;
  }

  /** Passes changed pools to the ledger and collects the claimants whose answer may change. */
  #takePools(): void {
    for (const name of this.#desired.duePools) {
      const pool = this.#desired.pool(name);
      const before = this.ledger.spec(name);
      if (pool === undefined) this.ledger.removeSubnet(name);
      else {
        const parsed = parseSubnetFields(poolFields(pool));
        if (!parsed.ok)
          throw new Error(`rules gave Subnet ${name} a pool that cannot be read: ${parsed.field} "${parsed.value}" ${parsed.problem}`);
        this.ledger.upsertSubnet(name, parsed.spec);
      }
      const after = this.ledger.spec(name);
      if (before !== undefined && (after === undefined || !hasSameLimits(before, after))) this.#queue.limitsChanged(name);
    }
    this.#desired.duePools.clear();
  }

  #drop(claimant: string): void {
    this.ledger.release('reservation', claimant);
    this.#world.reservations.delete(claimant);
    this.#queue.requestEnded(claimant);
  }

  #record(group: Group, answers: Answers): void {
    const { reservations } = this.#world;
    // First all of the group: what one of them releases may be what another one waits for.
    for (const [i, { claimant, subnets }] of group.entries()) this.#queue.recorded(claimant, subnets, answers[i]);
    for (const [i, { claimant }] of group.entries()) {
      const answer = answers[i];
      if (answer?.kind === 'granted') this.ledger.releaseElsewhere('reservation', claimant, answer.subnet);
      else this.ledger.release('reservation', claimant);
      if (sameReservation(reservations.peek(claimant), answer)) continue;
      if (answer === undefined) reservations.delete(claimant);
      else reservations.set(claimant, answer);
      if (answer?.kind === 'granted') this.#queue.changed(answer.subnet);
    }
  }

  /**
   * The failure with which a request for addresses by name would be answered now; undefined if it would be granted, and for a request for
   * any address. Allocates nothing.
   */
  check(request: AddressRequest): RequestFailure | undefined {
    if (!isStatic(request)) return undefined;
    this.#holders.recordChanges();
    const failures = this.#single.failures(request);
    const [first] = failures ?? [];
    if (failures === undefined || first === undefined) return undefined;
    return { code: first.code, message: failureText(failures), holders: failures.flatMap(({ holders }) => holders) };
  }
}
