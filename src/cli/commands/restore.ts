/**
 * `kiln restore`: the rows of a backup back into the Northbound database, in one transaction. It prints the plan and asks, and writes a
 * backup of the present first. It works beside a running controller, which then makes Kiln's rows what the objects ask for.
 */
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { Option } from 'commander';
import { backupName, writeBackup } from '../../backup/backup-file.ts';
import { identityProblem, identityText, schemaProblem } from '../../backup/fit.ts';
import type { RestorePlan } from '../../backup/restore-changes.ts';
import { restorePlan } from '../../backup/restore-plan.ts';
import type { SharedAddress } from '../../backup/restore-changes.ts';
import { partOf } from '../../backup/restore-parts.ts';
import { globalOf, readSnapshot } from '../../backup/snapshot.ts';
import type { Snapshot } from '../../backup/snapshot.ts';
import { outcomeEntry } from '../../commit/journal-gate.ts';
import { journaledRestore } from '../../commit/journaled-restore.ts';
import { restoreTransaction } from '../../commit/restore-transaction.ts';
import { resourceOfOwner } from '../../controller/reading/row-owners.ts';
import type { OvsdbSession } from '../../ovsdb/index.ts';
import { commandText } from '../../text/command-text.ts';
import type { Journal } from '../../journal/journal.ts';
import { SILENT } from '../../runtime/log.ts';
import { defaultJournal, JOURNAL_DEFAULT_TEXT } from '../arguments/journal-directory.ts';
import type { World } from '../../world/world.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { clusterUid } from '../cluster/cluster-uid.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { northboundOf } from '../connection/connect.ts';
import { addNorthboundFlags, observeRows, sessionOf } from '../cluster/observe.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { openJournal } from '../process/journal.ts';
import { PATIENT, verified } from './backup.ts';
import { untilKnown } from './restore-attempts.ts';

export interface RestoreFlags extends ObservationFlags {
  readonly output: 'table' | 'wide' | StructuredFormat;
  readonly others: 'restore' | 'exact' | 'keep';
  readonly into?: string;
  readonly yes?: boolean;
  readonly dryRun?: boolean;
  readonly journal?: string;
}

const EXAMPLES = `
Examples:
  kiln restore backup.db.gz --ovn-nb tcp:10.0.0.1:6641 --dry-run     print what it would change, and change nothing
  kiln restore backup.db.gz                                          print it, ask, write a backup of the present, restore
  kiln restore backup.db.gz --others keep                            Kiln's own rows alone: neighbours that live on know better

Rows of other programs become what the backup has; rows that they made since stay (--others exact: go). Missing rows of Kiln come back where their
object exists. Rows of Kiln that exist are the controller's: it makes each what its object asks for, so an address is where its pod is now.
`;

const EXIT_CODES = `
Exit codes: 0 restored, 1 nothing to restore, or the backup is not whole or of another database and nothing was changed, 2 wrong usage, 3 cluster or
database unreachable, or forbidden, 130 interrupted.
`;

export function addRestore(program: Command): void {
  const command = program
    .command('restore')
    .argument('<file>', 'a backup of kiln backup or ovsdb-client backup')
    .description('bring the rows of a backup back into the Northbound database: all in one transaction, or nothing')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .addOption(
      new Option(
        '--others <mode>',
        'rows of other programs: restore: as the backup has them, newer ones stay; exact: newer ones go; keep: change none',
      )
        .choices(['restore', 'exact', 'keep'])
        .default('restore'),
    )
    .option('--into <identity>', 'restore into this database although the backup is of another one, which must not be there any more')
    .addOption(
      new Option(
        '--journal <directory>',
        `write what it deletes and overwrites here first, for kiln undo; or off (default: ${JOURNAL_DEFAULT_TEXT})`,
      ).env('KILN_JOURNAL'),
    )
    .option('--dry-run', 'print what would change, and change nothing')
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'wide', ...STRUCTURED_FORMATS]).default('table'));
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(command))).action(async (file: string, flags: RestoreFlags) => {
    process.exitCode = await onCluster('restore', flags, (io) => runRestore(file, flags, io));
  });
}

/** @returns the exit code */
export async function runRestore(file: string, flags: RestoreFlags, io: CommandIo): Promise<number> {
  const ovnNb = northboundOf(flags);
  if (ovnNb === undefined)
    throw new CommandFailure(
      EXIT.usage,
      'kiln restore needs the Northbound database',
      'neither --ovn-nb nor KILN_OVN_NB is set',
      'kiln restore FILE --ovn-nb tcp:HOST:6641 --dry-run',
    );
  const backup = await verified(file);
  const session = sessionOf(flags, ovnNb, PATIENT);
  await using observation = await observeRows(session, ovnNb, flags, io);
  const present = await readSnapshot(session, await clusterUid(io));
  refuse(schemaProblem(backup, present), 'restore it into a database of its own release first, or choose another backup');
  refuse(
    identityProblem(backup, present, flags.into),
    commandText`if this is the database meant: kiln restore FILE --into ${identityText(present.identity)}`,
  );
  const { world } = observation;
  const planWith = (now: Snapshot): RestorePlan =>
    restorePlan(backup, now, {
      neighbours: world.rows.neighbours,
      others: flags.others,
      ownerExists: (owner) => {
        const object = resourceOfOwner(owner);
        return object !== undefined && world.tables[object.resource]?.peek(object.key) !== undefined;
      },
    });
  const plan = planWith(present);
  print(plan, flags, io);
  if (changesOf(plan) === 0) {
    io.say(`nothing to restore: the database has all rows of the backup of ${backup.facts.at} that are to come back`);
    return EXIT.findings;
  }
  if (flags.dryRun === true) return EXIT.fine;
  await consent(plan, flags, io);
  const journal = await openJournal(flags, SILENT);
  try {
    return await restore(plan, planWith, present, resolve(file), { session, world, journal, flags, io });
  } finally {
    await journal.close();
  }
}

interface Restoring {
  readonly session: OvsdbSession;
  readonly world: World;
  readonly journal: Journal;
  readonly flags: RestoreFlags;
  readonly io: CommandIo;
}

/** Writes what goes first, so that `kiln undo` can bring it back. @returns the name of the transaction; undefined if nothing goes */
async function journaled(plan: RestorePlan, { session, world, journal, flags }: Restoring): Promise<string | undefined> {
  if (!journal.isOn) return undefined;
  const at = new Date().toISOString();
  const tx = `restore-${at.replaceAll(/[-:.]/g, '')}`;
  const changes = journaledRestore(tx, plan, { rows: world.rows, replica: session.replica, schema: () => session.schema });
  if (changes.length === 0) return undefined;
  if (await journal.append([{ kind: 'transaction', tx, at, changes: changes.length }, ...changes])) return tx;
  throw new CommandFailure(
    EXIT.findings,
    'nothing was restored',
    `what goes is written into the journal first, and --journal=${flags.journal ?? defaultJournal()} cannot be written: ${journal.failure ?? ''}`,
    'kiln restore FILE --journal DIRECTORY',
  );
}

function refuse(problem: string | undefined, next: string): void {
  if (problem !== undefined) throw new CommandFailure(EXIT.findings, 'nothing was restored', problem, next);
}

function changesOf({ rows, values, members, removedMembers, deletions, keys }: RestorePlan): number {
  return rows.length + values.length + members.length + removedMembers.length + deletions.length + keys.length;
}

/** An election of OVSDB's servers takes seconds. */
const RECONNECT_MS = 120_000;

async function restore(
  plan: RestorePlan,
  planWith: (now: Snapshot) => RestorePlan,
  present: Snapshot,
  file: string,
  restoring: Restoring,
): Promise<number> {
  const { session, journal, io } = restoring;
  const now = Date.now();
  const before = join(dirname(file), `before-restore-${backupName(now)}`);
  try {
    await writeBackup(present, before, now);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(
      EXIT.findings,
      'nothing was restored',
      `no backup of the present could be written to ${before}: ${why}`,
      'put FILE into a directory with room, and run kiln restore again',
    );
  }
  io.say(`the database as it was: ${before}`);
  const written: string[] = [];
  const sent = { plan, present };
  const outcome = await untilKnown(sent, {
    send: async (next) => {
      const tx = await journaled(next.plan, restoring);
      if (tx !== undefined) written.push(tx);
      const ended = await session.transact(restoreTransaction(next.plan, next.present.schema, globalOf(next.present.rows)), {
        comment: `kiln restore: ${next.plan.rows.length} rows${tx === undefined ? '' : `, journaled as ${tx}`}`,
      });
      if (tx !== undefined) journal.note(outcomeEntry(tx, ended, new Date().toISOString()));
      return ended;
    },
    partOf: (next, rows) => {
      const part = partOf(next.plan, next.present.schema, rows);
      return part === next.plan ? next : { ...next, plan: part };
    },
    planAgain: async () => {
      await session.untilSynced(AbortSignal.timeout(RECONNECT_MS));
      const now = await readSnapshot(session, present.identity.kubernetes);
      const next = { plan: planWith(now), present: now };
      return changesOf(next.plan) === 0 ? undefined : next;
    },
    again: (why) => io.say(`whether it was restored is not known, looking again: ${why}`),
  });
  if (outcome?.ok === false)
    throw new CommandFailure(
      EXIT.findings,
      outcome.error.outcome === 'rejected' ? 'nothing was restored' : 'whether it was restored is not known',
      `${outcome.error.code}: ${outcome.error.message}`,
      'run the command again: it plans anew with what is there then',
    );
  io.say(`restored ${counted(plan.rows.length, 'row')} and ${counted(plan.values.length, 'value')} in one transaction`);
  if (written.length > 0) io.say(`what it deleted and overwrote is in the journal: kiln undo ${written.join(' ')}`);
  // An undo brings back what a restore took, and leaves what it brought.
  const came = plan.rows.filter(({ isOurs }) => !isOurs).length;
  if (came > 0)
    io.say(
      `hint: to take back ${counted(came, 'row')} of other programs that came back as well: ${commandText`kiln restore ${before} --others exact`}`,
    );
  return EXIT.fine;
}

async function consent(plan: RestorePlan, { yes }: RestoreFlags, io: CommandIo): Promise<void> {
  if (yes === true) return;
  if (io.ask === undefined)
    throw new CommandFailure(EXIT.usage, 'nothing was changed', 'there is no terminal for the confirmation', 'kiln restore FILE --yes');
  const others = [...plan.rows, ...plan.values, ...plan.deletions].filter(({ isOurs }) => !isOurs).length;
  const neighbours = others === 0 ? '' : ` ${counted(others, 'change')} of these in rows of other programs, which have to agree with them.`;
  const question = `Restore ${counted(plan.rows.length, 'row')}, change ${counted(plan.values.length + plan.members.length + plan.keys.length, 'value')}, delete ${counted(plan.deletions.length, 'row')}?${neighbours}`;
  if (!(await io.ask(question)))
    throw new CommandFailure(EXIT.findings, 'nothing was changed', 'the answer was no', 'kiln restore FILE --dry-run');
}

const SHOWN = 40;

function print(plan: RestorePlan, { output }: RestoreFlags, io: CommandIo): void {
  if (output === 'json' || output === 'yaml')
    return io.out(
      structuredText(output, 'Restore', {
        ...plan,
        rows: plan.rows.map(({ table, uuid, of, isOurs, name }) => ({ table, uuid, of, isOurs, name })),
        values: plan.values.map(({ table, uuid, of, isOurs, name, column }) => ({ table, uuid, of, isOurs, name, column })),
      }),
    );
  const most = output === 'wide' ? Number.POSITIVE_INFINITY : SHOWN;
  const lines = [
    ...limited(plan.rows, most, (one) => `restore    ${one.name} of ${whose(one)}`),
    ...limited(plan.values, most, (one) => `put back   ${one.name} of ${whose(one)}: ${one.column}`),
    ...limited(
      plan.members,
      most,
      (one) => `put into   ${one.name} of ${whose(one)}: ${counted(one.members.length, 'member')} of ${one.column}`,
    ),
    ...limited(plan.deletions, most, (one) => `delete     ${one.name} of ${whose(one)}`),
    ...limited(
      plan.keys,
      most,
      ({ column, key, value, now }) => `set        NB_Global ${column}:${key}=${value}${now === undefined ? '' : ` (now ${now})`}`,
    ),
    ...limited(
      Object.entries(plan.newer),
      most,
      ([name, rows]) => `stays      ${counted(rows, 'row')} of ${name} that the backup does not have`,
    ),
    ...limited(
      Object.entries(plan.gone),
      most,
      ([owner, rows]) => `stays gone ${counted(rows, 'row')} of ${ownerText(owner)}, which does not exist any more`,
    ),
    ...(plan.left === 0
      ? []
      : [
          `stays      ${counted(plan.left, 'row')} of Kiln that ${plan.left === 1 ? 'differs' : 'differ'} from the backup: the objects decide`,
        ]),
    ...limited(plan.lost, most, (one) => `lost       ${one}`),
    ...limited(plan.shared, most, sharedText),
  ];
  if (lines.length > 0) io.out(lines);
  if (plan.shared.length > 0)
    io.say(
      plan.shared.some(({ ports }) => ports.some(({ isOurs, isRestored }) => !isOurs && isRestored))
        ? 'hint: two ports with one address disturb each other; --others keep leaves the ports of other programs as they are'
        : 'hint: two ports with one address disturb each other until the controller gives its own what their objects ask for',
    );
}

/** `two ports  10.0.0.5 in Logical_Switch red of subnet/red: …`. */
function sharedText({ address, home, ports }: SharedAddress): string {
  const texts = ports.map((port) => `${port.name} of ${whose(port)} (${port.isRestored ? 'of the backup' : 'at present'})`);
  return `two ports  ${address} in ${home.name} of ${whose(home)}: ${texts.join(', ')}`;
}

function limited<T>(all: readonly T[], most: number, text: (one: T) => string): readonly string[] {
  const lines = all.slice(0, most).map(text);
  return all.length > most ? [...lines, `           … and ${all.length - most} more of these: -o wide`] : lines;
}

function whose({ of, isOurs }: { readonly of: string; readonly isOurs: boolean }): string {
  return isOurs ? ownerText(of) : of;
}

function ownerText(owner: string): string {
  return owner.replace('//', '/');
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
