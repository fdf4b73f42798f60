/** What rules request of the allocation step: addresses by claimant, and the pools that they come from. */
import type { AddressRequest } from '../world/reservations.ts';
import type { AddressRequestOutput, PoolOutput } from './output.ts';
import type { DesiredPart } from './outputs.ts';

export class DesiredAddresses implements DesiredPart<AddressRequestOutput | PoolOutput> {
  readonly kinds = ['address-request', 'pool'] as const;
  /** Claimants whose request appeared, changed or went. */
  readonly dueRequests = new Set<string>();
  readonly duePools = new Set<string>();
  readonly #requests = new Map<string, AddressRequest>();
  /** Of claimants with requests of several rules at once, all of these: when one rule withdraws its request, the other's stays. */
  readonly #rivals = new Map<string, readonly AddressRequest[]>();
  readonly #pools = new Map<string, PoolOutput>();

  pool(subnet: string): PoolOutput | undefined {
    return this.#pools.get(subnet);
  }

  request(claimant: string): AddressRequest | undefined {
    return this.#requests.get(claimant);
  }

  get requests(): ReadonlyMap<string, AddressRequest> {
    return this.#requests;
  }

  nameOf(output: AddressRequestOutput | PoolOutput): string {
    return output.kind === 'pool' ? output.subnet : output.request.claimant;
  }

  add(output: AddressRequestOutput | PoolOutput): void {
    if (output.kind === 'pool') {
      this.#pools.set(output.subnet, output);
      this.duePools.add(output.subnet);
      return;
    }
    const { request } = output;
    const first = this.#requests.get(request.claimant);
    if (first === undefined) this.#requests.set(request.claimant, request);
    else this.#choose([...(this.#rivals.get(request.claimant) ?? [first]), request]);
    this.dueRequests.add(request.claimant);
  }

  remove(output: AddressRequestOutput | PoolOutput): void {
    if (output.kind === 'pool') {
      if (this.#pools.get(output.subnet) === output) this.#pools.delete(output.subnet);
      this.duePools.add(output.subnet);
      return;
    }
    const { request } = output;
    const rivals = this.#rivals.get(request.claimant);
    if (rivals === undefined) this.#requests.delete(request.claimant);
    else this.#choose(rivals.filter((one) => one !== request));
    this.dueRequests.add(request.claimant);
  }

  /** One of several requests of a claimant, the same in every process. */
  #choose(requests: readonly AddressRequest[]): void {
    const [first, ...others] = requests;
    if (first === undefined) return;
    const text = (request: AddressRequest): string => JSON.stringify(request);
    this.#requests.set(
      first.claimant,
      others.reduce((one, other) => (text(other) < text(one) ? other : one), first),
    );
    if (others.length === 0) this.#rivals.delete(first.claimant);
    else this.#rivals.set(first.claimant, requests);
  }
}
