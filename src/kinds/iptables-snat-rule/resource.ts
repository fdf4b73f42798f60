import { iptablesSnatRuleKind } from '../../api/kinds/iptables-snat-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(iptablesSnatRuleKind, {
  optional: true,
  family: 'NAT rule',
  nat: { use: 'snat', eips: 'iptables-eips' },
  unimplemented: 'source NAT of NAT gateways (IptablesSnatRule)',
  kubeOvnFinalizer: 10,
});
