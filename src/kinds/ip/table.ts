import { ipKind } from '../../api/kinds/ip.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { splitList } from '../../net/dual.ts';
import { heldAddresses } from '../../world/claimants.ts';
import { customTable } from '../../world/kind-table.ts';

export const table = customTable(ipKind, {
  indexes: () => ({
    subnet: (ip) => [ip.spec.subnet ?? ''],
    pod: (ip) => [`${ip.spec.namespace}/${ip.spec.podName}`],
    /** The Vip of the address. */
    vip: ({ metadata }) => splitList(metadata.annotations?.[kilnAnnotation.vip] ?? ''),
  }),
  lazy: { address: heldAddresses },
  names: ({ spec }) => [['subnets', spec.subnet]],
});
