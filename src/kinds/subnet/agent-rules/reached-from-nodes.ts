import type { NodeSettings } from '../../../agent/rules/node-settings.ts';
import type { NodeSubnet } from '../agent-table.ts';

/** An overlay Subnet of the default Vpc. */
export function isReachedFromNodes({ vpc, overlay }: NodeSubnet, { defaultVpc }: NodeSettings): boolean {
  return overlay && (vpc === '' || vpc === defaultVpc);
}
