/**
 * The mark of the agent's links: their alias, which `ip -details link` shows. A link without it is never removed. It names the attachment as
 * well, so that a pod that runs keeps its interface when its port was removed, or the Open_vSwitch database replaced, while no agent ran.
 */
import { type Attachment, attachmentKey } from '../world/attachment.ts';

const PREFIX = 'kiln:';
/** What Linux keeps. */
const MOST_BYTES = 255;

/**
 * `kiln:<container>/<interface> <namespace>/<pod> <provider> <path of the network namespace>`; the first part alone if all is too long, as much of it
 * as there is room for: the id of a container has no greatest length.
 */
export function linkAlias({ key, pod, provider, namespacePath }: Omit<Attachment, 'order'>): string {
  const whole = `${PREFIX}${key} ${pod.namespace}/${pod.name} ${provider} ${namespacePath}`;
  if (Buffer.byteLength(whole) <= MOST_BYTES) return whole;
  return Buffer.from(`${PREFIX}${key}`)
    .subarray(0, MOST_BYTES)
    .toString('latin1')
    .replaceAll(/[^\x21-\x7e]/g, '_');
}

export function isOurAlias(alias: string): boolean {
  return alias.startsWith(PREFIX);
}

/** Undefined for a link of another program, and for an alias that does not name all. */
export function attachmentOf(alias: string): Omit<Attachment, 'order'> | undefined {
  const found = /^kiln:(\S+)\/(\S+) (\S+)\/(\S+) (\S+) (\S+)$/.exec(alias);
  if (found === null) return undefined;
  const [, containerId = '', interfaceName = '', namespace = '', name = '', provider = '', namespacePath = ''] = found;
  const key = attachmentKey(containerId, interfaceName);
  return { key, containerId, interfaceName, namespacePath, pod: { namespace, name }, provider, routes: [] };
}
