import type { Condition } from '../../api/kubernetes/meta.ts';
import type { KindWords } from '../../explain/kind-words.ts';
import { formatAddress } from '../../net/address.ts';
import { subnetsWithNode } from './table/node-addresses.ts';
import { addressesByIps } from '../ip/words/ips-held.ts';

export const words: KindWords = {
  neverDeleted: true,
  ...addressesByIps('nodes'),
  readiness: ({ status }) => {
    const { conditions } = (status ?? {}) as { readonly conditions?: readonly Condition[] };
    const up = conditions?.some((one) => one.type === 'Ready' && one.status === 'False') !== true;
    return { ready: up, reason: up ? '' : 'NotReady' };
  },
  readyByOthers: true,
  keptBack: (world, name) =>
    [...subnetsWithNode(world, name)].map(
      ([subnet, addresses]) => `${addresses.map(formatAddress).join(', ')} in Subnet ${subnet}, not given to others`,
    ),
};
