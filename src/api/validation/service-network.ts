/** Subnets that overlap the network of Services: the network works, but for the addresses that a Service has. */
import { cidrsOverlap } from '../../net/cidr.ts';
import { familiesOf, formatDualCidr, ofFamily, parseDualCidr } from '../../net/dual.ts';
import type { Finding } from './finding.ts';
import { findingOf } from './finding.ts';
import { isOvnProvider } from '../names.ts';
import type { NamedSubnet, SubnetSettings } from '../defaults/subnet-defaults.ts';
import { effectiveProvider, effectiveVpc, subnetCidrs } from '../defaults/subnet-defaults.ts';

export interface ServiceSettings extends Pick<SubnetSettings, 'defaultVpc'> {
  /** Network of Services, or one of each family with a comma. */
  readonly serviceCidr: string;
}

/**
 * In the default Vpc alone, as nodes are only there, and what a Service's address stands for is put in by nodes, or by the load balancers of
 * the Vpc. The network of another Vpc is apart from it: tenants may have any. Kube-OVN compares its own three networks at its start, and
 * takes a Subnet that overlaps without a word.
 */
export function servicesOverlap({ name, spec }: NamedSubnet, settings: ServiceSettings): readonly Finding[] {
  const services = parseDualCidr(settings.serviceCidr);
  if (!services.ok || effectiveVpc(spec, settings) !== settings.defaultVpc || !isOvnProvider(effectiveProvider(spec))) return [];
  const cidrs = subnetCidrs(spec);
  const meets = familiesOf(cidrs).some((family) => {
    const [own, theirs] = [ofFamily(cidrs, family), ofFamily(services, family)];
    return own !== undefined && theirs !== undefined && cidrsOverlap(own, theirs);
  });
  if (!meets) return [];
  return [
    findingOf(
      { kind: 'Subnet', name },
      {
        code: 'OverlapsServices',
        field: 'spec.cidrBlock',
        value: formatDualCidr(cidrs),
        problem: `overlaps ${formatDualCidr(services)}, the network of Services (--service-cluster-ip-range)`,
        rule: 'of an address in both only one is reached, the pod or the Service: move the pods to a Subnet that is apart from it',
      },
    ),
  ];
}
