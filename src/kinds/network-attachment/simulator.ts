import type { DrawnKind } from '../../testing/drawn-kind.ts';
import { NAMES } from '../../testing/drawn-kind.ts';

const OVN = '{"cniVersion":"0.3.0","type":"kube-ovn"}';
const ADDRESSES_ONLY = '{"cniVersion":"0.3.0","type":"macvlan","ipam":{"type":"kube-ovn"}}';

export const simulator: DrawnKind = {
  weight: 2,
  names: NAMES.networks,
  spec: (draws) => ({ config: draws.chance(0.7) ? OVN : ADDRESSES_ONLY }),
  edit: (draws) => ({ config: draws.pick([OVN, '{"type":"bridge"}', 'broken']) }),
};
