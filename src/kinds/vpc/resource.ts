import { vpcKind } from '../../api/kinds/vpc.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(vpcKind, {
  inEveryCluster: true,
  ownsRows: true,
  conflictEvents: true,
});
