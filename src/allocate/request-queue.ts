/** The requests to answer, oldest first: new ones, and those whose answer may change. */
import type { DesiredAddresses } from '../compile/desired-addresses.ts';
import type { Reservation } from '../world/reservations.ts';
import { ClaimantsBySubnet } from './claimants-by-subnet.ts';
import { oldestFirst } from './oldest-first.ts';
import type { Group } from './request-group.ts';

export class RequestQueue {
  readonly #desired: DesiredAddresses;
  /** All requests, by Subnet. */
  readonly #requestedIn = new ClaimantsBySubnet();
  /** Requests that were answered and not granted, by Subnet. */
  readonly #waiting = new ClaimantsBySubnet();
  /** The groups to answer, oldest first, from `#next` on. */
  #open: readonly Group[] = [];
  #next = 0;
  /** Claimants with a new request that is not answered yet. */
  readonly #newClaimants = new Set<string>();
  /** There are requests that the last `refill` did not know. */
  #hasRequested = false;
  /** Changed Subnets with waiting requests. */
  readonly #changed = new Set<string>();
  /** Claimants in a conflict whose precedence may have changed. */
  readonly #contested = new Set<string>();
  /** Claimants to answer again since the limits of their Subnet changed. */
  readonly #toAnswerAgain = new Set<string>();

  constructor(desired: DesiredAddresses) {
    this.#desired = desired;
  }

  get isEmpty(): boolean {
    return this.#open.length === 0;
  }

  /** Something happened since the last `refill` that may change an answer. */
  get hasNews(): boolean {
    return this.#hasRequested || this.#changed.size + this.#contested.size + this.#toAnswerAgain.size > 0;
  }

  requested(claimant: string, subnets: readonly string[]): void {
    this.#newClaimants.add(claimant);
    this.#hasRequested = true;
    this.#requestedIn.put(claimant, subnets);
  }

  requestEnded(claimant: string): void {
    this.#newClaimants.delete(claimant);
    for (const index of [this.#requestedIn, this.#waiting]) index.remove(claimant);
  }

  /** An address or MAC of the Subnet got or lost a claimant, or the Subnet itself changed: waiting requests are answered again. */
  changed(subnet: string): void {
    if (this.#waiting.isIn(subnet)) this.#changed.add(subnet);
  }

  contested(claimants: Iterable<string>): void {
    for (const claimant of claimants) this.#contested.add(claimant);
  }

  /** Granted requests in this Subnet are answered again, as a new process would answer them. */
  limitsChanged(subnet: string): void {
    for (const claimant of this.#requestedIn.of(subnet)) this.#toAnswerAgain.add(claimant);
  }

  recorded(claimant: string, subnets: readonly string[], answer: Reservation | undefined): void {
    this.#waiting.put(claimant, answer?.kind === 'granted' ? [] : subnets);
  }

  /** Puts everything that is due into one order. */
  refill(): void {
    this.#hasRequested = false;
    const due = new Set(this.#toAnswerAgain);
    this.#toAnswerAgain.clear();
    for (let at = this.#next; at < this.#open.length; at++) for (const { claimant } of this.#open[at] as Group) due.add(claimant);
    for (const claimant of this.#newClaimants) due.add(claimant);
    for (const subnet of this.#changed) for (const claimant of this.#waiting.of(subnet)) due.add(claimant);
    this.#changed.clear();
    for (const claimant of this.#contested) due.add(claimant);
    this.#contested.clear();
    // A change before they are answered does not make them due a second time.
    for (const claimant of due) this.#waiting.remove(claimant);
    this.#open = this.#groups(due);
    this.#next = 0;
  }

  get first(): Group | undefined {
    return this.#open[this.#next];
  }

  /** @returns whether the group, the first one, has a new request */
  shift(group: Group): boolean {
    this.#next++;
    const isNew = group.some(({ claimant }) => this.#newClaimants.has(claimant));
    for (const { claimant } of group) this.#newClaimants.delete(claimant);
    return isNew;
  }

  clear(): void {
    this.#open = [];
    this.#next = 0;
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
}
