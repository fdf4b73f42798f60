import { vpcDnsKind } from '../../api/kinds/vpc-dns.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(vpcDnsKind, {
  optional: true,
  unimplemented: 'DNS in a Vpc (VpcDns)',
});
