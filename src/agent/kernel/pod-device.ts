/**
 * Makes the device of a pod as it should be, with as few programs as can be: each costs some milliseconds, and pods start many at a time. An
 * address is set when the port passes packets and no other host answers for it; then the kernel says it to the network, and the gateways are asked.
 */
import type { Duplicate, ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import type { HostNetwork, HostState } from './host-network.ts';
import {
  addressLines,
  announcement,
  hasPair,
  hasRoutes,
  hostEndLine,
  innerEndLines,
  innerSettings,
  missingAddresses,
  newPairLines,
  ownRoutes,
  type Present,
  routeLines,
  showLines,
  surplusAddresses,
  withdrawalLines,
} from './ip-commands.ts';
import { type InnerEnd, innerEndOf, podDevice } from './ip-observation.ts';
import {
  type Asking,
  conversationIn,
  intervalLines,
  KERNEL_PROBE_MS,
  type Look,
  lookUntil,
  questions,
  silenceMs,
  told,
  whoAnswers,
} from './neighbours.ts';
import type { Programs } from './programs.ts';

/** What was asked of the network: no reading of the device shows it. */
export interface Findings {
  readonly duplicates: readonly Duplicate[];
  readonly reached: readonly string[];
}

export const NOTHING_FOUND: Findings = { duplicates: [], reached: [] };

/** What is known from earlier. */
export interface Known {
  readonly findings: Findings;
  /** The pair was made by this process, and all settings that belong to it. */
  readonly prepared: boolean;
}

type Standing = Required<Pick<Hands, 'isWanted'>>;

export interface Made {
  readonly findings: Findings;
  /** After the last write; `made`: a pair without addresses, as it should be; undefined: nothing was written. */
  readonly inner: InnerEnd | 'made' | undefined;
}

export interface Hands {
  readonly programs: Programs;
  readonly host: HostNetwork;
  /** Whether the output still stands: for a pod that is deleted meanwhile no gateway is asked. Missing: it does. */
  readonly isWanted?: () => boolean;
}

/** The kernel's first questions may be sent before packets pass: for a first look it is early. */
const EARLY_MS = 20;
/** Attempts with a gateway that does not answer yet, before addresses are set. */
const ROUNDS = 5;
/** Likewise with one that has to answer once they are: the first pod of a router on a node waits for its flows. */
const LONGEST_GATEWAY_MS = 3_000;

/**
 * @param observed the device as it is; one that is absent is made
 * @throws Error with the reason: a program failed, or a gateway does not answer
 */
export async function makeDevice(
  hands: Hands,
  output: DeviceOutput,
  observed: Exclude<ObservedDevice, { readonly kind: 'no-namespace' }>,
  { findings, prepared }: Known,
): Promise<Made> {
  const { programs } = hands;
  const before = observed.kind === 'present' ? observed : blank(output);
  const isSound = hasPair(output, observed);
  if (!isSound && !(prepared && observed.kind === 'present')) await preparePair(hands, output, observed);
  const lines = isSound ? [] : innerEndLines(output, before);
  if (!output.connected && isSound) return { findings, inner: undefined };
  // It was just made as it should be.
  if (!output.connected && lines.length === 0) return { findings, inner: 'made' };
  const missing = missingAddresses(output, before);
  const isSettled = missing.length === 0 && (before.tentative ?? []).length === 0;
  const surplus = surplusAddresses(output, before);
  const isComplete = isSettled && lines.length === 0 && surplus.length === 0 && hasRoutes(output, before);
  if (isComplete && unreached(output, findings.reached).length === 0)
    return { findings: { ...findings, duplicates: [] }, inner: undefined };
  const ip = conversationIn(programs, output.namespacePath);
  try {
    const { isWanted = () => true } = hands;
    const asking: Asking & Standing = { ip, sleep: async (ms) => await programs.sleep(ms), isWanted };
    if (!output.connected) return { findings, inner: innerEndOf(await told(ip, [...lines, ...showLines(output)])) };
    if (isComplete)
      return { findings: { duplicates: [], reached: await reachedGateways(asking, output, findings.reached) }, inner: undefined };
    const { duplicates, reached } = await asked(asking, output, lines, isSettled, missing, findings.reached);
    if (duplicates.length > 0) return { findings: { ...findings, duplicates }, inner: innerEndOf(await told(ip, showLines(output))) };
    const isReached = unreached(output, reached).length === 0;
    const ownInterval = missing.length > 0 ? intervalLines(output.innerName, KERNEL_PROBE_MS, output.addresses.some(isV6)) : [];
    const shown = await told(ip, [
      // First: with an address the kernel takes later ones of its network away.
      ...withdrawalLines(output, surplus),
      ...addressLines(output, missing.filter(isV4)),
      ...(missing.length > 0 ? [announcement(output)] : []),
      // A new interface takes the place of others' routes. One that lost its own does not.
      ...routeLines(output, missing.length > 0 ? output.routes : ownRoutes(output, before)),
      ...(isReached ? ownInterval : []),
      ...showLines(output),
    ]);
    if (isReached) return { findings: { duplicates: [], reached }, inner: innerEndOf(shown) };
    try {
      return { findings: { duplicates: [], reached: await reachedGateways(asking, output, reached) }, inner: innerEndOf(shown) };
    } finally {
      // What the pod itself asks then is asked at the kernel's pace.
      if (ownInterval.length > 0) await told(ip, ownInterval);
    }
  } finally {
    ip.end();
  }
}

/** The device after a write. */
export function shownDevice(output: DeviceOutput, inner: Made['inner'], before: ObservedDevice, host: HostState): ObservedDevice {
  if (inner === undefined) return before;
  const { name, mac, mtu } = output;
  return inner === 'made'
    ? { kind: 'present', mac, mtu, up: false, addresses: [], tentative: [], routes: [] }
    : podDevice(inner, host, name);
}

export function isComplete(output: DeviceOutput, shown: ObservedDevice): boolean {
  return shown.kind === 'present' && hasPair(output, shown) && missingAddresses(output, shown).length === 0;
}

async function preparePair({ programs, host }: Hands, output: DeviceOutput, observed: ObservedDevice): Promise<void> {
  await host.write(observed.kind === 'present' ? [hostEndLine(output)] : newPairLines(output));
  const ends = await Promise.all(
    innerSettings(output).map(async ({ command, input }) => ({ command, ran: await programs.run(command, input) })),
  );
  for (const { command, ran } of ends) if (!ran.ok) throw new Error(`${command.join(' ')}: ${ran.message}`);
}

/**
 * Sets the inner end up and probes for its addresses by ARP. An answer of a gateway shows that packets pass: Open vSwitch may take a while for it after
 * the flows are installed, and silence would prove nothing. So what was asked before that is asked again. Of the addresses, those of IPv6
 * are set: the kernel itself asks for them.
 *
 * @param lines for the inner end
 */
async function asked(
  asking: Asking & Standing,
  output: DeviceOutput,
  lines: readonly string[],
  isSettled: boolean,
  missing: readonly string[],
  known: readonly string[],
): Promise<Findings> {
  if (isSettled) {
    if (lines.length > 0) await told(asking.ip, lines);
    return { duplicates: [], reached: known };
  }
  const { innerName, detectsDuplicates, gateways, needsGateways } = output;
  const [v6, v4] = [missing.filter(isV6), detectsDuplicates ? missing.filter(isV4).map(withoutLength) : []];
  const open = gateways.filter((one) => !known.includes(one));
  const gateway = missing.length === 0 ? undefined : (open.find(isV4) ?? open[0]);
  let begin = [...lines, ...(missing.length > 0 ? intervalLines(innerName, output.probeMs, output.addresses.some(isV6)) : [])];
  if (gateway !== undefined && isV6(gateway)) {
    if (begin.length > 0) await told(asking.ip, begin);
    begin = [];
    await settled(asking, output, []);
  }
  let reached = known;
  let last: Look | undefined;
  const all = [...(gateway === undefined ? [] : [gateway]), ...v4];
  for (let round = needsGateways ? ROUNDS : 1; round > 0 && asking.isWanted(); round -= 1) {
    const sent = [...begin, ...questions(all, innerName), ...(gateway === undefined ? addressLines(output, v6) : [])];
    if (sent.length > 0) await told(asking.ip, sent);
    begin = [];
    if (gateway === undefined) break;
    const isDecided = ({ answers, open: waiting }: Look): boolean => answers.has(gateway) || !waiting.includes(gateway);
    last = await lookUntil(asking, output, all, isDecided, v4.length === 0 || v6.length > 0 ? EARLY_MS : silenceMs(output));
    if (!last.answers.has(gateway)) continue;
    reached = [...known, gateway];
    break;
  }
  if (gateway !== undefined && v6.length > 0) await told(asking.ip, addressLines(output, v6));
  if (!detectsDuplicates) return { duplicates: [], reached };
  const look = last !== undefined && v6.length === 0 && isOver(output, last) ? last : await settled(asking, output, v4);
  return { duplicates: await duplicatesAmong(asking, output, v4, look), reached };
}

/** Addresses that another host has, of those that were asked for. None of those of IPv6 is left on the device. */
async function duplicatesAmong(
  asking: Asking,
  output: DeviceOutput,
  v4: readonly string[],
  { answers, checked }: Look,
): Promise<readonly Duplicate[]> {
  const taken = v4.flatMap((address) => {
    const holder = answers.get(address);
    return holder === undefined || holder === output.mac ? [] : [{ address, holder }];
  });
  if (checked.refused.length === 0) return taken;
  // First, since for an address of its own a device sends no request.
  await told(asking.ip, withdrawalLines(output, checked.refused));
  const refused = checked.refused.map(withoutLength);
  const holders = checked.sameMac ? undefined : await whoAnswers(asking, output, refused);
  // The kernel refuses an IPv6 address without naming the host that has it, and the host may not answer a second time.
  const others = refused
    .map((address) => ({ address, holder: holders?.get(address) ?? '' }))
    .filter(({ holder }) => holders !== undefined && holder !== output.mac);
  // An earlier sandbox of the same pod still answered.
  if (others.length === 0) await told(asking.ip, addressLines({ ...output, detectsDuplicates: false }, checked.refused));
  return [...taken, ...others];
}

/** Waits until the kernel has asked for each IPv6 address, and for these. @throws Error if that does not end */
async function settled(asking: Asking, output: DeviceOutput, v4: readonly string[]): Promise<Look> {
  const look = await lookUntil(asking, output, v4, (one) => isOver(output, one), EARLY_MS);
  if (!isOver(output, { ...look, open: [] }))
    throw new Error('the kernel still checks its IPv6 addresses for duplicates after some seconds');
  return look;
}

function isOver({ addresses }: DeviceOutput, { open, checked }: Look): boolean {
  return open.length === 0 && !(addresses.some(isV6) && checked.tentative);
}

/** @param known gateways that have answered. @throws Error if one has to answer and does not, and a request waits for it */
async function reachedGateways(asking: Asking & Standing, output: DeviceOutput, known: readonly string[]): Promise<readonly string[]> {
  let [open, reached] = [unreached(output, known), known];
  for (let waited = 0; open.length > 0 && asking.isWanted(); waited += silenceMs(output)) {
    if (waited >= LONGEST_GATEWAY_MS)
      throw new Error(
        `gateway ${open.join(', ')} does not answer on ${output.innerName}; disableGatewayCheck of the Subnet starts pods all the same`,
      );
    const answers = await whoAnswers(asking, output, open);
    reached = [...reached, ...open.filter((gateway) => answers.has(gateway))];
    open = open.filter((gateway) => !answers.has(gateway));
  }
  return reached;
}

/** Gateways that have to answer. */
function unreached({ gateways, needsGateways }: DeviceOutput, known: readonly string[]): readonly string[] {
  return needsGateways ? gateways.filter((gateway) => !known.includes(gateway)) : [];
}

function blank({ mac, mtu }: DeviceOutput): Present {
  return { kind: 'present', mac, mtu, up: false, addresses: [], routes: [] };
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
