/**
 * Who claims addresses that another one has: each claim gives way to those of others before it that have not given way themselves. Found block by
 * block, not pair by pair, since thousands of Subnets may be given one network.
 */
import { bitsOf } from '../../../net/address.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { cidrContains } from '../../../net/cidr.ts';

export interface Claim {
  readonly holder: string;
  /**
   * - `node`: an address of a node; `kept`: a network that is in effect whatever is asked for. They give way to nobody;
   * - `asked`: it is to be;
   * - `vain`: it is asked for and cannot be: told what it overlaps, and in nobody's way.
   */
  readonly kind: 'node' | 'kept' | 'asked' | 'vain';
  readonly cidr: Cidr;
  /** Claims of different ones are in nobody's way. */
  readonly vlan: string;
  /** The least goes first. */
  readonly rank: string;
}

/** By claim that gives way: the first of those it gives way to. */
export function givingWay(claims: readonly Claim[]): ReadonlyMap<Claim, Claim> {
  const found = new Map<Claim, Claim>();
  for (const family of [4, 6] as const) {
    const standing = new Standing();
    for (const claim of withNeighbours(claims.filter(({ cidr }) => cidr.family === family)).toSorted(byRank)) {
      const first = claim.kind === 'node' || claim.kind === 'kept' ? undefined : standing.firstWith(claim);
      if (first !== undefined) found.set(claim, first);
      else if (claim.kind !== 'vain') standing.add(claim);
    }
  }
  return found;
}

/** Claims that have their addresses, each later than those before it. Of each block the first two of different holders: nobody is in their own way. */
class Standing {
  /** By block: the first that are in it, or have it. */
  readonly #within = new Map<string, Claim[]>();
  /** By block: the first that have exactly that. */
  readonly #of = new Map<string, Claim[]>();

  add(claim: Claim): void {
    for (let prefix = 0; prefix <= claim.cidr.prefix; prefix++) append(this.#within, blockAround(claim, prefix), claim);
    append(this.#of, blockAround(claim, claim.cidr.prefix), claim);
  }

  /** The first of another holder that has an address of this one. */
  firstWith(claim: Claim): Claim | undefined {
    let first = ofAnother(this.#within.get(blockAround(claim, claim.cidr.prefix)), claim);
    for (let prefix = 0; prefix < claim.cidr.prefix; prefix++) {
      const around = ofAnother(this.#of.get(blockAround(claim, prefix)), claim);
      if (around !== undefined && (first === undefined || byRank(around, first) < 0)) first = around;
    }
    return first;
  }
}

function append(map: Map<string, Claim[]>, key: string, claim: Claim): void {
  const held = map.get(key);
  if (held === undefined) map.set(key, [claim]);
  else if (held.length === 1 && held[0]?.holder !== claim.holder) held.push(claim);
}

function ofAnother(held: readonly Claim[] | undefined, { holder }: Claim): Claim | undefined {
  return held?.find((one) => one.holder !== holder);
}

function blockAround({ cidr, vlan }: Claim, prefix: number): string {
  return `${prefix} ${cidr.base >> BigInt(bitsOf(cidr.family) - prefix)} ${vlan}`;
}

/** Those of one family that have addresses with another in common: few, as a rule. */
function withNeighbours(claims: readonly Claim[]): readonly Claim[] {
  const found = new Set<Claim>();
  let around: Claim | undefined;
  for (const claim of claims.toSorted(byPlace)) {
    // Two blocks overlap only where one covers the other, so the outermost tells of all that are in it.
    if (around !== undefined && cidrContains(around.cidr, { family: claim.cidr.family, value: claim.cidr.base }))
      found.add(around).add(claim);
    else around = claim;
  }
  return [...found];
}

function byPlace(a: Claim, b: Claim): number {
  if (a.cidr.base !== b.cidr.base) return a.cidr.base < b.cidr.base ? -1 : 1;
  return a.cidr.prefix - b.cidr.prefix;
}

function byRank(a: Claim, b: Claim): number {
  return a.rank < b.rank ? -1 : a.rank > b.rank ? 1 : 0;
}
