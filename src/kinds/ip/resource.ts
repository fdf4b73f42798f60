import { ipKind } from '../../api/kinds/ip.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ipKind, {
  numerous: true,
  ownsRows: true,
  namespaceInSpec: true,
});
