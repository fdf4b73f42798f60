/**
 * Gives back what bridges of ProviderNetworks have of the node's interfaces, as the agent does when a network is deleted: by the same rules, with
 * what is observed now, and no network. Each round observes again, so that it can be killed and repeated as the agent can.
 */
import type { Operation } from '../../ovsdb/operation.ts';
import type { OvsdbSession } from '../../ovsdb/session.ts';
import { ONCE } from '../../engine/domain.ts';
import { HostNetwork } from '../kernel/host-network.ts';
import type { Programs } from '../kernel/programs.ts';
import type { NodeSettings } from '../rules/node-settings.ts';
import { nodeRules } from '../rules/rules.ts';
import { hostLinkLines } from '../uplink/uplink-commands.ts';
import { HOST_LINK_KINDS, type HostLinks, isBusy, observeHostLinks } from '../uplink/uplink-target.ts';
import { externalIdsOf, removalOperations } from '../vswitch/port-diff.ts';
import { bridgeRemoval, isProviderBridge, mappingOperations, observedBridge } from '../vswitch/provider-bridge-diff.ts';
import { NodeWorld } from '../world/node-world.ts';
import type { HostLinkOutput } from '../world/outputs.ts';
import { portKey } from '../world/port-keys.ts';
import { type HostLink, madeFor, parseTaken } from '../world/device-network.ts';

/** No network is on the node, so nothing of these is read. */
const SETTINGS: NodeSettings = { node: '', southbound: '', tunnel: '', datapath: 'system', defaultVpc: '', mtu: undefined };
const MOST_ROUNDS = 40;
/** Open vSwitch removes a device a moment after its row. */
const ROUND_MS = 250;

export interface UnderlayReturnOptions {
  readonly session: OvsdbSession;
  readonly programs: Programs;
  readonly dryRun: boolean;
  readonly done: (what: string) => void;
  readonly failed: (what: string, reason: string) => void;
}

export async function giveUnderlayBack({ session, programs, dryRun, done, failed }: UnderlayReturnOptions): Promise<void> {
  const told = new Set<string>();
  for (let round = 0; round < MOST_ROUNDS; round++) {
    let seen: HostLinks;
    try {
      seen = await observeHostLinks(programs, new HostNetwork(programs));
    } catch (error) {
      failed("the node's interfaces", String(error));
      return;
    }
    const left = remaining(session, seen.links);
    for (const what of left) told.add(what);
    if (left.length === 0 || dryRun) {
      for (const what of told) done(what);
      return;
    }
    const reason = await nextStep(session, programs, seen);
    if (reason !== undefined) {
      for (const what of left) failed(what, reason);
      return;
    }
    await programs.sleep(ROUND_MS);
  }
  for (const what of told) failed(what, `it is there after ${(MOST_ROUNDS * ROUND_MS) / 1000} s; ovs-vsctl show`);
}

/** What is there of ProviderNetworks, for people. */
function remaining(session: OvsdbSession, seen: ReadonlyMap<string, HostLink>): readonly string[] {
  const { replica } = session;
  const [settings] = replica.table('Open_vSwitch').values();
  const taken = parseTaken((settings && externalIdsOf(settings).get(portKey.taken)) ?? '');
  const bridges = Array.from(replica.table('Bridge').values()).filter(isProviderBridge);
  return [
    ...bridges.map((row) => {
      const uplink = externalIdsOf(row).get(portKey.uplink) ?? '';
      return `bridge ${String(row['name'])} of ProviderNetwork ${externalIdsOf(row).get(portKey.providerNetwork)}: its addresses and routes go back to ${uplink}`;
    }),
    ...Object.values(taken).map(({ original, name }) =>
      original === name ? `interface ${name}: it has its addresses and routes again` : `interface ${name}: its name is ${original} again`,
    ),
    ...[...seen].flatMap(([name, link]) => (madeFor(link) === undefined ? [] : [`VLAN interface ${name}`])),
  ];
}

/** @returns why it failed */
async function nextStep(session: OvsdbSession, programs: Programs, { links: seen, holders }: HostLinks): Promise<string | undefined> {
  const { replica } = session;
  const world = observed(session, seen);
  const rules = nodeRules(SETTINGS).filter((rule) => rule.over(world) === ONCE);
  const outputs = rules.flatMap((rule) => rule.run(world, ''));
  const kept = new Set(outputs.flatMap((output) => (output.kind === 'provider-bridge' ? [output.name] : [])));
  const operations: Operation[] = [
    ...Array.from(replica.table('Interface').values())
      .filter((row) => externalIdsOf(row).has(portKey.providerNetwork))
      .flatMap((row) => removalOperations(replica, String(row['name']))),
    ...Array.from(replica.table('Bridge').values())
      .filter((row) => isProviderBridge(row) && !kept.has(String(row['name'])))
      .flatMap((row) => bridgeRemoval(replica, String(row['name']))),
    ...outputs.flatMap((output) => (output.kind === 'bridge-mappings' ? mappingOperations(replica, output) : [])),
  ];
  if (operations.length > 0) {
    const outcome = await session.transact(operations);
    return outcome.ok ? undefined : outcome.error.message;
  }
  const links = outputs.filter((output): output is HostLinkOutput => (HOST_LINK_KINDS as readonly string[]).includes(output.kind));
  for (const output of links) {
    const run = async (failedBefore: boolean): Promise<string | undefined> => {
      const lines = hostLinkLines(output, seen, failedBefore, holders);
      if (lines.length === 0) return undefined;
      const ran = await programs.run(['ip', '-batch', '-'], `${lines.join('\n')}\n`);
      return ran.ok ? undefined : `ip: ${ran.message}`;
    };
    const reason = await run(false);
    // An interface that is up cannot be taken before Linux 6.2.
    const again = output.kind === 'renamed-link' && isBusy(reason) ? await run(true) : reason;
    if (again !== undefined) return again;
  }
  return undefined;
}

function observed({ replica }: OvsdbSession, seen: ReadonlyMap<string, HostLink>): NodeWorld {
  const world = new NodeWorld();
  for (const [name, link] of seen) world.hostLinks.set(name, link);
  for (const row of replica.table('Bridge').values()) world.bridges.set(String(row['name']), observedBridge(replica, row));
  for (const row of replica.table('Interface').values())
    world.ports.set(String(row['name']), { externalIds: Object.fromEntries(externalIdsOf(row)), error: '' });
  const [settings] = replica.table('Open_vSwitch').values();
  if (settings !== undefined) for (const [key, value] of externalIdsOf(settings)) world.settings.set(key, value);
  return world;
}
