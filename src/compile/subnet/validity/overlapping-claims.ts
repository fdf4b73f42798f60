/**
 * Overlapping claims of CIDRs: each claim yields to earlier claims of other owners that do not yield themselves. The search goes block by
 * block, not pair by pair, since thousands of Subnets may request one network.
 */
import { bitsOf } from '../../../net/address.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { cidrContains } from '../../../net/cidr.ts';

export interface Claim {
  readonly owner: string;
  /**
   * - `node`: an address of a node; `inEffect`: a network in effect, whatever the spec requests. Neither yields;
   * - `requested`: a network in a spec;
   * - `impossible`: a network in a spec that is invalid for another reason: its overlap is reported, and no claim yields to it.
   */
  readonly kind: 'node' | 'inEffect' | 'requested' | 'impossible';
  readonly cidr: Cidr;
  /** The networks that it is in: claims without one in common do not overlap. */
  readonly networks: readonly string[];
  /** Claims in ascending order of rank. */
  readonly rank: string;
}

/** The claims that yield, each with the first claim that it yields to. Cost: `n log n` in the number of claims. */
export function yieldingClaims(claims: readonly Claim[]): ReadonlyMap<Claim, Claim> {
  const found = new Map<Claim, Claim>();
  for (const family of [4, 6] as const) {
    const uncontested = new UncontestedClaims();
    for (const claim of withNeighbours(claims.filter(({ cidr }) => cidr.family === family)).toSorted(byRank)) {
      const first = claim.kind === 'node' || claim.kind === 'inEffect' ? undefined : uncontested.firstWith(claim);
      if (first !== undefined) found.set(claim, first);
      else if (claim.kind !== 'impossible') uncontested.add(claim);
    }
  }
  return found;
}

/** Claims that do not yield, in order. For each block the first two of different owners: a claim does not yield to its own owner. */
class UncontestedClaims {
  /** By block: the first claims of the block or of a part of it. */
  readonly #within = new Map<string, Claim[]>();
  /** By block: the first claims of exactly this block. */
  readonly #of = new Map<string, Claim[]>();

  add(claim: Claim): void {
    for (const network of claim.networks) {
      for (let prefix = 0; prefix <= claim.cidr.prefix; prefix++) append(this.#within, blockAround(claim, prefix, network), claim);
      append(this.#of, blockAround(claim, claim.cidr.prefix, network), claim);
    }
  }

  /** The first claim of another owner that overlaps. */
  firstWith(claim: Claim): Claim | undefined {
    let first: Claim | undefined;
    const note = (found: Claim | undefined): void => {
      if (found !== undefined && (first === undefined || byRank(found, first) < 0)) first = found;
    };
    for (const network of claim.networks) {
      note(ofAnother(this.#within.get(blockAround(claim, claim.cidr.prefix, network)), claim));
      for (let prefix = 0; prefix < claim.cidr.prefix; prefix++) note(ofAnother(this.#of.get(blockAround(claim, prefix, network)), claim));
    }
    return first;
  }
}

function append(map: Map<string, Claim[]>, key: string, claim: Claim): void {
  const held = map.get(key);
  if (held === undefined) map.set(key, [claim]);
  else if (held.length === 1 && held[0]?.owner !== claim.owner) held.push(claim);
}

function ofAnother(held: readonly Claim[] | undefined, { owner }: Claim): Claim | undefined {
  return held?.find((one) => one.owner !== owner);
}

function blockAround({ cidr }: Claim, prefix: number, network: string): string {
  return `${prefix} ${cidr.base >> BigInt(bitsOf(cidr.family) - prefix)} ${network}`;
}

/** The claims of one family that overlap another one: few, as a rule. */
function withNeighbours(claims: readonly Claim[]): readonly Claim[] {
  const found = new Set<Claim>();
  let around: Claim | undefined;
  for (const claim of claims.toSorted(byBlock)) {
    // Two blocks overlap only if one covers the other, so comparing with the outermost is enough.
    if (around !== undefined && cidrContains(around.cidr, { family: claim.cidr.family, value: claim.cidr.base }))
      found.add(around).add(claim);
    else around = claim;
  }
  return [...found];
}

function byBlock(a: Claim, b: Claim): number {
  if (a.cidr.base !== b.cidr.base) return a.cidr.base < b.cidr.base ? -1 : 1;
  return a.cidr.prefix - b.cidr.prefix;
}

function byRank(a: Claim, b: Claim): number {
  return a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0;
}
