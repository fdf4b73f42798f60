import { ipKind } from '../../api/kinds/ip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ipKind, {
  numerous: 'written',
  listedBy: 'nodes',
  listedLast: true,
  holdsPorts: true,
  ownsRows: true,
  namespaceInSpec: true,
  kubeOvnFinalizer: 10,
});
