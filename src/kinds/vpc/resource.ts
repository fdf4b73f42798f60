import { vpcKind } from '../../api/kinds/vpc.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(vpcKind, {
  inEveryCluster: true,
  builtIn: { defaultVpc: 'needed' },
  ownsRows: true,
  conflictEvents: true,
  kubeOvnFinalizer: 13,
});
