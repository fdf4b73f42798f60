/** Lines of `ip monitor`: what changed on the node, and in the network namespaces that the node has links to. */

const OBJECTS = ['label', 'link', 'address', 'route', 'rule', 'netconf'] as const;

/** Run with labels, each change in one line. Without neighbours, which change all the time. */
export const MONITOR = ['ip', '-o', 'monitor', 'all-nsid', ...OBJECTS] as const;

/** The same of the node's own namespace alone: without capability NET_BROADCAST the kernel tells nothing of others. */
export const OWN_MONITOR = ['ip', '-o', 'monitor', ...OBJECTS] as const;

export type KernelPart = 'LINK' | 'ADDR' | 'ROUTE' | 'RULE' | 'NETCONF';

export interface KernelChange {
  readonly part: KernelPart;
  /** As `ip` prints it, without the label. */
  readonly text: string;
  /** It is about the node's end of a pod's device, by its name. */
  readonly ofPod: boolean;
  /**
   * The number by which the node knows the namespace of the change, as its links have it (`link_netnsid`); missing for the node's own. Names of
   * devices in the text of addresses and routes are not those of that namespace.
   */
  readonly inside?: number;
}

/** @returns undefined for a line of another kind */
export function kernelChange(line: string): KernelChange | undefined {
  const found = /^(?:\[nsid (current|\d+)\])?\[(LINK|ADDR|ROUTE|RULE|NETCONF)\](.*)$/.exec(line);
  if (found === null) return undefined;
  const [, namespace = 'current', part = '', text = ''] = found;
  const change = { part: part as KernelPart, text };
  return namespace === 'current' ? { ...change, ofPod: POD_END.test(text) } : { ...change, ofPod: false, inside: Number(namespace) };
}

/** Whether the monitor says that it may not listen to all namespaces, or does not know how. */
export function isRefusal(warning: string): boolean {
  return /all.?nsid/i.test(warning);
}

/** `4: 0123456789ab_h@if2: <…>`, `… dev 0123456789ab_h …`, `inet 0123456789ab_h forwarding off` */
const POD_END = /(?:^|[\s:])[0-9A-Za-z]\S*_h(?=[@:\s]|$)/;
