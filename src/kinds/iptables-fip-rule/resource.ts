import { iptablesFipRuleKind } from '../../api/kinds/iptables-fip-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(iptablesFipRuleKind, {
  optional: true,
  family: 'NAT rule',
  nat: { use: 'fip', eips: 'iptables-eips' },
  unimplemented: 'floating addresses of NAT gateways (IptablesFIPRule)',
  kubeOvnFinalizer: 10,
});
