import { ovnFipKind } from '../../api/kinds/ovn-fip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ovnFipKind, {
  optional: true,
  ownsRows: true,
  family: 'NAT rule',
  nat: { use: 'fip', eips: 'ovn-eips' },
  kubeOvnFinalizer: 10,
});
