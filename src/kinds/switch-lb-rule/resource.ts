import { switchLbRuleKind } from '../../api/kinds/switch-lb-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(switchLbRuleKind, {
  optional: true,
  unimplemented: 'load balancing inside a Vpc (SwitchLBRule)',
});
