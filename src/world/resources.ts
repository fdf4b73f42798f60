/** The Kubernetes resources that Kiln observes or writes, by plural name. */
export interface ResourceTraits {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  /** Whether the kind has a status subresource; without one, Kiln patches the object as a whole. */
  readonly statusSubresource: boolean;
  /** Where the conditions are: a kind without conditions in its schema keeps them as JSON in an annotation. */
  readonly conditions: 'status' | 'annotation' | 'none';
}

function kubeovn(plural: string, kind: string, more: Partial<ResourceTraits> = {}): ResourceTraits {
  return { group: 'kubeovn.io', version: 'v1', plural, kind, namespaced: false, statusSubresource: true, conditions: 'status', ...more };
}

function core(group: string, version: string, plural: string, kind: string, namespaced = true): ResourceTraits {
  return { group, version, plural, kind, namespaced, statusSubresource: true, conditions: 'none' };
}

export const RESOURCES = {
  vpcs: kubeovn('vpcs', 'Vpc'),
  subnets: kubeovn('subnets', 'Subnet'),
  ips: kubeovn('ips', 'IP', { statusSubresource: false, conditions: 'annotation' }),
  ippools: kubeovn('ippools', 'IPPool'),
  pods: { ...core('', 'v1', 'pods', 'Pod'), conditions: 'status' },
  namespaces: core('', 'v1', 'namespaces', 'Namespace', false),
  // The kubelet owns the conditions in its status.
  nodes: { ...core('', 'v1', 'nodes', 'Node', false), conditions: 'annotation' },
  statefulsets: core('apps', 'v1', 'statefulsets', 'StatefulSet'),
  'network-attachment-definitions': {
    ...core('k8s.cni.cncf.io', 'v1', 'network-attachment-definitions', 'NetworkAttachmentDefinition'),
    conditions: 'annotation',
  },
  virtualmachines: core('kubevirt.io', 'v1', 'virtualmachines', 'VirtualMachine'),
  virtualmachineinstances: core('kubevirt.io', 'v1', 'virtualmachineinstances', 'VirtualMachineInstance'),
  virtualmachineinstancemigrations: core('kubevirt.io', 'v1', 'virtualmachineinstancemigrations', 'VirtualMachineInstanceMigration'),
  services: core('', 'v1', 'services', 'Service'),
  // The condition stays on the object: an Event is gone after an hour, and the user who relies on a policy may look later.
  networkpolicies: { ...core('networking.k8s.io', 'v1', 'networkpolicies', 'NetworkPolicy'), conditions: 'annotation' },
  'ovn-eips': kubeovn('ovn-eips', 'OvnEip'),
  'ovn-fips': kubeovn('ovn-fips', 'OvnFip'),
  'ovn-snat-rules': kubeovn('ovn-snat-rules', 'OvnSnatRule'),
  'ovn-dnat-rules': kubeovn('ovn-dnat-rules', 'OvnDnatRule'),
  vips: kubeovn('vips', 'Vip', { statusSubresource: false }),
  'security-groups': kubeovn('security-groups', 'SecurityGroup', { conditions: 'annotation' }),
  vlans: kubeovn('vlans', 'Vlan'),
  // Each of the conditions in its status is about a node.
  'provider-networks': kubeovn('provider-networks', 'ProviderNetwork', { conditions: 'annotation' }),
  'vpc-nat-gateways': kubeovn('vpc-nat-gateways', 'VpcNatGateway', { conditions: 'annotation' }),
  'vpc-egress-gateways': kubeovn('vpc-egress-gateways', 'VpcEgressGateway', { namespaced: true }),
  'vpc-dnses': kubeovn('vpc-dnses', 'VpcDns'),
  'switch-lb-rules': kubeovn('switch-lb-rules', 'SwitchLBRule'),
  'router-lb-rules': kubeovn('router-lb-rules', 'RouterLBRule'),
  'iptables-eips': kubeovn('iptables-eips', 'IptablesEIP'),
  'iptables-fip-rules': kubeovn('iptables-fip-rules', 'IptablesFIPRule'),
  'iptables-snat-rules': kubeovn('iptables-snat-rules', 'IptablesSnatRule'),
  'iptables-dnat-rules': kubeovn('iptables-dnat-rules', 'IptablesDnatRule'),
  'bgp-confs': kubeovn('bgp-confs', 'BgpConf', { statusSubresource: false, conditions: 'annotation' }),
  'evpn-confs': kubeovn('evpn-confs', 'EvpnConf', { statusSubresource: false, conditions: 'annotation' }),
  dnsnameresolvers: kubeovn('dnsnameresolvers', 'DNSNameResolver', { conditions: 'annotation' }),
  'qos-policies': kubeovn('qos-policies', 'QoSPolicy'),
} as const satisfies Readonly<Record<string, ResourceTraits>>;

export type ResourceName = keyof typeof RESOURCES;

export function traitsOf(resource: ResourceName): ResourceTraits {
  return RESOURCES[resource];
}

const BY_KIND: ReadonlyMap<string, ResourceName> = new Map(
  (Object.entries(RESOURCES) as [ResourceName, ResourceTraits][]).map(([name, { kind }]) => [kind.toLowerCase(), name]),
);

/** @param kind in lower case, as in owner texts */
export function resourceOfKind(kind: string): ResourceName | undefined {
  return BY_KIND.get(kind);
}

/** `namespace/name`, or `name` for cluster scope. */
export function keyOf(object: { readonly metadata: { readonly namespace?: string; readonly name: string } }): string {
  const { namespace, name } = object.metadata;
  return namespace === undefined || namespace === '' ? name : `${namespace}/${name}`;
}

/** Namespace (empty for cluster scope) and name of a key. */
export function splitKey(key: string): { readonly namespace: string; readonly name: string } {
  const at = key.indexOf('/');
  return at === -1 ? { namespace: '', name: key } : { namespace: key.slice(0, at), name: key.slice(at + 1) };
}
