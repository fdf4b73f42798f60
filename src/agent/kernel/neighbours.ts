/**
 * Who answers for an address, asked through the kernel's table of neighbours: no raw socket and no further program. An interface without an
 * IPv4 address asks from 0.0.0.0, which is the ARP probe of RFC 5227. Of IPv6 addresses of its own the kernel asks by itself.
 */
import type { DeviceOutput } from '../world/outputs.ts';
import { type AddressJson, addressText, type LinkJson, listsOf } from './host-network.ts';
import type { Conversation } from './conversation.ts';
import { inNamespace, type Programs } from './programs.ts';

/** The kernel's own time between two requests, of which it sends three. */
export const KERNEL_PROBE_MS = 1_000;
const LONGEST_MS = 4_000;
const POLL_MS = 20;
/** Requests of the kernel. */
const REQUESTS = 3;

interface NeighbourJson {
  readonly dst?: string;
  readonly lladdr?: string;
  readonly state?: readonly string[];
}

type Device = Pick<DeviceOutput, 'innerName' | 'probeMs'>;

/** What asks: `ip` in the namespace of the device, and a pause. */
export interface Asking {
  readonly ip: Conversation;
  readonly sleep: Programs['sleep'];
}

/** What the device knows. */
export interface Look {
  /** MAC addresses by the address. */
  readonly answers: ReadonlyMap<string, string>;
  /** Asked, and neither answered nor given up. */
  readonly open: readonly string[];
  readonly checked: CheckedAddresses;
}

/** The kernel's search for other hosts with IPv6 addresses of a device. */
export interface CheckedAddresses {
  /** It is not complete, for the link-local address either. */
  readonly tentative: boolean;
  /** Given up, with the length of the prefix. */
  readonly refused: readonly string[];
  /** The device's own link-local address, which is made of its MAC address, is refused as well: the other host has the same. */
  readonly sameMac: boolean;
}

/** Lines for `ip -batch`: an entry without a state, and a use of it. In one step the kernel does not always ask. */
export function questions(addresses: readonly string[], device: string): readonly string[] {
  return addresses.flatMap((address) => {
    const entry = `neighbour replace ${address} dev ${device}`;
    return [`${entry} nud none`, `${entry} use`];
  });
}

/** Lines for `ip -batch`: the time between two requests, also of those that the kernel sends about its own new addresses. */
export function intervalLines(device: string, ms: number, withV6: boolean): readonly string[] {
  return ['arp_cache', ...(withV6 ? ['ndisc_cache'] : [])].map((table) => `ntable change name ${table} dev ${device} retrans ${ms}`);
}

/**
 * The MAC address of each that answers. Waits for three requests where one does not.
 *
 * @param addresses without the length of a prefix
 * @throws Error with the reason if the kernel cannot be asked
 */
export async function whoAnswers(asking: Asking, device: Device, addresses: readonly string[]): Promise<ReadonlyMap<string, string>> {
  if (addresses.length === 0) return new Map();
  await told(asking.ip, questions(addresses, device.innerName));
  const { answers } = await lookUntil(asking, device, addresses, ({ open }) => open.length === 0, POLL_MS);
  return answers;
}

/** The time after which a question without an answer is given up. */
export function silenceMs({ probeMs }: Pick<DeviceOutput, 'probeMs'>): number {
  return REQUESTS * probeMs + POLL_MS;
}

/**
 * Looks until it is enough, for some seconds.
 *
 * @param asked without the length of a prefix. A device that has just got its carrier loses its entries: they are asked again
 * @param firstMs until the first look
 * @returns the last look
 * @throws as `whoAnswers`
 */
export async function lookUntil(
  { ip, sleep }: Asking,
  device: Device,
  asked: readonly string[],
  enough: (look: Look) => boolean,
  firstMs: number,
): Promise<Look> {
  for (let waited = firstMs, wait = firstMs; ; waited += POLL_MS, wait = POLL_MS) {
    await sleep(wait);
    const { lost, ...look } = await lookAt(ip, device, asked);
    if (enough(look) || waited > LONGEST_MS) return look;
    if (lost.length > 0) await told(ip, questions(lost, device.innerName));
  }
}

async function lookAt(
  ip: Conversation,
  { innerName }: Device,
  asked: readonly string[],
): Promise<Look & { readonly lost: readonly string[] }> {
  const output = await told(ip, [`neighbour show dev ${innerName}`, `address show dev ${innerName}`]);
  const [neighbours = [], [{ addr_info: addresses = [] } = {}] = []] = listsOf(output) as [NeighbourJson[]?, LinkJson[]?];
  const [open, answers, known] = [new Set(asked), new Map<string, string>(), new Set<string>()];
  for (const { dst = '', lladdr, state = [] } of neighbours) {
    known.add(dst);
    if (!open.has(dst)) continue;
    if (lladdr !== undefined && !state.includes('FAILED')) answers.set(dst, lladdr.toLowerCase());
    if (!state.includes('INCOMPLETE')) open.delete(dst);
  }
  return { answers, open: [...open], lost: [...open].filter((address) => !known.has(address)), checked: checkedAddresses(addresses) };
}

function checkedAddresses(addresses: readonly AddressJson[]): CheckedAddresses {
  const refused = addresses.filter(({ dadfailed }) => dadfailed === true);
  return {
    tentative: addresses.some(({ tentative, dadfailed }) => tentative === true && dadfailed !== true),
    refused: refused.filter(({ scope }) => scope !== 'link').map(addressText),
    sameMac: refused.some(({ scope }) => scope === 'link'),
  };
}

/** `ip` in a network namespace. */
export function conversationIn(programs: Programs, namespacePath: string): Conversation {
  return programs.converse(inNamespace(namespacePath, 'ip', '-json', '-force', '-batch', '-'));
}

/** Lines for `ip -batch` in the device's namespace. @returns what it prints. @throws Error with the reason */
export async function told(ip: Conversation, lines: readonly string[]): Promise<string> {
  const ran = await ip.ask(lines);
  if (!ran.ok) throw new Error(ran.message);
  return ran.output;
}

/** sysctl separates with points, so a point in a name is a slash. */
export function sysctlName(device: string): string {
  return device.replaceAll('.', '/');
}
