/**
 * An index of claimants by Subnet. A claimant may be in several Subnets.
 */
export class ClaimantsBySubnet {
  readonly #bySubnet = new Map<string, Set<string>>();
  readonly #subnets = new Map<string, readonly string[]>();

  /** Sets the Subnets of a claimant. */
  put(claimant: string, subnets: readonly string[]): void {
    this.remove(claimant);
    if (subnets.length === 0) return;
    this.#subnets.set(claimant, subnets);
    for (const subnet of subnets) {
      const among = this.#bySubnet.get(subnet);
      if (among === undefined) this.#bySubnet.set(subnet, new Set([claimant]));
      else among.add(claimant);
    }
  }

  remove(claimant: string): void {
    for (const subnet of this.#subnets.get(claimant) ?? []) {
      const among = this.#bySubnet.get(subnet);
      among?.delete(claimant);
      if (among?.size === 0) this.#bySubnet.delete(subnet);
    }
    this.#subnets.delete(claimant);
  }

  of(subnet: string): Iterable<string> {
    return this.#bySubnet.get(subnet) ?? [];
  }

  /** Whether there are claimants in the Subnet. */
  isIn(subnet: string): boolean {
    return this.#bySubnet.has(subnet);
  }
}
