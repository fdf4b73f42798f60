import { qosPolicyKind } from '../../api/kinds/qos-policy.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(qosPolicyKind, {
  optional: true,
  unimplemented: 'bandwidth limits (QoSPolicy)',
  kubeOvnFinalizer: 10,
});
