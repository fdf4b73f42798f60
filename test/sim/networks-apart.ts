/**
 * A router has each network at one port. Read from its ports, whatever Subnets say or ask: two that have addresses in common would give
 * one address to two pods. Networks of Vlans are apart by them.
 */
import { OWNER_KEY } from '../../src/nb/ownership.ts';
import type { Cidr } from '../../src/net/cidr.ts';
import { cidrsOverlap, parseInterfaceAddress } from '../../src/net/cidr.ts';
import { splitList } from '../../src/net/dual.ts';
import type { World } from '../../src/world/world.ts';
import type { Finding } from './judge.ts';
import { best, mapOf, rowsIn, textOf } from './reading.ts';

interface Carried {
  readonly port: string;
  readonly cidr: Cidr;
}

export function networksApart(world: World): readonly Finding[] {
  const found: Finding[] = [];
  for (const vpc of world.vpcs.keys()) {
    const carried = rowsIn(world, best(world, 'Logical_Router', vpc), 'ports').flatMap((port): readonly Carried[] => {
      const subnet = /^subnet\/\/(.+)$/.exec(mapOf(port['external_ids']).get(OWNER_KEY) ?? '')?.[1];
      if (subnet === undefined || (world.subnets.peek(subnet)?.spec.vlan ?? '') !== '') return [];
      const texts = splitList(textOf(port['networks']));
      return texts.flatMap((text) => parseInterfaceAddress(text) ?? []).map(({ cidr }) => ({ port: textOf(port['name']), cidr }));
    });
    for (const [i, one] of carried.entries())
      for (const other of carried.slice(i + 1))
        if (one.port !== other.port && cidrsOverlap(one.cidr, other.cidr)) {
          const [first, second] = [one.port, other.port].toSorted();
          found.push({
            kind: 'I6 networks of one router',
            message: `I6: router port ${first ?? ''} has a network that router port ${second ?? ''} of Vpc ${vpc} has as well`,
          });
        }
  }
  return found;
}
