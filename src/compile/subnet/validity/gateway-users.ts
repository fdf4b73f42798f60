/**
 * What running pods and nodes have of a Subnet, according to their annotations, from which the node agents configured them: routes through
 * its gateway, the masks of its networks. Neither changes while the pod runs.
 */
import type { ReadPodAnnotation } from '../../../api/annotations.ts';
import type { Labels } from '../../../api/kubernetes/meta.ts';
import { attachmentProvider, subnetProvider } from '../../../api/names.ts';
import { parseNetworkSelections } from '../../../api/pod/network-selection.ts';
import { annotationKey, DEFAULT_PROVIDER, podAnnotation } from '../../../api/well-known.ts';
import type { Family } from '../../../net/address.ts';
import { canonicalAddress, parseAddress } from '../../../net/address.ts';
import type { Cidr } from '../../../net/cidr.ts';
import { cidrCovers, formatCidr, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { PodView } from '../../pod/view/pod-view.ts';
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
  return usersOf(world, subnet, ({ gateways }) => gateways.includes(`${subnet} ${gateway}`));
}

/**
 * Running pods that look for every address of a wider network than the requested one on their own switch. Computed only while a narrower
 * network is requested. Cost: one pass over the Subnet's pods.
 */
export function maskUsers(world: World, subnet: string, requested: Cidr): GatewayUsers {
  const isWider = (text: string): boolean => {
    const mask = parseCidr(text);
    return mask !== undefined && mask.family === requested.family && mask.prefix < requested.prefix && cidrCovers(mask, requested);
  };
  return usersOf(world, subnet, ({ masks }) => masks.some((mask) => mask.subnet === subnet && isWider(mask.cidr)), true);
}

/** Running pods with an interface of OVN in a Subnet. Cost: the same. */
export function podsInSubnet(world: World, subnet: string): GatewayUsers {
  return usersOf(world, subnet, ({ subnets }) => subnets.includes(subnet), true);
}

function usersOf(world: World, subnet: string, uses: (configured: Configured) => boolean, podsOnly = false): GatewayUsers {
  const pods = [...world.pods.bucket('allocated', subnet)].filter((pod) => uses(world.ask(configurationOfPod, pod)));
  const nodes = podsOnly
    ? []
    : [...world.nodes.bucket('allocated', subnet)].filter((node) => uses({ ...NOT_CONFIGURED, gateways: world.ask(gatewaysOfNode, node) }));
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

interface Configured {
  /** `<subnet> <address>` of each next hop in a route of the pod. */
  readonly gateways: readonly string[];
  /** Subnets of its interfaces. */
  readonly subnets: readonly string[];
  /** Networks whose masks its interfaces have, in canonical form. */
  readonly masks: readonly { readonly subnet: string; readonly cidr: string }[];
}

const NOT_CONFIGURED: Configured = { gateways: [], subnets: [], masks: [] };

/** None for a pod that is not configured yet, has finished, or claims an address without a proof. */
const configurationOfPod: Query<Configured> = defineQuery('pod-configuration', (world, key) => {
  const view = world.ask(podView, key);
  if (view?.alive !== true) return NOT_CONFIGURED;
  const { annotations } = view;
  const gateways: string[] = [];
  const subnets: string[] = [];
  const masks: Configured['masks'][number][] = [];
  for (const provider of allocatedProviders(view)) {
    const valueOf = textOf(annotations, provider);
    const subnet = valueOf('logical_switch');
    if (subnet === '') continue;
    subnets.push(subnet);
    masks.push(...masksOf(view, provider).map((mask) => ({ subnet, cidr: formatCidr(mask) })));
    const hops = [
      ...(hasDefaultRoute(view.namespace, annotations, provider) ? defaultHops(valueOf) : []),
      ...staticHops(valueOf('routes')),
    ];
    gateways.push(...hops.map((hop) => `${subnet} ${hop}`));
  }
  return { gateways: [...new Set(gateways)], subnets: [...new Set(subnets)], masks };
});

/** Those of the families of which it has an address. */
function masksOf({ annotations, masks }: PodView, provider: string): readonly Cidr[] {
  const families = familiesOf(annotations[podAnnotation(provider, 'ip_address')] ?? '');
  return splitList(masks[podAnnotation(provider, 'cidr')] ?? '').flatMap((text) => {
    const mask = parseCidr(text);
    return mask !== undefined && families.has(mask.family) ? [mask] : [];
  });
}

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
  const families = familiesOf(valueOf('ip_address'));
  return splitList(valueOf('gateway')).flatMap((text) => {
    const address = parseAddress(text);
    return address !== undefined && families.has(address.family) ? (canonicalAddress(text) ?? []) : [];
  });
}

function familiesOf(addresses: string): ReadonlySet<Family | undefined> {
  return new Set(splitList(addresses).map((text) => parseAddress(text)?.family));
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
