/** What rules request of the allocation step: addresses by claimant, and the pools that they come from. */
import type { AddressRequest } from '../world/reservations.ts';
import { KeyedOutputs } from '../engine/keyed-outputs.ts';
import type { AddressRequestOutput, PoolOutput } from './output.ts';
import type { DesiredPart } from '../engine/outputs.ts';

export class DesiredAddresses implements DesiredPart<AddressRequestOutput | PoolOutput> {
  readonly kinds = ['address-request', 'pool'] as const;
  readonly #requests = new KeyedOutputs<AddressRequestOutput>(['address-request'], ({ request }) => request.claimant);
  readonly #pools = new KeyedOutputs<PoolOutput>(['pool'], ({ subnet }) => subnet);

  /** Claimants whose request appeared, changed or went. */
  get dueRequests(): Set<string> {
    return this.#requests.due;
  }

  get duePools(): Set<string> {
    return this.#pools.due;
  }

  /** Of several rules' pools of a Subnet the same one in every process; so with requests of a claimant. */
  pool(subnet: string): PoolOutput | undefined {
    return this.#pools.of(subnet)[0];
  }

  request(claimant: string): AddressRequest | undefined {
    return this.#requests.of(claimant)[0]?.request;
  }

  /** Claimants with a request. */
  get claimants(): IterableIterator<string> {
    return this.#requests.ids;
  }

  nameOf(output: AddressRequestOutput | PoolOutput): string {
    return output.kind === 'pool' ? output.subnet : output.request.claimant;
  }

  add(output: AddressRequestOutput | PoolOutput): void {
    if (output.kind === 'pool') this.#pools.add(output);
    else this.#requests.add(output);
  }

  remove(output: AddressRequestOutput | PoolOutput): void {
    if (output.kind === 'pool') this.#pools.remove(output);
    else this.#requests.remove(output);
  }
}
