import { vpcEgressGatewayKind } from '../../api/kinds/vpc-egress-gateway.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(vpcEgressGatewayKind, {
  optional: true,
  unimplemented: 'egress gateways (VpcEgressGateway)',
  kubeOvnFinalizer: 14,
});
