import { ipKind } from '../../api/kinds/ip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ipKind, {
  numerous: 'written',
  listedBy: 'nodes',
  ownsRows: true,
  namespaceInSpec: true,
});
