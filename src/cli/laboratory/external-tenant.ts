/** The third tenant of `kiln start --check`: objects of a Vpc with an external network, an EIP for each use, and a rule of each kind. */
import type { Resource } from '../../kube/resource.ts';
import type { DemoObject } from './demo.ts';
import { DEMO_PODS, NAMESPACES, podOn, SUBNETS, VPCS } from './demo.ts';

const custom = (kind: string, plural: string): Resource => ({ group: 'kubeovn.io', version: 'v1', plural, kind, namespaced: false });

export const EIPS = custom('OvnEip', 'ovn-eips');
export const FIPS = custom('OvnFip', 'ovn-fips');
export const SNATS = custom('OvnSnatRule', 'ovn-snat-rules');
export const DNATS = custom('OvnDnatRule', 'ovn-dnat-rules');
export const VLANS = custom('Vlan', 'vlans');
export const PROVIDER_NETWORKS = custom('ProviderNetwork', 'provider-networks');
export const LAB_NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };

export const TENANT = 'green';
export const EXTERNAL = 'green-external';
export const INSIDE = 'green-web';
/** Namespace of a pod in the external Subnet: a host outside of the Vpc. */
export const BEYOND = 'green-beyond';
/** Interface of the nodes in the external network. */
export const INTERFACE = 'eth1';
/** A host of the external network, where packets are sent. */
export const OUTSIDE = '172.31.255.1';
export const ADDRESSES = { central: '172.31.255.20', distributed: '172.31.255.30', shared: '172.31.255.40' } as const;
export const PORT = { external: 8080, internal: 80 } as const;

/** `fip`: has the centralized OvnFip, and is behind the OvnDnatRule; `near`: has the distributed one; `plain`: sends by the OvnSnatRule. */
export const TENANT_PODS = ['fip', 'near', 'plain'].map((name) => ({ namespace: INSIDE, name }));
export const BEYOND_POD = { namespace: BEYOND, name: 'host' };

/** The external network is a physical one, of the nodes' further interfaces: OVN distributes translations in such networks alone. */
export function networkObjects(): readonly DemoObject[] {
  return [
    ...[INSIDE, BEYOND].map((name) => ({ resource: NAMESPACES, object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name } } })),
    made(PROVIDER_NETWORKS, TENANT, { defaultInterface: INTERFACE }),
    made(VLANS, TENANT, { id: 0, provider: TENANT }),
    made(SUBNETS, EXTERNAL, {
      cidrBlock: '172.31.255.0/24',
      gateway: OUTSIDE,
      namespaces: [BEYOND],
      vlan: TENANT,
    }),
    made(VPCS, TENANT, { namespaces: [INSIDE], enableExternal: true, extraExternalSubnets: [EXTERNAL] }),
    made(SUBNETS, INSIDE, { vpc: TENANT, cidrBlock: '10.10.1.0/24', namespaces: [INSIDE] }),
  ];
}

/** @param node of the tenant's pods; undefined: any */
export function podObjects(node: string | undefined): readonly DemoObject[] {
  return [...TENANT_PODS, BEYOND_POD].map((pod) => ({ resource: DEMO_PODS, object: podOn(node, pod) }));
}

export function eipObjects(): readonly DemoObject[] {
  return Object.entries(ADDRESSES).map(([name, v4Ip]) => made(EIPS, `green-${name}`, { externalSubnet: EXTERNAL, v4Ip }));
}

export function ruleObjects(): readonly DemoObject[] {
  const port = { protocol: 'tcp', externalPort: String(PORT.external), internalPort: String(PORT.internal) };
  return [
    made(FIPS, 'green-central', { ovnEip: 'green-central', ipName: `fip.${INSIDE}`, type: 'centralized' }),
    made(FIPS, 'green-distributed', { ovnEip: 'green-distributed', ipName: `near.${INSIDE}`, type: 'distributed' }),
    made(SNATS, 'green-shared', { ovnEip: 'green-shared', vpcSubnet: INSIDE }),
    made(DNATS, 'green-shared', { ovnEip: 'green-shared', ipName: `fip.${INSIDE}`, ...port }),
  ];
}

function made(resource: Resource, name: string, spec: unknown): DemoObject {
  return { resource, object: { apiVersion: 'kubeovn.io/v1', kind: resource.kind, metadata: { name }, spec } };
}
