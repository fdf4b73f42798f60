import { securityGroupKind } from '../../api/kinds/security-group.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(securityGroupKind, {
  optional: true,
  ownsRows: true,
  unimplemented: 'SecurityGroup: traffic that it should deny is still allowed',
});
