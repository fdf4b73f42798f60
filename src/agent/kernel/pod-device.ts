/**
 * Makes the device of a pod as it should be. An address is set when the port passes packets and no other host answers for it; then the kernel
 * says it to the network, and the gateways are asked.
 */
import type { Duplicate, ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import { addressCommands, type Command, pairCommands, withdrawalCommand } from './ip-commands.ts';
import { checkedAddresses, type CheckedAddresses } from './ip-observation.ts';
import { KERNEL_PROBE_MS, requestInterval, whoAnswers } from './neighbours.ts';
import { inNamespace, type Programs } from './programs.ts';

/** What was asked of the network: no reading of the device shows it. */
export interface Findings {
  readonly duplicates: readonly Duplicate[];
  readonly reached: readonly string[];
}

export const NOTHING_FOUND: Findings = { duplicates: [], reached: [] };

const LONGEST_MS = 5_000;
const POLL_MS = 30;
/** Attempts with a gateway that does not answer yet. */
const ROUNDS = 5;

type Present = ObservedDevice & { readonly kind: 'present' };

/**
 * @param observed the device as it is; one that is absent is made
 * @param found what is known from earlier
 * @returns what is known now
 * @throws Error with the reason: a program failed, or a gateway does not answer
 */
export async function makeDevice(
  programs: Programs,
  output: DeviceOutput,
  observed: Exclude<ObservedDevice, { readonly kind: 'no-namespace' }>,
  found: Findings,
): Promise<Findings> {
  await runAll(programs, pairCommands(output, observed));
  if (!output.connected) return found;
  const before = observed.kind === 'present' ? observed : blank(output);
  const missing = output.addresses.filter((address) => !before.addresses.includes(address));
  const commands = addressCommands(output, before);
  // An answer shows that packets pass: Open vSwitch may take a while for it after the flows are installed, and silence would prove nothing.
  const early = missing.length === 0 ? found.reached : await firstAnswer(programs, output, found.reached);
  await runAll(programs, commands.first);
  const taken = await takenAddresses(programs, output, missing, before);
  if (taken.length > 0) return { ...found, duplicates: taken };
  await runAll(programs, commands.second);
  const reached = output.needsGateways ? await reachedGateways(programs, output, early) : early;
  if (missing.length > 0) await runAll(programs, [defaultInterval(output)]);
  return { duplicates: [], reached };
}

/** Addresses that another host has. None of those of IPv6 is left on the device. */
async function takenAddresses(
  programs: Programs,
  output: DeviceOutput,
  missing: readonly string[],
  before: Present,
): Promise<readonly Duplicate[]> {
  if (!output.detectsDuplicates) return [];
  const taken = await duplicates(programs, output, missing.filter(isV4));
  if (!missing.some(isV6) && (before.tentative ?? []).length === 0) return taken;
  const { addresses: refused, sameMac } = await settled(programs, output);
  // First, for an address of its own a device asks nobody.
  if (refused.length > 0) await runAll(programs, [withdrawalCommand(output, refused)]);
  const others = sameMac ? [] : await duplicates(programs, output, refused);
  // An earlier sandbox of the same pod still answered.
  if (refused.length > 0 && others.length === 0)
    await runAll(programs, addressCommands({ ...output, addresses: refused, routes: [], detectsDuplicates: false }, blank(output)).first);
  return [...taken, ...others];
}

/** Those that answer with another MAC address than the device's own. */
async function duplicates(programs: Programs, output: DeviceOutput, addresses: readonly string[]): Promise<readonly Duplicate[]> {
  const asked = addresses.map(withoutLength);
  const answers = await whoAnswers(programs, output.namespacePath, output.innerName, asked);
  return asked.flatMap((address) => {
    const holder = answers.get(address);
    // The kernel refuses an IPv6 address without telling for whom, and the host may not answer a second time.
    if (holder === output.mac || (holder === undefined && isV4(address))) return [];
    return [{ address, holder: holder ?? '' }];
  });
}

/** Waits until the kernel has asked for each IPv6 address. @returns those that another host has */
async function settled(programs: Programs, { namespacePath, innerName }: DeviceOutput): Promise<CheckedAddresses> {
  for (let waited = 0; waited < LONGEST_MS; waited += POLL_MS) {
    const checked = await checkedAddresses(programs, namespacePath, innerName);
    if (!checked.tentative) return checked;
    await programs.sleep(POLL_MS);
  }
  throw new Error(`the kernel still checks its IPv6 addresses for duplicates after ${LONGEST_MS / 1000} s`);
}

/** Asks a gateway before the device has an address, for some time. @returns the gateways that are known to answer, which may be none */
async function firstAnswer(programs: Programs, output: DeviceOutput, known: readonly string[]): Promise<readonly string[]> {
  const { namespacePath, innerName, gateways, needsGateways } = output;
  const gateway = gateways.find(isV4) ?? gateways[0];
  if (gateway === undefined || known.includes(gateway)) return known;
  if (isV6(gateway)) await settled(programs, output);
  for (let round = needsGateways ? ROUNDS : 1; round > 0; round -= 1)
    if ((await whoAnswers(programs, namespacePath, innerName, [gateway])).has(gateway)) return [...known, gateway];
  return known;
}

async function reachedGateways(programs: Programs, output: DeviceOutput, known: readonly string[]): Promise<readonly string[]> {
  const { namespacePath, innerName } = output;
  const open = output.gateways.filter((gateway) => !known.includes(gateway));
  const answers = await whoAnswers(programs, namespacePath, innerName, open);
  const silent = open.filter((gateway) => !answers.has(gateway));
  if (silent.length > 0)
    throw new Error(
      `gateway ${silent.join(', ')} does not answer on ${innerName}; disableGatewayCheck of the Subnet starts pods all the same`,
    );
  return [...known, ...open];
}

function defaultInterval({ namespacePath, innerName }: DeviceOutput): Command {
  return { command: inNamespace(namespacePath, 'sysctl', '-eqw', ...requestInterval(innerName, KERNEL_PROBE_MS)) };
}

function blank({ mac, mtu }: DeviceOutput): Present {
  return { kind: 'present', mac, mtu, up: true, addresses: [], routes: [] };
}

async function runAll(programs: Programs, commands: readonly Command[]): Promise<void> {
  for (const { command, input } of commands) {
    const ran = await programs.run(command, input);
    if (!ran.ok) throw new Error(`${command.join(' ')}: ${ran.message}`);
  }
}

function withoutLength(address: string): string {
  const slash = address.indexOf('/');
  return slash === -1 ? address : address.slice(0, slash);
}

function isV4(address: string): boolean {
  return !isV6(address);
}

function isV6(address: string): boolean {
  return address.includes(':');
}
