import { iptablesEipKind } from '../../api/kinds/iptables-eip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(iptablesEipKind, {
  optional: true,
  family: 'address object',
  reportsRejections: true,
  kubeOvnFinalizer: 10,
});
