/** Every annotation of Kube-OVN's and Kiln's contract, and how Kiln uses it. Rules, types and the reference page follow this list. */
import type { PodAnnotationSuffix } from './well-known.ts';
import { annotationKey, kilnAnnotation } from './well-known.ts';

/**
 * `acts`: a rule implements it. `checked`: Kiln checks its value; a node agent implements it, or no program does, and then Kiln reports
 * that on the pod. `writes`: Kiln's controller writes it. `agent`: Kiln's node agent does, with rights of its own. `-`: Kiln does not read it.
 */
export type AnnotationUse = 'acts' | 'checked' | 'writes' | 'acts, writes' | 'agent' | '-';

export interface AnnotationEntry {
  readonly use: AnnotationUse;
  readonly what: string;
}

/** On a pod for each of its interfaces, as `<provider>.kubernetes.io/<suffix>`; provider `ovn` is the pod's default interface. */
export const POD_ANNOTATIONS = {
  allocated: {
    use: 'acts, writes',
    what: "`true` when the addresses below are the interface's; Kiln accepts it if the port row or the IP object proves it, and else takes the addresses as a request",
  },
  routed: { use: 'writes', what: '`true` when the port is in the groups that its routes need' },
  routes: { use: 'checked', what: 'routes that the node agent adds in the pod' },
  mac_address: { use: 'acts, writes', what: 'its MAC; a request for it before the interface has one' },
  ip_address: { use: 'acts, writes', what: 'its addresses, separated by commas; a request for them before the interface has any' },
  ip_family: { use: 'acts', what: '`ipv4` or `ipv6`: a request for an address of this family alone, if its Subnet has both' },
  cidr: { use: 'writes', what: 'networks of its Subnet when the pod started: it has their masks while it runs' },
  gateway: { use: 'acts, writes', what: 'gateways of its Subnet, to which its routes lead while it runs' },
  ip_pool: { use: 'acts', what: 'an IPPool, or addresses separated by commas, from which the interface gets its own' },
  logical_switch: { use: 'acts, writes', what: 'its Subnet; a request for it before the interface has one' },
  logical_router: { use: 'writes', what: 'the Vpc of its Subnet' },
  vlan_id: { use: 'writes', what: 'tag of the Vlan of its Subnet' },
  provider_network: { use: 'writes', what: 'ProviderNetwork of the Vlan of its Subnet' },
  pod_nic_type: {
    use: 'acts, writes',
    what: '`veth-pair`, `internal-port`, …: what the node agent creates; Kiln writes the default on pods without it',
  },
  port_security: { use: 'acts', what: '`true`: the port sends from its own addresses alone' },
  port_vips: { use: 'acts', what: 'further addresses that the port may send from' },
  security_groups: {
    use: 'acts',
    what: 'SecurityGroups, separated by commas; Kiln names them on the port and does not enforce their rules yet',
  },
  layer2_forward: { use: 'acts', what: '`true`: the port receives frames for any address' },
  activation_strategy: { use: 'acts', what: 'of a port that a live migration moves' },
  'dhcp-v4-options': { use: 'acts', what: 'DHCP options of this port alone' },
  'dhcp-v6-options': { use: 'acts', what: 'DHCPv6 options of this port alone' },
  default_route: { use: 'checked', what: '`true`: the node agent sets the default route through this interface' },
  vf: { use: '-', what: 'of the node agent' },
  vf_representor: { use: '-', what: 'of the node agent' },
  mirror: { use: '-', what: 'of the node agent' },
  virtualmachine: { use: 'writes', what: 'the virtual machine whose address the pod has' },
  ingress_rate: { use: 'checked', what: 'Mbit/s, of the node agent' },
  egress_rate: { use: 'checked', what: 'Mbit/s, of the node agent' },
  ingress_burst: { use: 'checked', what: 'Mbit, of the node agent' },
  egress_burst: { use: 'checked', what: 'Mbit, of the node agent' },
  latency: { use: 'checked', what: 'milliseconds, of the node agent' },
  limit: { use: 'checked', what: 'packets, of the node agent' },
  loss: { use: 'checked', what: 'percentage, of the node agent' },
  jitter: { use: 'checked', what: 'milliseconds, of the node agent' },
} as const satisfies Readonly<Record<PodAnnotationSuffix, AnnotationEntry>>;

type SuffixOf<Use extends AnnotationUse> = {
  [S in PodAnnotationSuffix]: (typeof POD_ANNOTATIONS)[S]['use'] extends Use ? S : never;
}[PodAnnotationSuffix];

/** Suffixes of the annotations that rules may read on a pod. */
export type ReadPodAnnotation = SuffixOf<'acts' | 'checked' | 'acts, writes'>;
/** Suffixes of the annotations that rules may write to a pod. */
export type WrittenPodAnnotation = SuffixOf<'writes' | 'acts, writes'>;

const SUFFIXES = Object.keys(POD_ANNOTATIONS) as PodAnnotationSuffix[];

export const READ_POD_ANNOTATIONS: readonly ReadPodAnnotation[] = SUFFIXES.filter(isRead);
export const WRITTEN_POD_ANNOTATIONS: readonly WrittenPodAnnotation[] = SUFFIXES.filter(isWritten);

function isRead(suffix: PodAnnotationSuffix): suffix is ReadPodAnnotation {
  const { use } = POD_ANNOTATIONS[suffix];
  return use !== 'writes' && use !== '-';
}

function isWritten(suffix: PodAnnotationSuffix): suffix is WrittenPodAnnotation {
  return POD_ANNOTATIONS[suffix].use.includes('writes');
}

interface ObjectAnnotation extends AnnotationEntry {
  /** Kinds that have the annotation. */
  readonly on: string;
}

/** Annotations without a provider in their key. */
export const OBJECT_ANNOTATIONS = {
  vip: { on: 'Pod', use: 'acts', what: "a Vip whose address is the pod's own" },
  allowedAddressPairs: { on: 'Pod', use: 'acts', what: "Vips that the pod's port may send from" },
  northGateway: {
    on: 'Pod',
    use: 'acts',
    what: 'the pod is not in the group of its node; routing through the gateway is not implemented, and Kiln reports that on the pod',
  },
  podEip: { on: 'Pod', use: 'acts', what: "an external address that is the pod's alone, in the default Vpc" },
  podSnat: { on: 'Pod', use: 'acts', what: 'an external address that the pod sends from, in the default Vpc; pods may share it' },
  chassis: { on: 'Node', use: 'agent', what: 'name of the chassis of the node' },
  portName: { on: 'Node', use: 'writes', what: "the node's port in the join Subnet" },
  tunnelInterface: { on: 'Node', use: 'agent', what: 'the interface whose address the tunnels of the node have' },
  nodeNetworks: { on: 'Node', use: '-', what: 'of the node agent' },
  excludeIps: { on: 'Namespace', use: 'writes', what: '`excludeIps` of its Subnets' },
  vpc: { on: 'Service', use: 'acts', what: 'the Vpc of its vips without endpoints, and of endpoints that are no pods' },
  vpcLb: { on: 'Vpc', use: 'checked', what: '`on`: a workload that balances its load, which is not implemented' },
  vpcEip: {
    on: 'NAT rules',
    use: 'acts, writes',
    what: 'the EIP that the rule names, whose address it holds; empty while that EIP accepts no new rule',
  },
  vpcNat: { on: 'OvnEip', use: 'writes', what: 'the newest NAT rule in effect that uses it' },
  vpcNatGateway: { on: 'Pod', use: '-', what: 'of a VpcNatGateway' },
  enableLog: { on: 'NetworkPolicy', use: '-', what: 'log what is dropped' },
  logAclActions: { on: 'NetworkPolicy', use: '-', what: 'what is logged' },
  aclLogMeterRate: { on: 'NetworkPolicy', use: '-', what: 'how much is logged' },
  networkPolicyEnforcement: { on: 'NetworkPolicy', use: '-', what: 'the mode of its enforcement' },
  networkPolicyFor: { on: 'NetworkPolicy', use: '-', what: 'the interfaces it applies to' },
  switchLbVip: { on: 'Service', use: 'checked', what: 'of a SwitchLBRule; a vip that it names is no leftover' },
  routerLbVip: { on: 'Service', use: 'checked', what: 'of a RouterLBRule; a vip that it names is no leftover' },
  serviceExternalIpFromSubnet: { on: 'Service', use: '-', what: 'Subnet of its external address' },
  serviceHealthCheck: { on: 'Service', use: '-', what: 'health checks of its endpoints' },
  generateHash: { on: 'workloads of gateways', use: '-', what: "of the gateway's own controller" },
  serviceCidrHash: { on: 'workloads of gateways', use: '-', what: "of the gateway's own controller" },
  networkAttachments: { on: 'Pod', use: 'acts', what: 'attached networks (Multus)' },
  defaultNetworkAttachment: { on: 'Pod', use: 'acts', what: 'the network of its own interface (Multus)' },
  migrationJob: { on: 'Pod', use: 'acts', what: 'the pod is the target of a live migration (KubeVirt)' },
} as const satisfies Readonly<Record<keyof typeof annotationKey, ObjectAnnotation>>;

/** Keys after `ovn.kubernetes.io/` that other programs of Kube-OVN read or write, some in older releases only. Kiln leaves them alone. */
export const AGENT_ANNOTATIONS = {
  bgp: 'announced by kube-ovn-speaker',
  attachmentprovider: 'network of the workload of a load balancer',
  vpc_nat_gw_init: 'of a VpcNatGateway',
  vpc_eips: 'of a VpcNatGateway',
  vpc_floating_ips: 'of a VpcNatGateway',
  vpc_dnat_md5: 'of a VpcNatGateway',
  vpc_snat_md5: 'of a VpcNatGateway',
  vpc_cidrs: 'of a VpcNatGateway',
  external_ip: 'of the external gateway of a node',
  external_mac: 'of the external gateway of a node',
  external_cidr: 'of the external gateway of a node',
  external_switch: 'of the external gateway of a node',
  external_gateway: 'of the external gateway of a node',
  external_gw_port_name: 'of the external gateway of a node',
  last_policies: 'of a Vpc: its policy routes before an edit (up to 1.14)',
  last_vpc_name: 'of a Subnet: its Vpc before an edit (up to 1.14)',
} as const;

/** Kiln's own annotations. */
export const KILN_ANNOTATIONS = {
  podUid: { on: 'IP', use: 'acts, writes', what: 'uid of the pod that it was created for' },
  ownerUid: { on: 'IP', use: 'acts, writes', what: 'uid of the StatefulSet or virtual machine that retains it' },
  subnetFrom: { on: 'IP', use: 'acts, writes', what: '`namespace` if the Subnet follows from the namespace of the pod' },
  replacesOwn: {
    on: 'IP',
    use: 'acts, writes',
    what: "`true` if its network is that of the pod's own interface, by `v1.multus-cni.io/default-network`",
  },
  vip: { on: 'IP', use: 'acts, writes', what: 'the Vip whose address it is' },
  lease: {
    on: 'IP, Vip, OvnEip, IptablesEIP',
    use: 'acts',
    what: 'how long the address stays reserved while nothing uses it, such as `24h`',
  },
  portOf: {
    on: 'OvnEip',
    use: 'acts, writes',
    what: 'the Vpc for whose router port Kiln made it, or Kube-OVN before a take-over; Kiln deletes it with the port',
  },
  gatewayOf: {
    on: 'Node',
    use: 'acts, writes',
    what: 'the ConfigMap that names the node as a gateway, for which Kiln labelled it; Kiln removes both with the name',
  },
  outgoing: {
    on: 'OvnSnatRule',
    use: 'acts',
    what: 'in the default Vpc: `everything` that its source sends outside leaves by its external Subnet, or what `routes` and policies of the Vpc lead there; without it the latter, and everything if nothing leads there',
  },
  given: { on: 'Vip, OvnEip, IptablesEIP', use: 'acts, writes', what: 'its allocated addresses, as JSON; its status follows from it' },
  acceptedSpec: {
    on: 'Subnet',
    use: 'acts, writes',
    what: 'its spec as it was last accepted, as JSON, which stays in effect while a later one is refused',
  },
  awaitSubnet: { on: 'Namespace', use: 'acts', what: '`true`, or names of Subnets that its pods wait for' },
  awaitIpPool: { on: 'Namespace', use: 'acts', what: '`true`, or names of IPPools that its pods wait for' },
  misbound: { on: 'Namespace', use: 'acts', what: '`report`, `rebind` or `evict`' },
  gc: {
    on: 'Vpc, Namespace',
    use: 'acts',
    what: '`report` or `off`: rows of it that nothing explains are not collected; with `report` they are listed by `kiln gc plan`',
  },
  gcPause: { on: 'Vpc', use: 'acts', what: 'on the default Vpc, while it is there: nothing is collected; `kiln gc pause` writes it' },
  gcApproval: {
    on: 'Vpc',
    use: 'acts',
    what: 'on the default Vpc: how many rows may be collected, which (a digest of them), and until when, as JSON; `kiln gc approve` writes it',
  },
  admitNamespaces: {
    on: 'Subnet',
    use: 'acts',
    what: 'namespaces, separated by commas, whose pods may name it, beside the namespaces that are bound to it (with `--tenancy=namespaced`)',
  },
  allowPortSecurityOff: {
    on: 'Subnet',
    use: 'acts',
    what: '`true`: a pod in it may have `port_security: "false"` (with `--tenancy=namespaced`)',
  },
  allowLayer2Forward: {
    on: 'Subnet',
    use: 'acts',
    what: '`true`: a pod in it may have `layer2_forward: "true"` (with `--tenancy=namespaced`)',
  },
  allowChangeUnderPods: {
    on: 'Subnet',
    use: 'acts',
    what: '`true`: its gateway, mask and MTU may change while pods run, whose interfaces keep the old ones until they are made again; and its Vlan while OvnEips are in it',
  },
  mtu: {
    on: 'Subnet',
    use: 'acts, writes',
    what: 'the MTU that its pods have (0 for the default), while it is not the default or not the requested one',
  },
  conditions: { on: 'kinds without conditions in their schema', use: 'acts, writes', what: 'JSON list of conditions' },
  seen: { on: 'IP', use: 'writes', what: 'the last writer, to detect an outdated list of IP objects' },
  version: { on: 'Lease of the controller', use: 'acts, writes', what: 'version of the controller that leads' },
  settings: { on: 'Lease of the controller', use: 'acts, writes', what: 'its network settings as JSON, which commands read' },
  northboundRefusal: {
    on: 'Lease of the controller',
    use: 'writes',
    what: 'why every transaction in the Northbound database fails',
  },
  northboundLoss: { on: 'Lease of the controller', use: 'writes', what: 'why it cannot follow the Northbound database' },
  journalFailure: { on: 'Lease of the controller', use: 'writes', what: 'why it cannot write its journal, so that deletions wait' },
  collectionPause: { on: 'Lease of the controller', use: 'writes', what: 'why it collects no rows for now' },
} as const satisfies Readonly<Record<keyof typeof kilnAnnotation, ObjectAnnotation>>;

/** The annotations of these kinds, Kube-OVN's and Kiln's, with such a use. */
export function annotationKeys(kinds: readonly string[], hasUse: (use: AnnotationUse) => boolean): readonly string[] {
  const keysIn = (
    keys: Readonly<Record<string, string>>,
    table: Readonly<Record<string, { readonly on: string; readonly use: AnnotationUse }>>,
  ): readonly string[] =>
    Object.entries(table).flatMap(([name, { on, use }]) =>
      hasUse(use) && on.split(', ').some((kind) => kinds.includes(kind)) ? [keys[name] ?? ''] : [],
    );
  return [...keysIn(annotationKey, OBJECT_ANNOTATIONS), ...keysIn(kilnAnnotation, KILN_ANNOTATIONS)];
}
