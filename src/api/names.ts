/** How Kube-OVN names rows and objects after each other. A name is an identity: it must come out the same. */

import { DEFAULT_PROVIDER } from './well-known.ts';

/** What a provider says about the interface that it is for. */
export type Provider =
  | { readonly kind: 'default' }
  | { readonly kind: 'attachment'; readonly nad: string; readonly namespace: string; readonly interfaceName?: string }
  | { readonly kind: 'ipam-only'; readonly nad: string; readonly namespace: string }
  | { readonly kind: 'other'; readonly text: string };

/**
 * Reads a provider: empty or `ovn` (the default network), `<nad>.<namespace>.ovn` (an attachment that OVN serves),
 * `<nad>.<namespace>.ovn.<interface>` (the same, on a pod that has it more than once), `<nad>.<namespace>` (addresses
 * only). Names with dots fit none of them.
 */
export const parseProvider = (text: string): Provider => {
  if (text === '' || text === DEFAULT_PROVIDER) return { kind: 'default' };
  const [nad = '', namespace = '', third, fourth, ...more] = text.split('.');
  const other = { kind: 'other', text } as const;
  if (nad === '' || namespace === '' || more.length > 0) return other;
  if (third === undefined) return { kind: 'ipam-only', nad, namespace };
  if (third !== DEFAULT_PROVIDER || fourth === '') return other;
  return { kind: 'attachment', nad, namespace, ...(fourth !== undefined && { interfaceName: fourth }) };
};

/**
 * The NetworkAttachmentDefinition that a Subnet's provider names, and whether OVN carries its network: `<nad>.<namespace>.ovn` or
 * `<nad>.<namespace>`, the name maybe with dots, which no namespace has. Undefined of the default network and where no definition can have
 * that provider.
 */
export const attachmentOfProvider = (
  provider: string,
): { readonly namespace: string; readonly name: string; readonly kind: 'ovn' | 'ipam-only' } | undefined => {
  if (provider === '' || provider === DEFAULT_PROVIDER) return undefined;
  const parts = provider.split('.');
  const kind = parts.length > 2 && parts.at(-1) === DEFAULT_PROVIDER ? 'ovn' : 'ipam-only';
  const [namespace = '', ...name] = (kind === 'ovn' ? parts.slice(0, -1) : parts).toReversed();
  return namespace === '' || name.length === 0 ? undefined : { namespace, name: name.toReversed().join('.'), kind };
};

/** True when OVN serves a Subnet of this provider; any other provider is for addresses only and has no rows. */
export const isOvnProvider = (text: string): boolean => {
  if (text === '' || text === DEFAULT_PROVIDER) return true;
  const parts = text.split('.');
  return parts.length === 3 && parts[2] === DEFAULT_PROVIDER;
};

/** The provider of an attachment's Subnet and, where the pod has the attachment more than once, of one interface. */
export const attachmentProvider = (nad: string, namespace: string, interfaceName = ''): string =>
  `${nad}.${namespace}.${DEFAULT_PROVIDER}${interfaceName === '' ? '' : `.${interfaceName}`}`;

/** The provider that a Subnet has for the interface provider: without the interface. */
export const subnetProvider = (provider: string): string => {
  const parsed = parseProvider(provider);
  return parsed.kind === 'attachment' ? attachmentProvider(parsed.nad, parsed.namespace) : provider;
};

/** The port of a pod's interface, and its IP object. `pod` is the virtual machine's name for pods that run one. */
export const portName = (pod: string, namespace: string, provider: string): string =>
  provider === '' || provider === DEFAULT_PROVIDER ? `${pod}.${namespace}` : `${pod}.${namespace}.${provider}`;

/** The port of a node in the join Subnet, and its IP object. */
export const nodePortName = (node: string): string => `node-${node}`;

/** The switch's side of a link between a switch and a router. */
export const switchToRouterPort = (logicalSwitch: string, router: string): string => `${logicalSwitch}-${router}`;
/** The router's side of a link between a switch and a router. */
export const routerToSwitchPort = (router: string, logicalSwitch: string): string => `${router}-${logicalSwitch}`;
/** The port of `vpc` in a peering with `remote`. */
export const peerPort = (vpc: string, remote: string): string => `${vpc}-${remote}`;
/** The BFD port of a Vpc, and its chassis group. */
export const bfdPort = (vpc: string): string => `bfd@${vpc}`;

/** True for an IP object that belongs to its Subnet, not to a pod or node: of an underlay Subnet's link to the overlay, of a multicast querier. */
export const isSubnetOwnedIp = (name: string): boolean => name.startsWith('u2o-interconnection.') || name.startsWith('mcast-querier.');

/**
 * A name fit for port groups and address sets, which allow letters, digits, `_` and `.` only. `a-b` and `a.b` come
 * out equal: the caller finds the collision by the rows' identity. No match of OVN can name a group that begins with a digit (Kube-OVN
 * makes such groups, and the policies that name them do nothing): it gets a `_`, which is in no object's name.
 */
export const groupName = (name: string): string => (/^\d/.test(name) ? '_' : '') + name.replaceAll('-', '.');

/** Pods of a distributed Subnet on one node. */
export const subnetNodePortGroup = (subnet: string, node: string): string => groupName(`${subnet}.${node}`);
/** All pods of the default Vpc on one node. */
export const nodePortGroup = (node: string): string => groupName(nodePortName(node));
/** The addresses of a port group's ports, which northd keeps. */
export const portGroupAddressSet = (portGroup: string, family: 4 | 6): string => `${portGroup}_ip${family}`;
/** Addresses that ports of a distributed Subnet on one node send from beside their own. */
export const furtherAddressSet = (subnet: string, node: string, family: 4 | 6): string =>
  `${subnetNodePortGroup(subnet, node)}.further_ip${family}`;
/** The virtual port of the IPv6 address of a Vip of both families; that of the IPv4 address has the name of the Vip. */
export const vipPortV6 = (vip: string): string => `${vip}-ip6`;
/** The addresses of an IPPool; of a pool of both families, the IPv4 ones. */
export const ipPoolAddressSet = (pool: string): string => groupName(pool);
/** The IPv6 addresses of an IPPool of both families: OVN rejects a match that names a set of both. */
export const ipPoolAddressSetV6 = (pool: string): string => `${groupName(pool)}_ip6`;

export type LoadBalancerProtocol = 'tcp' | 'udp' | 'sctp';

/** A load balancer of a Vpc that is not the default one (whose names are settings). */
export const vpcLoadBalancer = (vpc: string, protocol: LoadBalancerProtocol, session: boolean): string =>
  `vpc-${vpc}-${protocol}-${session ? 'sess-load' : 'load'}`;
/** The default names of the default Vpc's load balancers. */
export const clusterLoadBalancer = (protocol: LoadBalancerProtocol, session: boolean): string =>
  `cluster-${protocol}-${session ? 'session-' : ''}loadbalancer`;
