import { ovnSnatRuleKind } from '../../api/kinds/ovn-snat-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ovnSnatRuleKind, {
  optional: true,
  ownsRows: true,
  family: 'NAT rule',
  nat: { use: 'snat', eips: 'ovn-eips' },
  kubeOvnFinalizer: 10,
});
