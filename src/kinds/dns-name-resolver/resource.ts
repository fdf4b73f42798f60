import { dnsNameResolverKind } from '../../api/kinds/dns-name-resolver.ts';
import { kubeOvnKind } from '../../api/schema/resource.ts';

export const resource = kubeOvnKind(dnsNameResolverKind, {
  optional: true,
  unimplemented: 'rules by DNS name (DNSNameResolver)',
});
