/** Takes a node back to what it was before the agent. The API server is not needed. */
import { readFile } from 'node:fs/promises';
import { OvsdbSession } from '../../ovsdb/session.ts';
import type { Clock, Scheduler } from '../../timing/clock.ts';
import { cniFiles, type CniPlaces, takeBack } from '../install/cni-files.ts';
import { HostNetwork } from '../kernel/host-network.ts';
import { ourLinks } from '../kernel/ip-observation.ts';
import { observeNamespace } from '../kernel/namespace-target.ts';
import type { Programs } from '../kernel/programs.ts';
import { listRouting } from '../kernel/routing-target.ts';
import { listOurRules } from '../packet-filter/other-firewalls-target.ts';
import { TABLES } from '../packet-filter/packet-filter-target.ts';
import { declareIndexes } from '../vswitch/port-diff.ts';
import { declareQosIndexes } from '../vswitch/port-qos-diff.ts';
import { VSWITCH_TABLES } from '../vswitch/vswitch-target.ts';
import { type CleanupStep, cleanupSteps, type Remains } from './cleanup-steps.ts';
import { giveUnderlayBack } from './underlay-return.ts';

export interface CleanupOptions {
  readonly vswitch: string;
  readonly gatewayNamespace: string;
  readonly places: CniPlaces;
  readonly programs: Programs;
  readonly clock: Clock & Scheduler;
  /** Nothing is changed. */
  readonly dryRun: boolean;
  /** Called for each step when it is done, or would be. */
  readonly done: (step: Pick<CleanupStep, 'what'>) => void;
  readonly failed: (what: string, reason: string) => void;
}

const VSWITCH_MS = 5_000;

/** Does all it can: a step that fails is reported, and the next ones are done. Can be repeated. */
export async function cleanUp({ vswitch, gatewayNamespace, places, programs, clock, dryRun, done, failed }: CleanupOptions): Promise<void> {
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
    if (synced) await giveUnderlayBack(underlay);
    for (const step of cleanupSteps(await remains(synced ? session.replica : undefined, gatewayNamespace, places, programs, failed))) {
      const reason = dryRun ? undefined : await carryOut(step, session, programs);
      if (reason === undefined) done(step);
      else failed(step.what, reason);
    }
  } finally {
    await session.close();
  }
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
    chains: await read('rules in chains of other programs', new Map(), async () => await listOurRules(programs)),
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
