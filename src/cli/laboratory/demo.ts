/** The objects that `npm start` shows: two tenants with the same networks. Plain objects, as a user would apply them. */
import type { KubeObject, Resource } from '../../kube/resource.ts';

export interface DemoObject {
  readonly resource: Resource;
  readonly object: KubeObject & { readonly spec?: unknown };
}

export interface DemoPod {
  readonly tenant: string;
  readonly namespace: string;
  readonly name: string;
  readonly subnet: string;
  /** Of its Subnet. */
  readonly gateway: string;
}

export const TENANTS = ['red', 'blue'] as const;
const TIERS = [
  { tier: 'web', cidr: '10.10.1.0/24', pods: 2 },
  { tier: 'db', cidr: '10.10.2.0/24', pods: 1 },
] as const;

export const VPCS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'vpcs', kind: 'Vpc', namespaced: false };
export const SUBNETS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'subnets', kind: 'Subnet', namespaced: false };
export const IPS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'ips', kind: 'IP', namespaced: false };
export const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
export const DEMO_PODS: Resource = { group: '', version: 'v1', plural: 'pods', kind: 'Pod', namespaced: true };

export function demoPods(): DemoPod[] {
  return TENANTS.flatMap((tenant) =>
    TIERS.flatMap(({ tier, cidr, pods }) =>
      Array.from({ length: pods }, (_, i) => ({
        tenant,
        namespace: `${tenant}-${tier}`,
        name: `${tier}-${i}`,
        subnet: `${tenant}-${tier}`,
        gateway: cidr.replace(/0\/\d+$/, '1'),
      })),
    ),
  );
}

/** Pods of the default Vpc, which nodes and hosts outside reach. They are no part of the demo. */
export const PLAIN_PODS = [
  { namespace: 'default', name: 'kiln-check-0' },
  { namespace: 'default', name: 'kiln-check-1' },
] as const;

/** @param nodeName undefined: the scheduler chooses the node */
export function podOn(
  nodeName: string | undefined,
  { namespace, name }: { readonly namespace: string; readonly name: string },
): DemoObject['object'] {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, namespace },
    spec: {
      ...(nodeName === undefined ? {} : { nodeName }),
      containers: [{ name: 'main', image: 'busybox' }],
      terminationGracePeriodSeconds: 0,
    },
  };
}

/** In an order in which no object names one that does not exist yet. */
export function demoObjects(): DemoObject[] {
  return [
    ...TENANTS.flatMap((tenant) =>
      TIERS.map(({ tier }) => ({
        resource: NAMESPACES,
        object: { apiVersion: 'v1', kind: 'Namespace', metadata: { name: `${tenant}-${tier}` } },
      })),
    ),
    ...TENANTS.map((tenant) => custom(VPCS, tenant, { namespaces: TIERS.map(({ tier }) => `${tenant}-${tier}`) })),
    ...TENANTS.flatMap((tenant) =>
      TIERS.map(({ tier, cidr }) =>
        custom(SUBNETS, `${tenant}-${tier}`, { vpc: tenant, cidrBlock: cidr, namespaces: [`${tenant}-${tier}`] }),
      ),
    ),
    ...demoPods().map((pod) => ({ resource: DEMO_PODS, object: podOn(undefined, pod) })),
  ];
}

function custom(resource: Resource, name: string, spec: unknown): DemoObject {
  return { resource, object: { apiVersion: 'kubeovn.io/v1', kind: resource.kind, metadata: { name }, spec } };
}
