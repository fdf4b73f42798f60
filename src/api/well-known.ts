/** Labels, annotations, finalizers and reserved names: Kube-OVN's, unchanged, and Kiln's own. */

/** Keeps an object until Kiln has released its rows and addresses. */
export const FINALIZER = 'kubeovn.io/kube-ovn-controller';
/** Older names of the same finalizer: removed, never added. */
export const LEGACY_FINALIZERS: readonly string[] = ['kube-ovn-controller', 'ovn.kubernetes.io/fip'];

export const CONTROLLER_LEASE = 'kiln-controller';
export const KUBE_OVN_LEASE = 'kube-ovn-controller';

/** Default names; the cluster's settings can change them. */
export const DEFAULT_VPC = 'ovn-cluster';
export const DEFAULT_SUBNET = 'ovn-default';
export const JOIN_SUBNET = 'join';
export const DEFAULT_PROVIDER = 'ovn';
/** Of a Subnet that shows a switch of another program. A Kube-OVN that reads such a Subnet makes no rows for it: the provider is not OVN's. */
export const EXTERNAL_PROVIDER = 'vpc-external';
export const DEFAULT_CIDR = '10.16.0.0/16';
export const JOIN_CIDR = '100.64.0.0/16';
export const SERVICE_CIDR = '10.96.0.0/12';
export const EXTERNAL_SUBNET = 'external';
/** The bridge of OVN on each node. */
export const INTEGRATION_BRIDGE = 'br-int';
/** The ConfigMap with the external gateway of the default Vpc. */
export const EXTERNAL_GATEWAY_CONFIG = 'ovn-external-gw-config';
/** ProviderNetwork of a Vlan that names none. */
export const DEFAULT_PROVIDER_NETWORK = 'provider';
/** Default Subnet of an IptablesEIP. */
export const NAT_GATEWAY_SUBNET = 'ovn-vpc-external-network';

/** The part of a key after `<provider>.kubernetes.io/`. */
export type PodAnnotationSuffix =
  | 'allocated'
  | 'routed'
  | 'routes'
  | 'mac_address'
  | 'ip_address'
  | 'ip_family'
  | 'cidr'
  | 'gateway'
  | 'ip_pool'
  | 'logical_switch'
  | 'logical_router'
  | 'vlan_id'
  | 'provider_network'
  | 'pod_nic_type'
  | 'port_security'
  | 'port_vips'
  | 'security_groups'
  | 'layer2_forward'
  | 'activation_strategy'
  | 'dhcp-v4-options'
  | 'dhcp-v6-options'
  | 'default_route'
  | 'vf'
  | 'vf_representor'
  | 'mirror'
  | 'virtualmachine'
  | 'ingress_rate'
  | 'egress_rate'
  | 'ingress_burst'
  | 'egress_burst'
  | 'latency'
  | 'limit'
  | 'loss'
  | 'jitter';

/** The key of an annotation about one interface of a pod (or, with provider `ovn`, of a node or namespace). */
export const podAnnotation = (provider: string, suffix: PodAnnotationSuffix): string =>
  provider === '' || provider === DEFAULT_PROVIDER ? ownAnnotation(suffix) : `${provider}.kubernetes.io/${suffix}`;

/** Keys of the pod's default interface. They are needed many times for each pod, so the texts are cached. */
const OWN_ANNOTATIONS = new Map<PodAnnotationSuffix, string>();

function ownAnnotation(suffix: PodAnnotationSuffix): string {
  let key = OWN_ANNOTATIONS.get(suffix);
  if (key === undefined) OWN_ANNOTATIONS.set(suffix, (key = `${DEFAULT_PROVIDER}.kubernetes.io/${suffix}`));
  return key;
}

/**
 * The key with which a pod requests an address for one of several interfaces of the same attachment: without the provider's `.ovn`, and
 * with the interface after the suffix.
 */
export const interfaceAnnotation = (nad: string, namespace: string, interfaceName: string, suffix: 'ip_address' | 'mac_address'): string =>
  `${nad}.${namespace}.kubernetes.io/${suffix}.${interfaceName}`;

/** Annotations without a provider in their key. */
export const annotationKey = {
  vip: 'ovn.kubernetes.io/vip',
  allowedAddressPairs: 'ovn.kubernetes.io/aaps',
  northGateway: 'ovn.kubernetes.io/north_gateway',
  podEip: 'ovn.kubernetes.io/eip',
  podSnat: 'ovn.kubernetes.io/snat',
  chassis: 'ovn.kubernetes.io/chassis',
  portName: 'ovn.kubernetes.io/port_name',
  tunnelInterface: 'ovn.kubernetes.io/tunnel_interface',
  nodeNetworks: 'ovn.kubernetes.io/node_networks',
  /** On a Namespace: `excludeIps` of its Subnets. */
  excludeIps: 'ovn.kubernetes.io/exclude_ips',
  /** On a Service: its Vpc. */
  vpc: 'ovn.kubernetes.io/vpc',
  vpcLb: 'ovn.kubernetes.io/vpc_lb',
  /** On a NAT rule: its EIP. */
  vpcEip: 'ovn.kubernetes.io/vpc_eip',
  /** On an OvnEip: the last NAT rule that used it. */
  vpcNat: 'ovn.kubernetes.io/vpc_nat',
  /** On a pod of a VpcNatGateway. */
  vpcNatGateway: 'ovn.kubernetes.io/vpc_nat_gw',
  enableLog: 'ovn.kubernetes.io/enable_log',
  logAclActions: 'ovn.kubernetes.io/log_acl_actions',
  aclLogMeterRate: 'ovn.kubernetes.io/acl_log_meter_rate',
  networkPolicyEnforcement: 'ovn.kubernetes.io/network_policy_enforcement',
  networkPolicyFor: 'ovn.kubernetes.io/network_policy_for',
  switchLbVip: 'ovn.kubernetes.io/switch_lb_vip',
  routerLbVip: 'ovn.kubernetes.io/router_lb_vip',
  serviceExternalIpFromSubnet: 'ovn.kubernetes.io/service_external_ip_from_subnet',
  serviceHealthCheck: 'ovn.kubernetes.io/service_health_check',
  generateHash: 'ovn.kubernetes.io/generate-hash',
  serviceCidrHash: 'ovn.kubernetes.io/service-cidr-hash',
  /** Multus: the interfaces that a pod requests in addition to, or instead of, the default one. */
  networkAttachments: 'k8s.v1.cni.cncf.io/networks',
  defaultNetworkAttachment: 'v1.multus-cni.io/default-network',
  /** KubeVirt: the name of the live migration that has this pod as its target. */
  migrationJob: 'kubevirt.io/migrationJobName',
} as const;

/** KubeVirt's label for the same: the uid of the migration. */
export const MIGRATION_JOB_LABEL = 'kubevirt.io/migrationJobUID';

/** Kiln's own annotations. */
export const kilnAnnotation = {
  /** On an IP: uid of its pod. */
  podUid: 'kiln.io/pod-uid',
  /** On an IP that outlives its pod: uid of the StatefulSet or virtual machine that keeps it. */
  ownerUid: 'kiln.io/owner-uid',
  /** On an IP: `namespace` if the Subnet was chosen by the namespace and not by the pod. */
  subnetFrom: 'kiln.io/subnet-from',
  /** On an IP: `true` if its interface is the pod's own, by annotation `default-network`. */
  replacesOwn: 'kiln.io/replaces-own-interface',
  /** On an IP: the Vip with the same address. */
  vip: 'kiln.io/vip',
  /** On an IP, a Vip or an EIP: how long its address is kept while unused, such as `24h`. */
  lease: 'kiln.io/lease',
  /** On an OvnEip that Kiln made for the port of a Vpc's router: the name of the Vpc. */
  portOf: 'kiln.io/port-of',
  /** On a Node that Kiln labelled as a gateway node: the ConfigMap that names it. */
  gatewayOf: 'kiln.io/gateway-of',
  /** On an OvnSnatRule of the default Vpc: `everything` or `routes`, what leaves by its external Subnet. */
  outgoing: 'kiln.io/outgoing',
  /** On a Vip or an EIP: its allocated address, as JSON. */
  given: 'kiln.io/given',
  /** On a Namespace: `true`, or names of Subnets that its pods wait for. */
  awaitSubnet: 'kiln.io/await-subnet',
  /** On a Namespace: `true`, or names of IPPools that its pods wait for. */
  awaitIpPool: 'kiln.io/await-ip-pool',
  /** On a Namespace: `report`, `rebind` or `evict`. */
  misbound: 'kiln.io/misbound',
  /** On a Vpc or a Namespace: `on`, `report` or `off`. */
  gc: 'kiln.io/gc',
  /** On the default Vpc: nothing is collected while it is there; its author, time and reason, as JSON or any text. */
  gcPause: 'kiln.io/gc-pause',
  /** On the default Vpc: how many rows may be collected, and until when, as JSON. */
  gcApproval: 'kiln.io/gc-approval',
  /** On a Subnet: its spec as it was last accepted, as JSON. */
  acceptedSpec: 'kiln.io/accepted-spec',
  /** On a Subnet: comma-separated namespaces that may name it, in addition to those bound to it. */
  admitNamespaces: 'kiln.io/admit-namespaces',
  /** On a Subnet: `true` allows pods to turn off port security. */
  allowPortSecurityOff: 'kiln.io/allow-port-security-off',
  /** On a Subnet: `true` allows ports to receive frames for any address. */
  allowLayer2Forward: 'kiln.io/allow-layer2-forward',
  /** On a Subnet: `true` lets gateway, mask and MTU change under running pods, whose interfaces keep the old ones. */
  allowChangeUnderPods: 'kiln.io/allow-change-under-pods',
  /** On a Subnet: the MTU that its pods have, while it is not the default or not the requested one. */
  mtu: 'kiln.io/mtu',
  /** JSON list of conditions, on kinds whose schema has none. */
  conditions: 'kiln.io/conditions',
  /** On an IP object: which replica last wrote it to check that its cache of IP objects is current, and when. */
  seen: 'kiln.io/seen',
  /** On the controller's Lease: the version of the leader. */
  version: 'kiln.io/version',
  /** On the controller's Lease: the network settings of the leader, as JSON. */
  settings: 'kiln.io/settings',
  /** On the controller's Lease: why the Northbound database rejects all transactions of the leader. */
  northboundRefusal: 'kiln.io/northbound-refusal',
  /** On the controller's Lease: why the leader cannot follow the Northbound database. */
  northboundLoss: 'kiln.io/northbound-loss',
  /** On the controller's Lease: why the leader cannot write its journal. */
  journalFailure: 'kiln.io/journal-failure',
  /** On the controller's Lease: why the leader collects no rows for now. */
  collectionPause: 'kiln.io/collection-pause',
} as const;

/** The condition of a pod with a network of Kiln; on a node, it is in an annotation. */
export const POD_CONDITION = 'kiln.io/NetworkBound';
/** The condition of a pod that requests a feature that is not implemented. */
export const POD_UNIMPLEMENTED = 'kiln.io/NotCarriedOut';
/** The condition of a pod with an annotation that has no effect. */
export const POD_INEFFECTIVE = 'kiln.io/WithoutEffect';
/** The condition of a pod that requests external addresses. */
export const POD_TRANSLATED = 'kiln.io/Translated';
/** The conditions of pods that Kiln writes. */
export const POD_CONDITIONS: readonly string[] = [POD_CONDITION, POD_UNIMPLEMENTED, POD_INEFFECTIVE, POD_TRANSLATED];

export const labelKey = {
  subnet: 'ovn.kubernetes.io/subnet',
  nodeName: 'ovn.kubernetes.io/node-name',
  /** On an IP `true` or `false`; on a Vip empty while unused, else the port that uses it. */
  ipReserved: 'ovn.kubernetes.io/ip_reserved',
  vpc: 'ovn.kubernetes.io/vpc',
  vpcLb: 'ovn.kubernetes.io/vpc_lb',
  /** `true` on a Vpc that shows a foreign router, and on a Subnet that shows a switch of it. */
  vpcExternal: 'ovn.kubernetes.io/vpc_external',
  vpcDnatExternalPort: 'ovn.kubernetes.io/vpc_dnat_eport',
  ovnEipType: 'ovn.kubernetes.io/ovn_eip_type',
  eipV4: 'ovn.kubernetes.io/eip_v4_ip',
  eipV6: 'ovn.kubernetes.io/eip_v6_ip',
  externalGateway: 'ovn.kubernetes.io/external-gw',
  interconnectionGateway: 'ovn.kubernetes.io/ic-gw',
  nodeExternalGateway: 'ovn.kubernetes.io/node-ext-gw',
  vpcNatGateway: 'ovn.kubernetes.io/vpc-nat-gw',
  vpcNatGatewayName: 'ovn.kubernetes.io/vpc-nat-gw-name',
  vpcDns: 'ovn.kubernetes.io/vpc-dns',
  vpcEgressGateway: 'ovn.kubernetes.io/vpc-egress-gateway',
  qos: 'ovn.kubernetes.io/qos',
  ovsDatapathType: 'ovn.kubernetes.io/ovs_dp_type',
} as const;

/**
 * An address as a label value: in IPv6, `-` replaces `:`, and a `0` is added where the value would begin or end with `-`. Empty stays
 * empty.
 */
export const addressLabelValue = (address: string): string => {
  const dashed = address.replaceAll(':', '-');
  return `${dashed.startsWith('-') ? '0' : ''}${dashed}${dashed.endsWith('-') ? '0' : ''}`;
};
