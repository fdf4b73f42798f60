import { vpcNatGatewayKind } from '../../api/kinds/vpc-nat-gateway.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(vpcNatGatewayKind, {
  optional: true,
  unimplemented: 'NAT gateways (VpcNatGateway)',
  kubeOvnFinalizer: 17,
});
