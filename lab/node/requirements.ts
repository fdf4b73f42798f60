import { onPath } from '../programs/executable.ts';

const PROGRAMS = ['ip', 'nsenter', 'ping', 'sysctl', 'ethtool', 'nft'] as const;

/** The host's programs that nodes with packets need, and that are not installed. */
export function missingPrograms(): readonly string[] {
  return PROGRAMS.filter((program) => onPath(program) === undefined);
}

/** Why nodes that carry packets cannot run here; undefined if they can. OVN is not looked for. */
export function whyNoPackets(): string | undefined {
  if (process.platform !== 'linux') return 'nodes that carry packets need Linux';
  if (process.getuid?.() !== 0) return 'nodes that carry packets need root';
  const missing = missingPrograms();
  return missing.length === 0 ? undefined : `nodes that carry packets need ${missing.join(', ')}: run \`node scripts/setup.mjs test\``;
}
