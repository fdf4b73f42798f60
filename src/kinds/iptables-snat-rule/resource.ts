import { iptablesSnatRuleKind } from '../../api/kinds/iptables-snat-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(iptablesSnatRuleKind, {
  optional: true,
  family: 'NAT rule',
  unimplemented: 'source NAT of NAT gateways (IptablesSnatRule)',
});
