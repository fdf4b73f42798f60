/** The mark of the agent's links: their alias, which `ip -details link` shows. A link without it is never removed. */
import type { AttachmentKey } from '../world/attachment.ts';

const PREFIX = 'kiln:';

export function linkAlias(attachment: AttachmentKey): string {
  return `${PREFIX}${attachment}`;
}

export function isOurAlias(alias: string): boolean {
  return alias.startsWith(PREFIX);
}
