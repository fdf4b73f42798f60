import { readFileSync } from 'node:fs';
import { onPath } from '../programs/executable.ts';

const PROGRAMS = ['ip', 'nsenter', 'ping', 'sysctl', 'ethtool', 'nft', 'conntrack', 'socat'] as const;

/** The host's programs that nodes with packets need, and that are not installed. */
export function missingPrograms(): readonly string[] {
  return PROGRAMS.filter((program) => onPath(program) === undefined);
}

/** Bits in the masks of `/proc/PID/status`. */
const CAPABILITIES = { CAP_NET_ADMIN: 12, CAP_SYS_ADMIN: 21 } as const;

/** Rights that this process does not have: root in a container has few. */
function missingCapabilities(): readonly string[] {
  const mask = BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`);
  return Object.entries(CAPABILITIES).flatMap(([name, bit]) => (((mask >> BigInt(bit)) & 1n) === 1n ? [] : [name]));
}

/** Why nodes that carry packets cannot run here; undefined if they can. OVN is not looked for. */
export function whyNoPackets(): string | undefined {
  if (process.platform !== 'linux') return 'nodes that carry packets need Linux';
  if (process.getuid?.() !== 0) return 'nodes that carry packets need root';
  const rights = missingCapabilities();
  if (rights.length > 0) return `nodes that carry packets need ${rights.join(' and ')}, which root has not in this container`;
  const missing = missingPrograms();
  return missing.length === 0 ? undefined : `nodes that carry packets need ${missing.join(', ')}: run \`node scripts/setup.mjs test\``;
}
