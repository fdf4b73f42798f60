import { ovnDnatRuleKind } from '../../api/kinds/ovn-dnat-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(ovnDnatRuleKind, {
  optional: true,
  ownsRows: true,
  family: 'NAT rule',
  nat: { use: 'dnat', eips: 'ovn-eips' },
  kubeOvnFinalizer: 10,
});
