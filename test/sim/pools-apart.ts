/**
 * IPPools of one Subnet that have addresses in common: one of them is in effect, the one that was made first. Read from what they say of themselves, by no
 * rule.
 */
import type { IPPool } from '../../src/api/kinds/ip-pool.ts';
import { parseRangeOrCidr } from '../../src/net/range.ts';
import type { AddressRange } from '../../src/net/range.ts';
import type { World } from '../../src/world/world.ts';
import type { Finding } from './judge.ts';
import { isTrue } from './reading.ts';

/** How a pool is told that another has addresses of its own. */
const TAKEN = /has addresses of IPPool ([^\s:;,]+)/g;

export function poolsApart(world: World): readonly Finding[] {
  const pools = [...world.ipPools.entries()].filter(([, { metadata }]) => metadata.deletionTimestamp === undefined);
  const found: Finding[] = [];
  for (const [name, pool] of pools) {
    const say = (what: string): void =>
      void found.push({ kind: `says IPPool ${what.split(' ')[0] ?? ''}`, message: `IPPool ${name}: ${what}` });
    const ready = pool.status?.conditions?.find(({ type }) => type === 'Ready');
    for (const [other, beside] of pools)
      if (name < other && isInEffect(pool) && isInEffect(beside) && meet(pool, beside))
        say(`in effect is it, and so is ${other}, which has addresses of it`);
    if (ready?.status !== 'False') continue;
    for (const [, other = ''] of (ready.message ?? '').matchAll(TAKEN)) {
      const first = world.ipPools.peek(other);
      if (first !== undefined && ageOf(pool) < ageOf(first)) say(`refused for ${other}, which is younger`);
    }
  }
  return found;
}

function isInEffect({ status }: IPPool): boolean {
  return isTrue(status?.conditions, 'Ready');
}

function meet(a: IPPool, b: IPPool): boolean {
  const theirs = rangesOf(b);
  return (
    a.spec.subnet === b.spec.subnet &&
    rangesOf(a).some(({ family, first, last }) => theirs.some((one) => one.family === family && first <= one.last && one.first <= last))
  );
}

function rangesOf({ spec }: IPPool): readonly AddressRange[] {
  return spec.ips.flatMap((item) => parseRangeOrCidr(item) ?? []);
}

/** Of two that were made within one second, the first by name. */
function ageOf({ metadata }: IPPool): string {
  return `${metadata.creationTimestamp} ${metadata.name}`;
}
