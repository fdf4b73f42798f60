/** What a ProviderNetwork is on one node, and the labels and annotations by which the node's agent and the controller speak of it. */
import { selectorMatches } from '../../../api/kubernetes/label-selector.ts';
import type { Labels } from '../../../api/kubernetes/meta.ts';
import type { ProviderNetworkSpec } from '../../../api/kinds/provider-network.ts';

/** Labels and annotations of a Node, `<network>.provider-network.kubernetes.io/<suffix>`. */
export const NODE_NETWORK_LABELS = ['ready', 'interface', 'mtu', 'vlan_interfaces', 'exclude'] as const;
export const NODE_NETWORK_ANNOTATIONS = ['err_mesg', 'warning'] as const;
export type NodeNetworkLabel = (typeof NODE_NETWORK_LABELS)[number];
export type NodeNetworkAnnotation = (typeof NODE_NETWORK_ANNOTATIONS)[number];

const DOMAIN = '.provider-network.kubernetes.io/';

export function nodeNetworkKey(network: string, suffix: NodeNetworkLabel | NodeNetworkAnnotation): string {
  return `${network}${DOMAIN}${suffix}`;
}

/** The network of such a key with one of the suffixes; undefined for any other key. */
export function networkOfNodeKey(key: string, suffixes: readonly string[]): string | undefined {
  const at = key.indexOf(DOMAIN);
  return at <= 0 || !suffixes.includes(key.slice(at + DOMAIN.length)) ? undefined : key.slice(0, at);
}

/** Whether a node is left out. A selector decides alone, if there is one. */
export function isExcluded({ nodeSelector, excludeNodes = [] }: ProviderNetworkSpec, node: string, labels: Labels): boolean {
  return nodeSelector === undefined ? excludeNodes.includes(node) : !selectorMatches(nodeSelector, labels);
}

/** The node's interface into the network. */
export function interfaceOn({ defaultInterface, customInterfaces = [] }: ProviderNetworkSpec, node: string): string {
  const custom = customInterfaces.find(({ nodes = [] }) => nodes.includes(node))?.interface ?? '';
  return custom === '' ? defaultInterface : custom;
}

/** Longest name of a device in Linux. */
export const LONGEST_DEVICE = 15;

export function providerBridge(network: string): string {
  return `br-${network}`;
}
