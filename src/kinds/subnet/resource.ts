import { subnetKind } from '../../api/kinds/subnet.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(subnetKind, {
  inEveryCluster: true,
  givesAddresses: true,
  builtIn: { joinSubnet: 'needed', defaultSubnet: 'replaceable' },
  ownsRows: true,
  conflictEvents: true,
  pacedStatus: true,
  kubeOvnFinalizer: 10,
});
