import { ovnFipKind } from '../../api/kinds/ovn-fip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ovnFipKind, {
  optional: true,
  family: 'NAT rule',
  unimplemented: 'floating addresses (OvnFip)',
});
