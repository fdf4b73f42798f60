import { routerLbRuleKind } from '../../api/kinds/router-lb-rule.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(routerLbRuleKind, {
  optional: true,
  unimplemented: 'load balancing on a router (RouterLBRule)',
});
