import { iptablesDnatRuleKind } from '../../api/kinds/iptables-dnat-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(iptablesDnatRuleKind, {
  optional: true,
  family: 'NAT rule',
  nat: { use: 'dnat', eips: 'iptables-eips' },
  unimplemented: 'destination NAT of NAT gateways (IptablesDnatRule)',
  kubeOvnFinalizer: 10,
});
