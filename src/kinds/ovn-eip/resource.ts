import { ovnEipKind } from '../../api/kinds/ovn-eip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ovnEipKind, {
  optional: true,
  ownsRows: true,
  family: 'address object',
  reportsRejections: true,
  kubeOvnFinalizer: 10,
});
