/** Clusters of IPv4, of IPv6 and of both: addresses of nodes and Services, and what the programs are told of them. */
import type { PrefixedAddress, Underlay } from '../node/underlay.ts';

export const FAMILIES = ['ipv4', 'ipv6', 'dual'] as const;
export type Families = (typeof FAMILIES)[number];

export interface FamilyPlan {
  /** `--service-cluster-ip-range` */
  readonly serviceRange: string;
  /** The first address of that range. */
  readonly serviceAddresses: readonly string[];
  /** Of CoreDNS. */
  readonly dnsAddresses: readonly string[];
  /** Flags of the controller: the default Subnet and the join Subnet. */
  readonly controllerFlags: readonly string[];
  /** Where nodes reach the control plane. */
  readonly controlPlane: (underlay: Underlay) => string;
  /** The first is that of tunnels. @param index from 1 */
  readonly nodeAddresses: (index: number) => readonly [PrefixedAddress, ...PrefixedAddress[]];
}

const V4 = { range: '10.96.0.0/12', first: '10.96.0.1', dns: '10.96.0.10', pods: '10.16.0.0/16', join: '100.64.0.0/16' } as const;
const V6 = { range: 'fd00:96::/112', first: 'fd00:96::1', dns: 'fd00:96::a', pods: 'fd00:10:16::/112', join: 'fd00:100:64::/112' } as const;

export function familyPlan(families: Families): FamilyPlan {
  const used = { ipv4: [V4], ipv6: [V6], dual: [V4, V6] }[families];
  const join = (what: keyof typeof V4): string => used.map((one) => one[what]).join(',');
  return {
    serviceRange: join('range'),
    serviceAddresses: used.map(({ first }) => first),
    dnsAddresses: used.map(({ dns }) => dns),
    // Those of IPv4 are the defaults.
    controllerFlags: families === 'ipv4' ? [] : [`--default-cidr=${join('pods')}`, `--node-switch-cidr=${join('join')}`],
    controlPlane: ({ router, router6 }) => (families === 'ipv6' ? router6 : router),
    nodeAddresses(index) {
      const v4 = `172.18.0.${index + 1}/16` as const;
      const v6 = `fd18::${(index + 1).toString(16)}/64` as const;
      return families === 'ipv4' ? [v4] : families === 'ipv6' ? [v6] : [v4, v6];
    },
  };
}
