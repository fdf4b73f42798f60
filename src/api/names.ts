/** Kube-OVN's naming scheme for rows and objects. A name is an identity, so it must be exactly Kube-OVN's. */

import { DEFAULT_PROVIDER } from './well-known.ts';

/** The meaning of a provider: the interface that it names. */
export type Provider =
  | { readonly kind: 'default' }
  | { readonly kind: 'attachment'; readonly nad: string; readonly namespace: string; readonly interfaceName?: string }
  | { readonly kind: 'ipam-only'; readonly nad: string; readonly namespace: string }
  | { readonly kind: 'other'; readonly text: string };

/**
 * Parses a provider: empty or `ovn` (the default network), `<nad>.<namespace>.ovn` (an attachment in OVN),
 * `<nad>.<namespace>.ovn.<interface>` (the same, if the pod has it more than once), `<nad>.<namespace>` (addresses only). A text with more
 * dots is none of these.
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
 * The NetworkAttachmentDefinition of a Subnet's provider, and whether OVN implements its network: `<nad>.<namespace>.ovn` or
 * `<nad>.<namespace>`. The definition's name may contain dots, a namespace's name cannot. Undefined for the default network, and if no
 * definition can have that provider.
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

/** True if OVN implements Subnets of this provider; Subnets of any other provider only allocate addresses and have no rows. */
export const isOvnProvider = (text: string): boolean => {
  if (text === '' || text === DEFAULT_PROVIDER) return true;
  const parts = text.split('.');
  return parts.length === 3 && parts[2] === DEFAULT_PROVIDER;
};

/** The provider of an attachment's Subnet or, if the pod has the attachment more than once, of one interface. */
export const attachmentProvider = (nad: string, namespace: string, interfaceName = ''): string =>
  `${nad}.${namespace}.${DEFAULT_PROVIDER}${interfaceName === '' ? '' : `.${interfaceName}`}`;

/** The Subnet's provider for an interface's provider: without the interface. */
export const subnetProvider = (provider: string): string => {
  const parsed = parseProvider(provider);
  return parsed.kind === 'attachment' ? attachmentProvider(parsed.nad, parsed.namespace) : provider;
};

/** The port of a pod's interface, and its IP object. `pod` is the virtual machine's name for a pod that runs one. */
export const portName = (pod: string, namespace: string, provider: string): string =>
  provider === '' || provider === DEFAULT_PROVIDER ? `${pod}.${namespace}` : `${pod}.${namespace}.${provider}`;

/** The port of a node in the join Subnet, and its IP object. */
export const nodePortName = (node: string): string => `node-${node}`;

/** The switch's side of a link between a switch and a router. */
export const switchToRouterPort = (logicalSwitch: string, router: string): string => `${logicalSwitch}-${router}`;
/** The router's side of a link between a switch and a router. */
export const routerToSwitchPort = (router: string, logicalSwitch: string): string => `${router}-${logicalSwitch}`;
/** The port that connects the switch of an underlay Subnet to the network of the nodes. */
export const localnetPort = (logicalSwitch: string): string => `localnet.${logicalSwitch}`;
/** The virtual port of an address in `spec.vips` of a Subnet. */
export const subnetVipPort = (subnet: string, address: string): string => `${subnet}-vip-${address}`;
/** The port of `vpc` in a peering with `remote`. */
export const peerPort = (vpc: string, remote: string): string => `${vpc}-${remote}`;
/** The BFD port of a Vpc, and its chassis group. */
export const bfdPort = (vpc: string): string => `bfd@${vpc}`;

/**
 * True for an IP object that belongs to its Subnet instead of a pod or node: of an underlay Subnet's link to the overlay, or of a multicast
 * querier.
 */
export const isSubnetOwnedIp = (name: string): boolean => name.startsWith('u2o-interconnection.') || name.startsWith('mcast-querier.');

/**
 * A valid name for port groups and address sets, which allow letters, digits, `_` and `.` only. `a-b` and `a.b` have the same result: the
 * caller detects the collision by the rows' identity. No match of OVN can name a group that begins with a digit (Kube-OVN creates such
 * groups, and the policies that name them have no effect). Such a name gets the prefix `_`, which no object's name contains.
 */
export const groupName = (name: string): string => (/^\d/.test(name) ? '_' : '') + name.replaceAll('-', '.');

/** The pods of a distributed Subnet on one node. */
export const subnetNodePortGroup = (subnet: string, node: string): string => groupName(`${subnet}.${node}`);
/** All pods of the default Vpc on one node. */
export const nodePortGroup = (node: string): string => groupName(nodePortName(node));
/** The addresses of a port group's ports; northd maintains this set. */
export const portGroupAddressSet = (portGroup: string, family: 4 | 6): string => `${portGroup}_ip${family}`;
/**
 * Further addresses from which ports of a distributed Subnet on one node send. No set of ours ends as northd's sets do: a port group with the
 * rest of the name would have a set of the same name.
 */
export const furtherAddressSet = (subnet: string, node: string, family: 4 | 6): string =>
  `${subnetNodePortGroup(subnet, node)}_further_v${family}`;
/** The virtual port of the IPv6 address of a dual-stack Vip; the port of the IPv4 address has the Vip's name. */
export const vipPortV6 = (vip: string): string => `${vip}-ip6`;
/** The addresses of an IPPool; of a dual-stack pool, the IPv4 ones. */
export const ipPoolAddressSet = (pool: string): string => groupName(pool);
/** The IPv6 addresses of a dual-stack IPPool: OVN rejects a match with a set of both families. It ends otherwise than northd's sets. */
export const ipPoolAddressSetV6 = (pool: string): string => `${groupName(pool)}_v6`;

export type LoadBalancerProtocol = 'tcp' | 'udp' | 'sctp';

/** A load balancer of a custom Vpc (those of the default Vpc have names from the settings). */
export const vpcLoadBalancer = (vpc: string, protocol: LoadBalancerProtocol, session: boolean): string =>
  `vpc-${vpc}-${protocol}-${session ? 'sess-load' : 'load'}`;
/** The default names of the default Vpc's load balancers. */
export const clusterLoadBalancer = (protocol: LoadBalancerProtocol, session: boolean): string =>
  `cluster-${protocol}-${session ? 'session-' : ''}loadbalancer`;
