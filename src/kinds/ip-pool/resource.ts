import { ipPoolKind } from '../../api/kinds/ip-pool.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ipPoolKind, {
  ownsRows: true,
  conflictEvents: true,
  kubeOvnFinalizer: 15,
});
