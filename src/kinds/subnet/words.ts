import { isCutOff } from '../../compile/subnet/validity/underlay.ts';
import type { KindWords } from '../../explain/kind-words.ts';
import { formatAddress } from '../../net/address.ts';
import { nodeAddressesIn } from '../node/table/node-addresses.ts';

const NODES_SHOWN = 10;

export const words: KindWords = {
  counted: ['Subnet', 'Subnets'],
  addresses: (world, name) => [world.subnets.peek(name)?.spec.cidrBlock ?? ''].filter((text) => text !== ''),
  counts: (family) => [`${family}usingIPs`, `${family}availableIPs`],
  keptBack: (world, name) => {
    const all = nodeAddressesIn(world, name).map(({ node, address }) => `${formatAddress(address)} (node ${node})`);
    if (all.length === 0) return [];
    const more = all.length > NODES_SHOWN ? ` and ${all.length - NODES_SHOWN} more` : '';
    return [`of nodes, not given to others: ${all.slice(0, NODES_SHOWN).join(', ')}${more}`];
  },
  // Of one that is cut off none is available, however many are in use.
  runsFull: (world, name) => !world.glance(() => world.ask(isCutOff, name)),
};
