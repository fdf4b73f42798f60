/**
 * Answers the rules' address requests with reservations, between rounds of compile. Only this class allocates addresses.
 *
 * Guarantees:
 * - An answer depends on the present World and the present requests alone: a process that starts now answers the same.
 * - A claimant that holds addresses is answered with these. Requests are answered oldest first.
 * - The requests of a group (all interfaces of a new pod) are granted together or not at all, in one step.
 * - Each request has exactly one answer in `world.reservations`, granted or failed; none where it could be granted but a request of its
 *   group failed. An answer that does not change is not written again, so no rule runs for it.
 * - A failed request is answered again when an address of its Subnets becomes free, a Subnet or pool changes, or precedence in a conflict
 *   changes. Nothing is retried by time.
 *
 * Costs: `run` is O(changed requests + requests that wait in Subnets with a freed address); of waiting requests of one kind, only the first
 * is tried if it fails. `enough` bounds the time of one call; the next call goes on.
 */
import type { Reason } from '../api/reasons.ts';
import type { Desired } from '../compile/desired.ts';
import { poolFields } from '../compile/subnet/subnet-pool.ts';
import { Ledger } from '../ipam/ledger.ts';
import type { Allocation, AllocationRequest } from '../ipam/allocation.ts';
import type { Holder } from '../ipam/holder.ts';
import { parseSubnetFields, hasSameLimits } from '../ipam/subnet-spec.ts';
import { formatAddress } from '../net/address.ts';
import type { AddressRequest, Reservation } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import { ClaimantsBySubnet } from './claimants-by-subnet.ts';
import { Holders } from './holders.ts';
import { oldestFirst } from './oldest-first.ts';
import { ExpectedReservations } from './expected-reservations.ts';
import { nodesOnly, failedReservation, failureText, unreadableAddress } from './allocation-failure.ts';
import type { Failure } from './allocation-failure.ts';
import { UsagePublisher } from './usage-publisher.ts';
import type { AllocationTarget } from './ledger-request.ts';
import { choices, derivedMac, isStatic, kindOf, ledgerRequest, without } from './ledger-request.ts';

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
  readonly #desired: Desired;
  /** All requests, by Subnet. */
  readonly #requestedIn = new ClaimantsBySubnet();
  /** Failed requests, by Subnet. */
  readonly #waiting = new ClaimantsBySubnet();
  /** Requests that could be granted while one of their group failed, and failed requests of which a part is free. */
  readonly #blockedByGroup = new ClaimantsBySubnet();
  readonly #holders: Holders;
  /** Subnets in which an address or MAC became free. */
  readonly #freed = new Set<string>();
  /** The groups to answer, oldest first, from `#next` on. */
  #open: readonly Group[] = [];
  #next = 0;
  /** Claimants with a new request that is not answered yet. */
  readonly #asked = new Set<string>();
  /** Failures of this run by kind of request: a waiting request of the same kind gets the same answer without a trial. */
  readonly #knownFailures = new Map<string, Answers>();
  /** Claimants in a conflict whose precedence may have changed. */
  readonly #contested = new Set<string>();
  /** Claimants to answer again since their Subnet changed. */
  readonly #toAnswerAgain = new Set<string>();
  /** Revisions of the Subnets in `#blockedByGroup` when their requests were last answered. */
  #revisionsSeen: ReadonlyMap<string, number> = new Map();
  /** By Subnet: how much of its revision comes from allocations that were rolled back. */
  readonly #triedRevisions = new Map<string, number>();
  /** During a rollback: a release frees nothing that other requests could use. */
  #rollingBack = false;
  readonly #expected: ExpectedReservations;

  constructor(world: World, desired: Desired) {
    this.#world = world;
    this.#desired = desired;
    this.ledger = new Ledger({
      onFreed: ({ subnet }) => this.#noteFreed(subnet),
      onVacated: (subnet) => this.#noteFreed(subnet),
      onContested: (claimants) => {
        for (const claimant of claimants) this.#contested.add(claimant);
      },
    });
    this.#holders = new Holders(world, this.ledger);
    this.#expected = new ExpectedReservations(world.reservations);
    this.usage = new UsagePublisher(world, this.ledger);
  }

  /** Whether there is nothing to answer. */
  get quiet(): boolean {
    return this.#open.length === 0 && !this.#holders.due && this.#nothingNew;
  }

  get #nothingNew(): boolean {
    const { dirtyPools, dirtyRequests } = this.#desired;
    const news = dirtyPools.size + dirtyRequests.size + this.#freed.size + this.#contested.size + this.#toAnswerAgain.size;
    return news === 0 && this.#changedSubnets().length === 0;
  }

  /**
   * While lists are read: records the holders known so far. @returns false if `enough()` interrupted it
   */
  prepare(enough: () => boolean): boolean {
    return this.#expected.state !== 'collecting' || this.#holders.settle(enough, this.#expected.expect);
  }

  /** Before the first run of rules. @returns false if `enough()` interrupted it; call it again */
  expectReservations(enough: () => boolean = () => false): boolean {
    if (!this.prepare(enough)) return false;
    if (this.#expected.state === 'collecting') this.#expected.complete();
    return true;
  }

  /** Answers what changed since the last call. @param enough says when to stop; the next call continues */
  run(enough: () => boolean = () => false): void {
    if (!this.#holders.settle(enough)) return;
    if ((this.#expected.state === 'ready' || !this.#nothingNew) && !this.#gather(enough)) return;
    for (let group = this.#open[this.#next]; group !== undefined; group = this.#open[this.#next]) {
      if (enough()) return;
      this.#next++;
      // If a waiting request failed, the next one of the same kind fails too: a freed address does not cost a trial of each.
      const again = group.every((request) => !this.#asked.has(request.claimant) && !isStatic(request));
      for (const { claimant } of group) this.#asked.delete(claimant);
      const kind = again ? group.map(kindOf).join('; ') : undefined;
      const known = kind === undefined ? undefined : this.#knownFailures.get(kind);
      if (known !== undefined && !group.some((request) => this.#holdsSome(request))) {
        const same = known.map((answer, i) => answer && { ...answer, claimant: group[i]?.claimant ?? '' });
        if (!group.every(({ claimant }, i) => sameReservation(this.#world.reservations.peek(claimant), same[i]))) this.#record(group, same);
        continue;
      }
      const answers = this.#answer(group);
      this.#record(group, answers);
      if (kind !== undefined && answers.some((answer) => answer?.kind !== 'granted')) this.#knownFailures.set(kind, answers);
    }
    this.#answerNext([]);
  }

  /**
   * Adds new requests to the queue in their order.
   * @returns false if `enough()` interrupted it: no request is answered before all are known
   */
  #gather(enough: () => boolean): boolean {
    for (const claimant of this.#desired.dirtyRequests) {
      if (enough()) return false;
      this.#desired.dirtyRequests.delete(claimant);
      const request = this.#desired.request(claimant);
      if (request === undefined) {
        this.#drop(claimant);
        this.#asked.delete(claimant);
      } else {
        this.#asked.add(claimant);
        this.#expected.requested(claimant);
        this.#requestedIn.put(claimant, request.subnets);
      }
    }
    if (this.#expected.state !== 'ended') this.#expected.removeUnrequested();
    // At a start, pools and the order of all requests take a tenth of a second each with 50,000 requests: each has its own turn.
    if (this.#desired.dirtyPools.size > 0) {
      this.#takePools();
      if (enough()) return false;
    }
    const due = new Set(this.#toAnswerAgain);
    this.#toAnswerAgain.clear();
    for (let at = this.#next; at < this.#open.length; at++) for (const { claimant } of this.#open[at] as Group) due.add(claimant);
    for (const claimant of this.#asked) due.add(claimant);
    for (const subnet of this.#freed) for (const claimant of this.#waiting.of(subnet)) due.add(claimant);
    this.#freed.clear();
    for (const claimant of this.#contested) due.add(claimant);
    this.#contested.clear();
    for (const subnet of this.#changedSubnets()) for (const claimant of this.#blockedByGroup.of(subnet)) due.add(claimant);
    this.#revisionsSeen = new Map(Array.from(this.#blockedByGroup.subnets, (subnet) => [subnet, this.#revisionOf(subnet)]));
    this.#answerNext(this.#groups(due));
    return true;
  }

  #answerNext(groups: readonly Group[]): void {
    this.#open = groups;
    this.#next = 0;
    this.#knownFailures.clear();
  }

  /** Passes changed pools to the ledger and collects the claimants whose answer may change. */
  #takePools(): void {
    for (const name of this.#desired.dirtyPools) {
      const pool = this.#desired.pool(name);
      this.usage.mark(name);
      const before = this.ledger.spec(name);
      if (pool === undefined) {
        this.ledger.removeSubnet(name);
        this.#triedRevisions.delete(name);
      } else {
        const parsed = parseSubnetFields(poolFields(pool));
        if (!parsed.ok)
          throw new Error(`rules gave Subnet ${name} a pool that cannot be read: ${parsed.field} "${parsed.value}" ${parsed.problem}`);
        this.ledger.upsertSubnet(name, parsed.spec);
        this.#freed.add(name);
      }
      // Granted requests are answered again, as a new process would answer them.
      const after = this.ledger.spec(name);
      if (before !== undefined && (after === undefined || !hasSameLimits(before, after)))
        for (const claimant of this.#requestedIn.of(name)) this.#toAnswerAgain.add(claimant);
    }
    this.#desired.dirtyPools.clear();
  }

  /** The groups of these claimants, each once, oldest first. */
  #groups(due: ReadonlySet<string>): readonly Group[] {
    const groups: Group[] = [];
    const seen = new Set<string>();
    for (const claimant of due) {
      const request = this.#desired.request(claimant);
      if (request === undefined || seen.has(claimant)) continue;
      const group = request.together === undefined ? [request] : request.together.flatMap((one) => this.#desired.request(one) ?? []);
      if (group.length > 1) for (const one of group) seen.add(one.claimant);
      groups.push(group);
    }
    return oldestFirst(groups);
  }

  /** Subnets that changed since the requests in `#blockedByGroup` were answered. */
  #changedSubnets(): readonly string[] {
    return [...this.#blockedByGroup.subnets].filter((subnet) => this.#revisionsSeen.get(subnet) !== this.#revisionOf(subnet));
  }

  #revisionOf(subnet: string): number {
    return this.ledger.revision(subnet) + this.ledger.holdersRevision(subnet) - (this.#triedRevisions.get(subnet) ?? 0);
  }

  #drop(claimant: string): void {
    this.ledger.release('reservation', claimant);
    this.#world.reservations.delete(claimant);
    for (const index of [this.#requestedIn, this.#waiting, this.#blockedByGroup]) index.remove(claimant);
  }

  #noteFreed(subnet: string): void {
    if (!this.#rollingBack) this.#freed.add(subnet);
    this.usage.mark(subnet);
  }

  #holdsSome(request: AddressRequest): boolean {
    return request.subnets.some((subnet) => this.ledger.has(subnet, request.claimant));
  }

  #answer(group: Group): Answers {
    const [only, second] = group;
    if (only !== undefined && second === undefined) return [this.#reserve(only)];
    const refused = group.map((request): Reservation | undefined => {
      const failures = this.#failures(request);
      return failures === undefined ? undefined : failedReservation(request, failures);
    });
    if (refused.some((answer) => answer !== undefined)) return refused;
    const before = new Map(group.flatMap(({ subnets }) => subnets.map((subnet) => [subnet, this.#revisionOf(subnet)])));
    const given: Reservation[] = [];
    for (const request of group) {
      const answer = this.#reserve(request);
      if (answer.kind === 'granted') {
        given.push(answer);
        continue;
      }
      // Two requests of the group need the last address of one Subnet.
      this.#rollBack(given, before);
      return group.map((one) => (one === request ? answer : undefined));
    }
    return given;
  }

  /** Rolls back the reservations of a group that failed. */
  #rollBack(given: readonly Reservation[], before: ReadonlyMap<string, number>): void {
    this.#rollingBack = true;
    for (const { claimant } of given)
      if (this.#world.reservations.peek(claimant)?.kind !== 'granted') this.ledger.release('reservation', claimant);
    this.#rollingBack = false;
    for (const [subnet, mark] of before)
      this.#triedRevisions.set(subnet, (this.#triedRevisions.get(subnet) ?? 0) + this.#revisionOf(subnet) - mark);
  }

  #record(group: Group, answers: Answers): void {
    for (const [i, { claimant, subnets }] of group.entries()) {
      const answer = answers[i];
      const { reservations } = this.#world;
      this.#waiting.put(claimant, answer?.kind === 'failed' ? subnets : []);
      this.#blockedByGroup.put(claimant, answer === undefined || (answer.kind === 'failed' && answer.partlyFree === true) ? subnets : []);
      if (answer?.kind === 'granted') {
        this.ledger.releaseElsewhere('reservation', claimant, answer.subnet);
        this.usage.mark(answer.subnet);
      } else this.ledger.release('reservation', claimant);
      if (answer === undefined) reservations.delete(claimant);
      else if (!sameReservation(reservations.peek(claimant), answer)) reservations.set(claimant, answer);
    }
  }

  /**
   * The failure with which a request for addresses by name would be answered now; undefined if it would be granted, and for a request for any
   * address. Allocates nothing.
   */
  check(request: AddressRequest): RequestFailure | undefined {
    if (!isStatic(request)) return undefined;
    this.#holders.settle();
    const failures = this.#failures(request);
    const [first] = failures ?? [];
    if (failures === undefined || first === undefined) return undefined;
    return { code: first.code, message: failureText(failures), holders: failures.flatMap(({ holders }) => holders) };
  }

  /** All failures of a request, in the order of its targets; undefined if it would be granted. Allocates nothing. */
  #failures(request: AddressRequest): readonly Failure[] | undefined {
    const failures: Failure[] = [];
    for (const target of this.#targets(request)) {
      for (const asked of choices(request)) {
        const failure =
          nodesOnly(this.#world.settings.joinSubnet, target, request) ??
          (typeof asked === 'string' ? unreadableAddress(asked) : this.ledger.check(target.subnet, ledgerRequest(target, request, asked)));
        if (failure === undefined) return undefined;
        failures.push(failure);
      }
    }
    return failures;
  }

  #reserve(request: AddressRequest): Reservation {
    const failures: Failure[] = [];
    for (const target of this.#targets(request)) {
      const { subnet } = target;
      for (const asked of choices(request)) {
        const given =
          nodesOnly(this.#world.settings.joinSubnet, target, request) ??
          (typeof asked === 'string' ? unreadableAddress(asked) : this.#allocate(subnet, request, ledgerRequest(target, request, asked)));
        if (given.ok) {
          return {
            kind: 'granted',
            claimant: request.claimant,
            subnet,
            v4: given.v4 === undefined ? '' : formatAddress(given.v4),
            v6: given.v6 === undefined ? '' : formatAddress(given.v6),
            mac: given.mac ?? '',
          };
        }
        failures.push(given);
      }
    }
    return failedReservation(request, failures);
  }

  /** Allocates exactly what is requested. A request that yields gets another address or MAC for each that a claimant with precedence has. */
  #allocate(subnet: string, request: AddressRequest, asked: AllocationRequest): Allocation {
    let given = this.ledger.allocate(subnet, asked);
    let instead = asked;
    for (let attempt = 1; attempt <= 4 && request.yields === true && !given.ok && given.code === 'AddressConflict'; attempt++) {
      instead = without(instead, given.subject, derivedMac(request.claimant, attempt));
      given = this.ledger.allocate(subnet, instead);
    }
    return given;
  }

  /** Targets of a request, in order. A Subnet in which the claimant holds an address comes first. */
  #targets(request: AddressRequest): readonly AllocationTarget[] {
    const { subnets, pools } = request;
    const holds = subnets.map((subnet) => this.ledger.has(subnet, request.claimant));
    const held = subnets.filter((_, i) => holds[i]).map((subnet): AllocationTarget => ({ subnet, ...(pools !== undefined && { pools }) }));
    if (pools === undefined) return [...held, ...subnets.filter((_, i) => !holds[i]).map((subnet) => ({ subnet }))];
    const inOrder: { readonly subnet: string; readonly pools: string[] }[] = [];
    for (const pool of pools) {
      const subnet = subnets.find((one) => this.#desired.pool(one)?.named.some(({ name }) => name === pool) === true);
      const last = inOrder.at(-1);
      if (subnet === undefined) continue;
      if (last?.subnet === subnet) last.pools.push(pool);
      else inOrder.push({ subnet, pools: [pool] });
    }
    // None of the pools is in effect: the ledger's failure names them.
    return inOrder.length > 0 ? [...held, ...inOrder] : subnets.map((subnet) => ({ subnet, pools }));
  }
}

/** Requests that are granted together or not at all; mostly one. */
type Group = readonly AddressRequest[];

/** One answer for each request of a group; undefined for a request that could be granted while another one failed. */
type Answers = readonly (Reservation | undefined)[];

function sameReservation(a: Reservation | undefined, b: Reservation | undefined): boolean {
  if (a === undefined || b === undefined) return a === b;
  if (a.kind === 'granted' && b.kind === 'granted') return a.subnet === b.subnet && a.v4 === b.v4 && a.v6 === b.v6 && a.mac === b.mac;
  return a.kind === 'failed' && b.kind === 'failed' && a.code === b.code && a.message === b.message && a.partlyFree === b.partlyFree;
}
