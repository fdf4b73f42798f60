/**
 * Who answers for an address, asked through the kernel's table of neighbours: no raw socket and no further program. An interface without an
 * IPv4 address asks from 0.0.0.0, which is the ARP probe of RFC 5227.
 */
import { inNamespace, type Programs } from './programs.ts';

/** Time between two requests of the kernel, of which it sends three. */
export const PROBE_MS = 200;
/** The kernel's own. */
export const KERNEL_PROBE_MS = 1_000;
const LONGEST_MS = 4_000;
const POLL_MS = 20;

interface NeighbourJson {
  readonly dst?: string;
  readonly lladdr?: string;
  readonly state?: readonly string[];
}

/**
 * The MAC address of each that answers. Waits for three requests where one does not: 600 ms after `requestInterval` with `PROBE_MS`.
 *
 * @param addresses without the length of a prefix
 * @throws Error with the reason if the kernel cannot be asked
 */
export async function whoAnswers(
  programs: Programs,
  namespacePath: string,
  device: string,
  addresses: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  const answers = new Map<string, string>();
  if (addresses.length === 0) return answers;
  const ip = async (input: readonly string[]): Promise<void> => {
    const ran = await programs.run(inNamespace(namespacePath, 'ip', '-batch', '-'), `${input.join('\n')}\n`);
    if (!ran.ok) throw new Error(`ip ${input[0]}: ${ran.message}`);
  };
  await ip(addresses.flatMap((address) => question(address, device)));
  for (let waited = 0; waited < LONGEST_MS; waited += POLL_MS) {
    await programs.sleep(POLL_MS);
    const [open, known] = [new Set(addresses), new Set<string>()];
    for (const { dst = '', lladdr, state = [] } of await neighboursOf(programs, namespacePath, device)) {
      known.add(dst);
      if (!open.has(dst)) continue;
      if (lladdr !== undefined && !state.includes('FAILED')) answers.set(dst, lladdr.toLowerCase());
      if (!state.includes('INCOMPLETE')) open.delete(dst);
    }
    if (open.size === 0) break;
    // A device that has just got its carrier loses its entries.
    const lost = [...open].filter((address) => !known.has(address));
    if (lost.length > 0) await ip(lost.flatMap((address) => question(address, device)));
  }
  return answers;
}

/** An entry without a state, and a use of it. In one step the kernel does not always ask. */
function question(address: string, device: string): readonly string[] {
  const entry = `neighbour replace ${address} dev ${device}`;
  return [`${entry} nud none`, `${entry} use`];
}

/** Keys of sysctl: the time between two requests of a device, also of those that the kernel sends about its own new addresses. */
export function requestInterval(device: string, ms: number): readonly string[] {
  return ['ipv4', 'ipv6'].map((family) => `net.${family}.neigh.${sysctlName(device)}.retrans_time_ms=${ms}`);
}

/** sysctl separates with points, so a point in a name is a slash. */
export function sysctlName(device: string): string {
  return device.replaceAll('.', '/');
}

async function neighboursOf(programs: Programs, namespacePath: string, device: string): Promise<readonly NeighbourJson[]> {
  const shown = await programs.run(inNamespace(namespacePath, 'ip', '-json', 'neighbour', 'show', 'dev', device));
  if (!shown.ok) throw new Error(`ip neighbour: ${shown.message}`);
  return shown.output.trim() === '' ? [] : (JSON.parse(shown.output) as readonly NeighbourJson[]);
}
