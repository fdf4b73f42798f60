/** Settings of a cluster, which rules read as constants. Names and defaults are those of Kube-OVN's flags. */
import type { GcMode, GcRule } from '../nb/gc-rules.ts';
import type { NeighbourPattern } from '../nb/neighbours.ts';
import { DEFAULT_CIDR, DEFAULT_SUBNET, DEFAULT_VPC, EXTERNAL_SUBNET, JOIN_CIDR, JOIN_SUBNET, SERVICE_CIDR } from '../api/well-known.ts';

/**
 * The policy for pods in a Subnet that their namespace no longer has. `report`: a condition. `rebind`: the condition, and a new address
 * when a pod of the same name is created that would keep the old one. `evict`: the condition, and an eviction.
 */
export const MISBOUND_POLICIES = ['report', 'rebind', 'evict'] as const;
export type MisboundPolicy = (typeof MISBOUND_POLICIES)[number];

export function isMisboundPolicy(text: string): text is MisboundPolicy {
  return MISBOUND_POLICIES.some((policy) => policy === text);
}

/**
 * What tenants may request for their pods. `open`, as in Kube-OVN: any Subnet by name, ports that send from any address.
 * `namespaced`: Subnets that admit their namespace, ports that send from their own addresses.
 */
export const TENANCIES = ['open', 'namespaced'] as const;
export type Tenancy = (typeof TENANCIES)[number];

export function isTenancy(text: string): text is Tenancy {
  return TENANCIES.some((tenancy) => tenancy === text);
}

/**
 * When options that apply to the whole database are set. `unshared`: while no other program has switches or routers in it. `always`: also
 * beside them. `never`: at no time.
 */
export const GLOBAL_OPTION_POLICIES = ['unshared', 'always', 'never'] as const;
export type GlobalOptionPolicy = (typeof GLOBAL_OPTION_POLICIES)[number];

export function isGlobalOptionPolicy(text: string): text is GlobalOptionPolicy {
  return GLOBAL_OPTION_POLICIES.some((policy) => policy === text);
}

export interface Settings {
  readonly defaultVpc: string;
  readonly defaultSubnet: string;
  readonly joinSubnet: string;
  /** Subnet of an OvnEip that names none. */
  readonly externalSubnet: string;
  /** The ConfigMap with the external gateway of the default Vpc, and annotations `eip` and `snat` of pods, are in effect. */
  readonly enableEipSnat: boolean;
  /** Routers of other programs are shown as external Vpcs. */
  readonly enableExternalVpc: boolean;
  readonly externalGatewayConfigNamespace: string;
  /** Physical network of the external gateway, in a switch without a Vlan. */
  readonly externalGatewayNet: string;
  /** Its VLAN tag; 0 for none. */
  readonly externalGatewayVlan: number;
  /** Of BFD sessions of Vpcs: milliseconds, milliseconds, and missed packets. */
  readonly bfdMinTx: number;
  readonly bfdMinRx: number;
  readonly bfdDetectMult: number;
  /** One network, or one of each family with a comma. */
  readonly defaultCidr: string;
  /** Empty: the first address of each CIDR. */
  readonly defaultGateway: string;
  readonly defaultExcludeIps: readonly string[];
  readonly joinCidr: string;
  readonly joinGateway: string;
  readonly serviceCidr: string;
  readonly enableLb: boolean;
  /** A virtual machine keeps its addresses while no pod runs it. */
  readonly keepVmIp: boolean;
  /** Another CNI plugin makes the pods' primary interface: Kiln serves attached networks only. */
  readonly nonPrimaryCni: boolean;
  /** Written to pods as `pod_nic_type`. */
  readonly podNicType: string;
  /** Encapsulation that the MTU of DHCP options leaves room for. */
  readonly networkType: 'geneve' | 'vxlan' | 'stt';
  readonly globalOptions: GlobalOptionPolicy;
  readonly lsDnatModDlDst: boolean;
  readonly lsCtSkipDstLportIps: boolean;
  /** An annotation of the namespace overrides it. */
  readonly misbound: MisboundPolicy;
  readonly tenancy: Tenancy;
  /** Programs whose rows are known by patterns, beside those that are known by their marks. */
  readonly neighbours: readonly NeighbourPattern[];
  /** Whether rows that nothing explains are collected. Annotations and `gcRules` can only be more careful. */
  readonly gc: GcMode;
  readonly gcRules: readonly GcRule[];
  /** Seconds for which an object that Kiln made stays after what it was made from is gone. */
  readonly absenceGrace: number;
  /** More such rows than this are not collected before a person approves it. */
  readonly gcMaxRows: number;
  /** The same as a share of all rows of Kiln, in percent: it counts from `gcShareFrom` rows on. */
  readonly gcMaxShare: number;
  readonly gcShareFrom: number;
  /** Seconds for which an adopted leftover of Kube-OVN stays after nothing explains it any more. */
  readonly gcKubeOvnGrace: number;
}

export const DEFAULT_SETTINGS: Settings = {
  defaultVpc: DEFAULT_VPC,
  defaultSubnet: DEFAULT_SUBNET,
  joinSubnet: JOIN_SUBNET,
  externalSubnet: EXTERNAL_SUBNET,
  enableEipSnat: true,
  enableExternalVpc: false,
  externalGatewayConfigNamespace: 'kube-system',
  externalGatewayNet: 'external',
  externalGatewayVlan: 0,
  bfdMinTx: 100,
  bfdMinRx: 100,
  bfdDetectMult: 3,
  defaultCidr: DEFAULT_CIDR,
  defaultGateway: '',
  defaultExcludeIps: [],
  joinCidr: JOIN_CIDR,
  joinGateway: '',
  serviceCidr: SERVICE_CIDR,
  enableLb: true,
  keepVmIp: true,
  nonPrimaryCni: false,
  podNicType: 'veth-pair',
  networkType: 'geneve',
  globalOptions: 'unshared',
  lsDnatModDlDst: true,
  lsCtSkipDstLportIps: true,
  misbound: 'report',
  tenancy: 'open',
  neighbours: [],
  gc: 'on',
  gcRules: [],
  absenceGrace: 600,
  gcMaxRows: 10_000,
  gcMaxShare: 30,
  gcShareFrom: 1_000,
  gcKubeOvnGrace: 3_600,
};
