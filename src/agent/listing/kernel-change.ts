/** Lines of `ip monitor`: what changed on the node. */

/** Run with labels, each change in one line. Without neighbours, which change all the time. */
export const MONITOR = ['ip', '-o', 'monitor', 'label', 'link', 'address', 'route', 'rule', 'netconf'] as const;

export type KernelPart = 'LINK' | 'ADDR' | 'ROUTE' | 'RULE' | 'NETCONF';

export interface KernelChange {
  readonly part: KernelPart;
  /** As `ip` prints it, without the label. */
  readonly text: string;
  /** It is about the node's end of a pod's device, by its name. */
  readonly ofPod: boolean;
}

/** @returns undefined for a line of another kind */
export function kernelChange(line: string): KernelChange | undefined {
  const found = /^\[(LINK|ADDR|ROUTE|RULE|NETCONF)\](.*)$/.exec(line);
  if (found === null) return undefined;
  const [, part = '', text = ''] = found;
  return { part: part as KernelPart, text, ofPod: POD_END.test(text) };
}

/** `4: 0123456789ab_h@if2: <…>`, `… dev 0123456789ab_h …`, `inet 0123456789ab_h forwarding off` */
const POD_END = /(?:^|[\s:])[0-9a-z]\S{2,}_h(?=[@:\s]|$)/;
