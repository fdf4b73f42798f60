/** Subnets that overlap with the network of Services: such a Subnet works, except for addresses that a Service has. */
import { cidrsOverlap } from '../../net/cidr.ts';
import { familiesOf, formatDualCidr, ofFamily, parseDualCidr } from '../../net/dual.ts';
import type { Finding } from './finding.ts';
import { findingOf } from './finding.ts';
import { isOvnProvider } from '../names.ts';
import type { NamedSubnet, SubnetSettings } from '../defaults/subnet-defaults.ts';
import { effectiveProvider, effectiveVpc, subnetCidrs } from '../defaults/subnet-defaults.ts';

export interface ServiceSettings extends Pick<SubnetSettings, 'defaultVpc'> {
  /** Network of Services; one of each family, separated by a comma, in a dual-stack cluster. */
  readonly serviceCidr: string;
}

/**
 * Applies to the default Vpc only: nodes are connected only there, and either nodes or the Vpc's load balancers translate a Service's
 * address. The network of another Vpc is separate, so tenants may use any. Kube-OVN compares its own three networks at its start, and
 * accepts an overlapping Subnet silently.
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
