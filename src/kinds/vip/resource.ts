import { vipKind } from '../../api/kinds/vip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(vipKind, {
  optional: true,
  ownsRows: true,
  namespaceInSpec: true,
  family: 'address object',
  reportsRejections: true,
  kubeOvnFinalizer: 15,
});
