/**
 * Refused wishes by each Subnet they could come from.
 */
export class WaitingList {
  readonly #bySubnet = new Map<string, Set<string>>();
  readonly #subnets = new Map<string, readonly string[]>();

  /** The claimant waits for these Subnets, and for no others. */
  put(claimant: string, subnets: readonly string[]): void {
    this.remove(claimant);
    this.#subnets.set(claimant, subnets);
    for (const subnet of subnets) {
      const waiting = this.#bySubnet.get(subnet);
      if (waiting === undefined) this.#bySubnet.set(subnet, new Set([claimant]));
      else waiting.add(claimant);
    }
  }

  remove(claimant: string): void {
    for (const subnet of this.#subnets.get(claimant) ?? []) {
      const waiting = this.#bySubnet.get(subnet);
      waiting?.delete(claimant);
      if (waiting?.size === 0) this.#bySubnet.delete(subnet);
    }
    this.#subnets.delete(claimant);
  }

  of(subnet: string): Iterable<string> {
    return this.#bySubnet.get(subnet) ?? [];
  }
}
