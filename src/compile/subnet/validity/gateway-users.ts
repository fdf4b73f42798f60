/**
 * Running pods and nodes with routes through the gateway of a Subnet, according to their annotations, from which the node agents configured
 * them. A route in a pod does not change while the pod runs.
 */
import type { ReadPodAnnotation } from '../../../api/annotations.ts';
import type { Labels } from '../../../api/kubernetes/meta.ts';
import { attachmentProvider, subnetProvider } from '../../../api/names.ts';
import { parseNetworkSelections } from '../../../api/pod/network-selection.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../../../api/well-known.ts';
import { canonicalAddress, parseAddress } from '../../../net/address.ts';
import { splitList } from '../../../net/dual.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { allocatedProviders, podView } from '../../pod/view/pod-view.ts';

/** Limit of names in a message. */
const NAMED = 5;

export interface GatewayUsers {
  readonly count: number;
  /** `<kind> <key>` of the first five, sorted. */
  readonly names: readonly string[];
}

const NONE: GatewayUsers = { count: 0, names: [] };

/**
 * Users of a gateway address in a Subnet. Computed only while another gateway is requested. Cost: one pass over the Subnet's pods and
 * nodes.
 */
export function gatewayUsers(world: World, subnet: string, gateway: string): GatewayUsers {
  return usersOf(world, subnet, (gateways) => gateways.includes(`${subnet} ${gateway}`));
}

/** Running pods with an interface of OVN in a Subnet. Cost: the same. */
export function podsInSubnet(world: World, subnet: string): GatewayUsers {
  return usersOf(world, subnet, (_, subnets) => subnets.includes(subnet), true);
}

function usersOf(
  world: World,
  subnet: string,
  uses: (gateways: readonly string[], subnets: readonly string[]) => boolean,
  podsOnly = false,
): GatewayUsers {
  const pods = [...world.pods.bucket('allocated', subnet)].filter((pod) => {
    const { gateways, subnets } = world.ask(routesOfPod, pod);
    return uses(gateways, subnets);
  });
  const nodes = podsOnly ? [] : [...world.nodes.bucket('allocated', subnet)].filter((node) => uses(world.ask(gatewaysOfNode, node), []));
  const count = pods.length + nodes.length;
  if (count === 0) return NONE;
  const names = [
    ...pods
      .toSorted()
      .slice(0, NAMED)
      .map((pod) => `Pod ${pod}`),
    ...nodes.toSorted().map((node) => `Node ${node}`),
  ];
  return { count, names: names.slice(0, NAMED) };
}

/** As text, with the number of those that are not named. */
export function usersText({ count, names }: GatewayUsers): string {
  return names.join(', ') + (count > names.length ? ` and ${count - names.length} more` : '');
}

interface PodRoutes {
  /** `<subnet> <address>` of each next hop in a route of the pod. */
  readonly gateways: readonly string[];
  /** Subnets of its interfaces. */
  readonly subnets: readonly string[];
}

const NO_ROUTES: PodRoutes = { gateways: [], subnets: [] };

/** None for a pod that is not configured yet, has finished, or claims an address without a proof. */
const routesOfPod: Query<PodRoutes> = defineQuery('pod-routes', (world, key) => {
  const view = world.ask(podView, key);
  if (view?.alive !== true) return NO_ROUTES;
  const { annotations } = view;
  const gateways: string[] = [];
  const subnets: string[] = [];
  for (const provider of allocatedProviders(view)) {
    const valueOf = textOf(annotations, provider);
    const subnet = valueOf('logical_switch');
    if (subnet === '') continue;
    subnets.push(subnet);
    const hops = [
      ...(hasDefaultRoute(view.namespace, annotations, provider) ? defaultHops(valueOf) : []),
      ...staticHops(valueOf('routes')),
    ];
    gateways.push(...hops.map((hop) => `${subnet} ${hop}`));
  }
  return { gateways: [...new Set(gateways)], subnets: [...new Set(subnets)] };
});

const gatewaysOfNode: Query<readonly string[]> = defineQuery('node-gateways', (world, name) => {
  const valueOf = textOf(world.nodes.get(name)?.metadata.annotations ?? {}, DEFAULT_PROVIDER);
  return defaultHops(valueOf).map((hop) => `${valueOf('logical_switch')} ${hop}`);
});

type AnnotationReader = (suffix: ReadPodAnnotation) => string;

function textOf(annotations: Labels, provider: string): AnnotationReader {
  return (suffix) => (annotations[podAnnotation(provider, suffix)] ?? '').trim();
}

/** The node agent makes the default route on the pod's first interface, unless an annotation requests otherwise. */
function hasDefaultRoute(namespace: string, annotations: Labels, provider: string): boolean {
  const text = annotations[podAnnotation(provider, 'default_route')]?.trim() ?? '';
  if (text === 'true' || text === 'false') return text === 'true';
  if (provider === DEFAULT_PROVIDER) return true;
  const parsed = parseNetworkSelections(annotations[annotationKey.defaultNetworkAttachment] ?? '', namespace);
  return parsed.ok && parsed.selections.some((one) => attachmentProvider(one.name, one.namespace) === subnetProvider(provider));
}

/** Gateways of the families of which it has an address. */
function defaultHops(valueOf: AnnotationReader): readonly string[] {
  const families = new Set(splitList(valueOf('ip_address')).map((text) => parseAddress(text)?.family));
  return splitList(valueOf('gateway')).flatMap((text) => {
    const address = parseAddress(text);
    return address !== undefined && families.has(address.family) ? (canonicalAddress(text) ?? []) : [];
  });
}

/** The next hops in annotation `routes`; none in one that cannot be read, which the pod reports. */
function staticHops(text: string): readonly string[] {
  if (text === '') return [];
  try {
    const routes: unknown = JSON.parse(text);
    if (!Array.isArray(routes)) return [];
    return routes.flatMap((route) => {
      const hop: unknown = typeof route === 'object' && route !== null ? (route as { readonly gw?: unknown }).gw : undefined;
      return typeof hop === 'string' ? (canonicalAddress(hop) ?? []) : [];
    });
  } catch {
    return [];
  }
}
