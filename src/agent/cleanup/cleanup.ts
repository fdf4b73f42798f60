/** Takes a node back to what it was before the agent. The API server is not needed. */
import { readdir, readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { join } from 'node:path';
import { INTEGRATION_BRIDGE } from '../../api/well-known.ts';
import { isLockHeld } from '../../ovsdb/lock.ts';
import { OvsdbSession } from '../../ovsdb/session.ts';
import type { Clock, Scheduler } from '../../timing/clock.ts';
import { cniFiles, type CniPlaces, takeBack } from '../install/cni-files.ts';
import { HostNetwork } from '../kernel/host-network.ts';
import { ourLinks } from '../kernel/ip-observation.ts';
import { observeNamespace } from '../kernel/namespace-target.ts';
import type { Programs } from '../kernel/programs.ts';
import { listRouting } from '../kernel/routing-target.ts';
import { listChains } from '../packet-filter/other-firewalls-target.ts';
import { TABLES } from '../packet-filter/packet-filter-target.ts';
import { declareIndexes } from '../vswitch/port-diff.ts';
import { declareQosIndexes } from '../vswitch/port-qos-diff.ts';
import { observeHostLinks } from '../uplink/uplink-target.ts';
import { isProviderBridge } from '../vswitch/provider-bridge-diff.ts';
import { VSWITCH_TABLES } from '../vswitch/vswitch-target.ts';
import { type CleanupStep, cleanupSteps, type Remains } from './cleanup-steps.ts';
import { devicesOfRows, integrationBridge, leftDevices, type LeftDevices, type Stays } from './switch-remains.ts';
import { giveUnderlayBack } from './underlay-return.ts';

export interface CleanupOptions {
  readonly vswitch: string;
  /** Where ovn-controller has its control socket. */
  readonly ovnRun: string;
  readonly gatewayNamespace: string;
  readonly places: CniPlaces;
  readonly programs: Programs;
  readonly clock: Clock & Scheduler;
  /** Nothing is changed. */
  readonly dryRun: boolean;
  /** Called for each step when it is done, or would be. */
  readonly done: (step: Pick<CleanupStep, 'what'>) => void;
  /** Called for what another program made, and looks like the agent's. */
  readonly kept: (stays: Stays) => void;
  readonly failed: (what: string, reason: string) => void;
}

const VSWITCH_MS = 5_000;
/** Open vSwitch removes devices, and ovn-controller makes its bridge again, within a moment. */
const MOMENT_MS = 2_000;
const LOOK_MS = 200;

/** Does all it can: a step that fails is reported, and the next ones are done. Can be repeated. */
export async function cleanUp(options: CleanupOptions): Promise<void> {
  const { vswitch, gatewayNamespace, places, programs, clock, dryRun, done, failed } = options;
  const session = new OvsdbSession({ endpoints: [vswitch], database: 'Open_vSwitch', tables: VSWITCH_TABLES, clock });
  declareIndexes(session.replica);
  declareQosIndexes(session.replica);
  session.start();
  try {
    const synced = await session.untilSynced(AbortSignal.timeout(VSWITCH_MS)).then(
      () => true,
      () => false,
    );
    if (!synced) failed('the ports and keys in Open vSwitch', `its database does not answer at ${vswitch}`);
    // The interfaces of the node come before the keys that remember what they had.
    const underlay = { session, programs, dryRun, failed, done: (what: string) => done({ what }) };
    const named = synced ? devicesOfRows(session.replica) : [];
    const hadBridge = synced && integrationBridge(session.replica).kind === 'goes';
    if (synced) await giveUnderlayBack(underlay);
    for (const step of cleanupSteps(await remains(synced ? session.replica : undefined, gatewayNamespace, places, programs, failed))) {
      const reason = dryRun ? undefined : await carryOut(step, session, programs);
      if (reason === undefined) done(step);
      else failed(step.what, reason);
    }
    if (synced) await switchRemains(options, session, named, hadBridge);
  } finally {
    await session.close();
  }
}

/** What rows alone do not take away, and what stays. */
async function switchRemains(options: CleanupOptions, session: OvsdbSession, named: readonly string[], hadBridge: boolean): Promise<void> {
  const { vswitch, ovnRun, programs, clock, dryRun, done, kept, failed } = options;
  const { replica } = session;
  const fate = integrationBridge(replica);
  if (fate.kind === 'stays' && fate.isOurs) failed(fate.stays.what, fate.stays.why);
  else if (fate.kind === 'stays') kept(fate.stays);
  const bridge = `bridge ${INTEGRATION_BRIDGE}`;
  const isThere = (): boolean => integrationBridge(replica).kind === 'goes';
  if (hadBridge) {
    const runs = await controllerRuns(ovnRun);
    if (runs && dryRun) failed(bridge, CONTROLLER_RUNS);
    else if (!dryRun) {
      // One that answers makes it again within a moment.
      const lookMs = runs ? MOMENT_MS : 0;
      for (let ms = 0; ms < lookMs && !isThere(); ms += LOOK_MS) await programs.sleep(LOOK_MS);
      if (isThere()) failed(bridge, CONTROLLER_RUNS);
    }
  }
  const isRunning = await isLockHeld(vswitch, 'ovs_vswitchd', clock, VSWITCH_MS);
  const ours = Array.from(replica.table('Bridge').values()).filter(
    (row) => isProviderBridge(row) || (fate.kind === 'goes' && fate.row === row),
  );
  const look = async (): Promise<LeftDevices> =>
    leftDevices(
      replica,
      (await observeHostLinks(programs, new HostNetwork(programs))).links,
      named,
      replica.table('Bridge').size - ours.length,
    );
  if (isRunning !== false) return;
  const { removed, stays } = await look();
  for (const name of removed) {
    const step: CleanupStep = {
      what: `device ${name}, which ovs-vswitchd would remove if it ran`,
      action: { kind: 'command', command: ['ip', 'link', 'delete', 'dev', name] },
    };
    const reason = dryRun ? undefined : await carryOut(step, session, programs);
    if (reason === undefined) done(step);
    else failed(step.what, reason);
  }
  for (const { what, why } of stays) failed(what, why);
}

const CONTROLLER_RUNS =
  'ovn-controller runs, and makes it again: stop it (systemctl stop ovn-controller, or its pod), and run kiln agent cleanup again';

/** Its control socket answers: the number of its process may be one of another namespace. */
async function controllerRuns(folder: string): Promise<boolean> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names.filter((one) => /^ovn-controller\.(?:\d+\.)?ctl$/.test(one))) if (await answers(join(folder, name))) return true;
  return false;
}

async function answers(path: string): Promise<boolean> {
  return await new Promise((resolve) => {
    const socket = connect(path);
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

async function remains(
  replica: Remains['replica'],
  gatewayNamespace: string,
  places: CniPlaces,
  programs: Programs,
  failed: (what: string, reason: string) => void,
): Promise<Remains> {
  const read = async <T>(what: string, nothing: T, reading: () => Promise<T>): Promise<T> =>
    await reading().catch((error: unknown) => {
      failed(what, error instanceof Error ? error.message : String(error));
      return nothing;
    });
  const tables: string[] = [];
  for (const table of Object.values(TABLES))
    if ((await programs.run(['nft', '--terse', 'list', 'table', ...table.split(' ')])).ok) tables.push(table);
  return {
    replica,
    links: await read('devices', [], async () => [...ourLinks(await new HostNetwork(programs).read()).keys()]),
    gatewayNamespace: await read('network namespace', undefined, async () => {
      const seen = await observeNamespace(programs, gatewayNamespace);
      return seen.kind === 'present' && seen.ours ? gatewayNamespace : undefined;
    }),
    tables,
    chains: await read('rules in chains of other programs', new Map(), async () => await listChains(programs)),
    routing: await read('rules of routing', [], async () => await listRouting(programs)),
    files: await cniFiles(places, (file) => readFile(file).catch(() => undefined)),
  };
}

/** @returns why it failed */
async function carryOut({ action }: CleanupStep, session: OvsdbSession, programs: Programs): Promise<string | undefined> {
  switch (action.kind) {
    case 'transaction': {
      const outcome = await session.transact(action.operations);
      return outcome.ok ? undefined : outcome.error.message;
    }
    case 'command': {
      const ran = await programs.run(action.command, action.input);
      // Its namespace may have gone meanwhile, and the device with it.
      return ran.ok || /Cannot find device/.test(ran.message) ? undefined : ran.message;
    }
    case 'file':
      return await takeBack(action.file).then(
        () => undefined,
        (error: unknown) => String(error),
      );
  }
}
