/**
 * `kiln gc run`: collects what the plan has now, with rows that are in their grace. The controller does it where one leads: the command
 * approves, and waits. Else the command takes the Lease and does it alone.
 */
import type { Command } from 'commander';
import { Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import { collectRows } from '../../controller/row-collection.ts';
import type { FreshController } from '../../controller/fresh-controller.ts';
import { ownedSize } from '../../diff/leftovers.ts';
import type { Collected } from '../../explain/collection-plan.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import type { OvsdbSession, Uuid } from '../../ovsdb/index.ts';
import { SILENT } from '../../runtime/log.ts';
import { planOf } from '../cluster/collection.ts';
import { addSettingsFlags, leaderOf } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { addNorthboundFlags } from '../cluster/observe.ts';
import { SoleLeader } from '../cluster/sole-leader.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, duration, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import { JOURNAL_DEFAULT_TEXT } from '../arguments/journal-directory.ts';
import { openJournal } from '../process/journal.ts';
import { approve, withdraw } from './gc-decisions.ts';
import { wayToNorthbound } from '../cluster/northbound-way.ts';
import { openedFresh, refuseFoundOther } from './diff.ts';
import { planTable } from './gc-plan.ts';

export interface GcRunFlags extends ObservationFlags {
  readonly yes?: boolean;
  readonly dryRun: 'none' | 'client';
  readonly timeout: string;
  readonly journal?: string;
}

const HELP = `
Examples:
  kiln gc run --ovn-nb tcp:10.0.0.1:6641             print the plan, ask, collect
  kiln gc run --dry-run=client                       print what it would collect
  kiln gc run --yes --journal /var/lib/kiln/journal  without a controller: the rows can be restored by kiln undo

Exit codes: 0 collected, or nothing to collect; 1 something stays, or nothing was collected: a pause, a hold; 2 wrong usage; 3 cluster or database
unreachable, or forbidden; 4 timed out.
`;

export function addGcRun(gc: Command): void {
  const run = gc
    .command('run')
    .description('collect now what the plan has, rows in their grace too: through the controller that leads, or alone')
    .addHelpText('after', HELP)
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(new Option('--dry-run <mode>', 'client: print the plan, and change nothing').choices(['none', 'client']).default('none'))
    .addOption(
      new Option(
        '--journal <directory>',
        `without a controller: write the rows here before they go, for kiln undo; or off (default: ${JOURNAL_DEFAULT_TEXT})`,
      ).env('KILN_JOURNAL'),
    )
    .option('--timeout <duration>', 'how long to wait for the controller', duration, '60s');
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(run))).action(async (flags: GcRunFlags) => {
    process.exitCode = await onCluster('gc run', flags, (io) => runGcRun(flags, io));
  });
}

/** @returns the exit code */
export async function runGcRun(flags: GcRunFlags, io: CommandIo): Promise<number> {
  let session: OvsdbSession | undefined;
  await io.client.version();
  // To print a plan, reading is enough.
  const isDry = flags.dryRun !== 'none';
  const way = await wayToNorthbound('gc run', flags, io, isDry ? 'reads' : 'writes');
  if (way.isFound) io.say(`reading Kubernetes, and OVN by ${way.text}`);
  const options = { ...way.options, readOnly: isDry };
  await using fresh = await openedFresh('gc run', flags, way.ovnNb, io, (opened) => (session = opened), options);
  refuseFoundOther(way, fresh);
  const all = planOf(fresh);
  refuse(all);
  const going = all.filter(({ fate }) => fate === 'collect' || fate === 'grace');
  const rest = all.length - going.length;
  if (going.length === 0) {
    io.say(
      rest === 0 ? 'nothing to collect' : `nothing to collect: ${rest} rows stay by a setting, an undo or a foreign row: kiln gc plan`,
    );
    return EXIT.fine;
  }
  io.out(planTable(going, 'table', Date.now()));
  if (isDry) return EXIT.fine;
  await consent(flags, io, going.length);
  const leader = await leaderOf(io, flags.leaseNamespace);
  const isLed = leader?.live === true;
  if (isLed) await throughController(going, fresh, flags, io);
  else await alone(going, fresh, session, flags, io);
  const left = stillThere(going, fresh);
  io.say(`collected ${going.length - left.length} of ${going.length}${isLed ? `, by ${leader.identity}` : ''}`);
  if (!isLed && left.some(isInKubernetes)) io.say('what is in Kubernetes is left to the next controller');
  if (left.length === 0) return EXIT.fine;
  io.out(left.slice(0, 10).map(({ table, name }) => `still there  ${table} ${name}`));
  return isLed ? EXIT.timeout : EXIT.findings;
}

/** A person has decided otherwise, or has to decide first. */
function refuse(plan: readonly Collected[]): void {
  const paused = plan.find(({ fate }) => fate === 'paused');
  if (paused !== undefined) throw new CommandFailure(EXIT.findings, 'nothing was collected', paused.why, 'kiln gc resume');
  const held = plan.filter(({ fate }) => fate === 'held').length;
  if (held > 0)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was collected',
      `${held} rows are more than a limit and wait for an approval`,
      'kiln gc approve',
    );
}

async function consent({ yes }: GcRunFlags, io: CommandIo, rows: number): Promise<void> {
  if (yes === true) return;
  if (io.ask === undefined)
    throw new CommandFailure(EXIT.usage, 'nothing was collected', 'there is no terminal for the confirmation', 'kiln gc run --yes');
  if (!(await io.ask(`Delete these ${rows} rows?`)))
    throw new CommandFailure(EXIT.findings, 'nothing was collected', 'the answer was no', 'kiln gc plan');
}

const APPROVED_MS = 10 * 60_000;
const LOOK_MS = 100;

async function throughController(going: readonly Collected[], fresh: FreshController, flags: GcRunFlags, io: CommandIo): Promise<void> {
  const { settings } = fresh.world;
  const inGrace = going.filter(({ fate }) => fate === 'grace').length;
  if (inGrace > 0) await approve(io, settings, { rows: inGrace, forMs: APPROVED_MS, now: true });
  try {
    const until = performance.now() + (parseDuration(flags.timeout) ?? 0);
    while (performance.now() < until && stillThere(going, fresh).length > 0) await new Promise((done) => setTimeout(done, LOOK_MS));
  } finally {
    // It was for these rows alone.
    if (inGrace > 0) await withdraw(io, settings);
  }
}

async function alone(
  going: readonly Collected[],
  fresh: FreshController,
  session: OvsdbSession | undefined,
  flags: GcRunFlags,
  io: CommandIo,
): Promise<void> {
  const { world, desired } = fresh;
  refuseTooMany(going, fresh);
  const journal = await openJournal(flags, SILENT);
  try {
    await using held = await SoleLeader.gain('gc run', flags.leaseNamespace, io);
    const ids: readonly RowId[] = [...new Set(going.filter(({ what }) => what === 'row').map(({ table, name }) => rowId(table, name)))];
    const entries = going.flatMap(({ uuid, entry }) => {
      const row = entry === undefined ? undefined : world.rows.entry(uuid as Uuid);
      return entry === undefined || row === undefined ? [] : [{ id: row.id, ...entry }];
    });
    if (session === undefined) throw new Error('the Northbound database was not opened');
    const done = await collectRows(ids, entries, held.gains, {
      session,
      world,
      desired: desired.rows,
      journal,
      mayWrite: () => held.leads,
    });
    if (!done.ok)
      throw new CommandFailure(EXIT.findings, `${done.rows} rows were collected, then it stopped`, done.problem, 'kiln gc plan');
  } finally {
    await journal.close();
  }
}

function stillThere(going: readonly Collected[], fresh: FreshController): readonly Collected[] {
  const { rows } = fresh.world;
  const objects = going.some(isInKubernetes) ? new Set(planOf(fresh).map(({ uuid, owner }) => `${uuid} ${owner}`)) : new Set();
  return going.filter((one) => {
    const { uuid, owner, entry } = one;
    if (isInKubernetes(one)) return objects.has(`${uuid} ${owner}`);
    const row = rows.entry(uuid as Uuid)?.row;
    const held = entry === undefined ? undefined : row?.[entry.column];
    return entry === undefined ? row !== undefined : held instanceof Map && held.has(entry.key);
  });
}

function isInKubernetes({ what }: Collected): boolean {
  return what === 'object' || what === 'keys';
}

/** No controller has counted them: the same limits hold here. */
function refuseTooMany(going: readonly Collected[], { world }: FreshController): void {
  const { gcMaxRows, gcMaxShare, gcShareFrom } = world.settings;
  const owned = ownedSize(world);
  const share = (owned * gcMaxShare) / 100;
  const isTooMany = going.length > gcMaxRows || (going.length >= gcShareFrom && going.length > share);
  if (!isTooMany) return;
  throw new CommandFailure(
    EXIT.findings,
    'nothing was collected',
    `${going.length} of ${owned} rows and IP objects are more than a limit (--gc-max-rows ${gcMaxRows}, --gc-max-share ${gcMaxShare}): a controller holds them until they are approved`,
    'kiln gc plan',
  );
}
