import type { KindWords } from '../../explain/kind-words.ts';

export const words: KindWords = {
  counted: ['Subnet', 'Subnets'],
  addresses: (world, name) => [world.subnets.peek(name)?.spec.cidrBlock ?? ''].filter((text) => text !== ''),
  counts: (family) => [`${family}usingIPs`, `${family}availableIPs`],
  runsFull: true,
};
