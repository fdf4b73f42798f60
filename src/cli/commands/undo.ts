/**
 * `kiln undo`: restores what was deleted or overwritten in OVN, from the journal, in one transaction. It prints the plan and asks. It works
 * beside a running controller: restored rows are held against its collection until their object is back, or until they are let go.
 */
import { hostname, userInfo } from 'node:os';
import { randomBytes } from 'node:crypto';
import type { Command } from 'commander';
import { Option } from 'commander';
import { kilnAnnotation } from '../../api/well-known.ts';
import { undoTransaction } from '../../commit/undo-transaction.ts';
import { resourceOfOwner } from '../../controller/reading/row-owners.ts';
import { CollectionPolicy } from '../../diff/collection-policy.ts';
import { FileJournal } from '../../journal/file-journal.ts';
import type { ReadJournal } from '../../journal/read-journal.ts';
import type { SelectedChange, Selection } from '../../journal/selection.ts';
import { selectedChanges } from '../../journal/selection.ts';
import type { Exception, Present, UndoPlan } from '../../journal/undo-plan.ts';
import { undoPlan } from '../../journal/undo-plan.ts';
import { LET_GO_KEY } from '../../nb/ownership.ts';
import { waitsForOwner } from '../../nb/restored-row.ts';
import { identityOf, tableOf } from '../../nb/row-id.ts';
import { monitoredColumns } from '../../nb/tables.ts';
import type { OvsdbSession, Uuid } from '../../ovsdb/index.ts';
import { mutate, select, rowIs } from '../../ovsdb/index.ts';
import { systemClock } from '../../timing/clock.ts';
import { commandText, nameArgument } from '../../text/command-text.ts';
import type { World } from '../../world/world.ts';
import type { JournalReadFlags } from '../arguments/journal-arguments.ts';
import { addJournalFlags, gathered, journalOf } from '../arguments/journal-arguments.ts';
import { addSettingsFlags } from '../cluster/leader.ts';
import type { ObservationFlags } from '../cluster/observe.ts';
import { refuseOtherCluster } from '../cluster/belongs-together.ts';
import { wayToNorthbound } from '../cluster/northbound-way.ts';
import { addNorthboundFlags, observeRows, sessionOf } from '../cluster/observe.ts';
import type { CommandIo } from '../connection/cluster-command.ts';
import { addConnectionFlags, onCluster } from '../connection/cluster-command.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import { ownerOf, selectionOf } from './history.ts';

export interface UndoFlags extends ObservationFlags, JournalReadFlags {
  readonly output: 'table' | 'wide' | StructuredFormat;
  readonly owner: readonly string[];
  readonly letGo?: boolean;
  readonly yes?: boolean;
  readonly dryRun: 'none' | 'client';
}

const EXAMPLES = `
Examples:
  kiln history --since 10m --journal DIRECTORY     find the transaction
  kiln undo 7.12 --dry-run=client                  print what it would restore
  kiln undo 7.12 7.13                              print it, ask, restore both together
  kiln undo --row blue --since 1h                  the router or switch blue, and all that was in it
  kiln undo --owner vpc/blue --owner subnet/b1     all rows of a Vpc and its Subnet, as they were last
  kiln undo 7.12 --let-go                          no longer hold what it restored: the controller collects what no object asks for
`;

const EXIT_CODES = `
Exit codes: 0 restored, 1 nothing to restore, or the present contradicts and nothing was changed, 2 wrong usage, 3 cluster or database
unreachable, or forbidden, 130 interrupted.
`;

export function addUndo(program: Command): void {
  const command = program
    .command('undo')
    .argument('[transaction...]', 'names of transactions, as kiln history prints them')
    .description('restore what was deleted or overwritten in OVN, from the journal: all of it in one transaction, or nothing')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('--owner <kind/name>', 'only rows of this object: vpc/blue, pod/shop/web-0; may be given more than once', gathered, [])
    .option('--let-go', 'no longer hold restored rows: the controller may collect them')
    .option('-y, --yes', 'do not ask for confirmation')
    .addOption(new Option('--dry-run <mode>', 'client: print the plan, and change nothing').choices(['none', 'client']).default('none'))
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'wide', ...STRUCTURED_FORMATS]).default('table'));
  addSettingsFlags(addNorthboundFlags(addConnectionFlags(addJournalFlags(command)))).action(
    async (transactions: readonly string[], flags: UndoFlags) => {
      process.exitCode = await onCluster('undo', flags, (io) => runUndo(transactions, flags, io));
    },
  );
}

/** @returns the exit code */
export async function runUndo(transactions: readonly string[], flags: UndoFlags, io: CommandIo): Promise<number> {
  if (transactions.length === 0 && flags.since === undefined && (flags.row ?? []).length === 0 && flags.owner.length === 0)
    throw usage(
      'kiln undo needs to know what',
      'it takes transactions, --since TIME, --owner KIND/NAME or --row NAME; kiln history lists them',
    );
  const journal = await journalOf('undo', flags);
  refuseUnreadable(journal);
  const changes = changesOf(journal, transactions, flags, io);
  const way = await wayToNorthbound('undo', flags, io, 'writes');
  if (way.isFound) io.say(`reading Kubernetes, and OVN by ${way.text}`);
  const session = sessionOf(flags, way.ovnNb, way.options);
  await using observation = await observeRows(session, way.ovnNb, flags, io);
  if (way.isFound) refuseOtherCluster(observation.world, way.text);
  if (flags.letGo === true) return await letGo(changes, observation.world, session, flags, io);
  const plan = undoPlan(changes, await presentOf(changes, observation.world, session));
  print(plan, flags, io);
  if (plan.contradictions.length > 0)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was restored',
      `the present contradicts ${counted(plan.contradictions.length, 'change')}: ${exceptionText(plan.contradictions[0])}`,
      'choose fewer rows with --row, or remove what is in the way; kiln undo --dry-run=client shows all of it',
    );
  const count = plan.rows.length + plan.values.length + plan.members.length;
  if (count === 0) {
    io.say(nothingText(plan, journal));
    return EXIT.findings;
  }
  if (flags.dryRun !== 'none') return EXIT.fine;
  await consent(
    flags,
    io,
    `Restore ${counted(plan.rows.length, 'row')} and change ${counted(plan.values.length + plan.members.length, 'existing one')}?`,
  );
  return await restore(plan, changes, letGoCommand(transactions, flags), journal.directory, session, io);
}

/** Lets go of the same rows: those of a whole transaction may be more. */
export function letGoCommand(
  transactions: readonly string[],
  { since, owner, row = [] }: Pick<UndoFlags, 'since' | 'owner' | 'row'>,
): string {
  const selection = [
    ...transactions.map(nameArgument),
    ...(since === undefined ? [] : ['--since', new Date(since).toISOString()]),
    ...owner.flatMap((one) => ['--owner', nameArgument(one)]),
    ...row.flatMap((one) => ['--row', nameArgument(one)]),
  ];
  return commandText`kiln undo ${selection} --let-go`;
}

function usage(what: string, why: string): CommandFailure {
  return new CommandFailure(EXIT.usage, what, why, 'kiln undo --help');
}

/** A part that is missing could be what makes the rest wrong. */
function refuseUnreadable({ problems }: ReadJournal): void {
  const [first] = problems;
  if (first === undefined) return;
  const more = problems.length > 1 ? `, and ${problems.length - 1} more` : '';
  throw new CommandFailure(
    EXIT.findings,
    'nothing was restored',
    `the journal cannot be read as a whole: ${first}${more}`,
    'kiln history prints what can be read; move the named file out of the directory to go on without it',
  );
}

function changesOf(journal: ReadJournal, names: readonly string[], flags: UndoFlags, io: CommandIo): readonly SelectedChange[] {
  const known = new Set(journal.transactions.map(({ tx }) => tx));
  const unknown = names.find((name) => !known.has(name));
  if (unknown !== undefined)
    throw new CommandFailure(EXIT.findings, 'nothing was restored', `the journal has no transaction ${unknown}`, 'kiln history --since 1h');
  const owners = flags.owner.map((one) => ownerOf('undo', one, undefined, io.namespace));
  const selection: Selection = { ...selectionOf(flags, owners), ...(names.length > 0 && { transactions: new Set(names) }) };
  const changes = selectedChanges(journal.transactions, selection);
  if (changes.length > 0) return changes;
  throw new CommandFailure(
    EXIT.findings,
    'nothing was restored',
    'no deletion and no overwrite in the journal matches, or those that do never took effect',
    'kiln history --since 1h',
  );
}

async function presentOf(changes: readonly SelectedChange[], world: World, session: OvsdbSession): Promise<Present> {
  const { schema, replica } = session;
  if (schema === undefined) throw new Error('the Northbound database has sent no schema');
  const monitored = new Set(Object.keys(monitoredColumns()));
  const elsewhere = new Map<Uuid, string>();
  for (const { table, row } of changes) {
    for (const [column, value] of Object.entries(row)) {
      const refTable = schema.tables.get(table)?.columns.get(column)?.key.refTable;
      if (refTable === undefined || monitored.has(refTable)) continue;
      for (const uuid of Array.isArray(value) ? (value as readonly Uuid[]) : [value as Uuid]) elsewhere.set(uuid, refTable);
    }
  }
  const there = new Set<Uuid>();
  if (elsewhere.size > 0) {
    const asked = [...elsewhere];
    const outcome = await session.transact(asked.map(([uuid, table]) => select(table, [rowIs(uuid)], ['_uuid'])));
    if (!outcome.ok) throw outcome.error;
    for (const [at, [uuid]] of asked.entries()) if ((outcome.results[at]?.rows?.length ?? 0) > 0) there.add(uuid);
  }
  const policy = new CollectionPolicy(world, true);
  return {
    schema,
    row: (table, uuid) => replica.table(table).get(uuid),
    rowsOf: (id) => world.rows.rowsOf(id),
    translating: (address) => world.rows.inTable('NAT').flatMap(({ id, row }) => (row['external_ip'] === address ? [id] : [])),
    exists: (table, uuid) => (monitored.has(table) ? replica.table(table).has(uuid) : there.has(uuid)),
    entriesGo: (id) => {
      const row = world.rows.best(id);
      if (row?.ownership.kind !== 'ours' || policy.entryStays(row) !== undefined) return undefined;
      const [kind = '', , name = ''] = row.ownership.owner.split('/');
      return `the collection would remove it again; ${commandText`kubectl annotate ${kind} ${name} ${kilnAnnotation.gc}=report`} keeps it, then undo once more`;
    },
    ownerExists: (owner) => {
      const object = resourceOfOwner(owner);
      return object !== undefined && world.tables[object.resource]?.peek(object.key) !== undefined;
    },
  };
}

async function restore(
  plan: UndoPlan,
  changes: readonly SelectedChange[],
  letGoThese: string,
  directory: string,
  session: OvsdbSession,
  io: CommandIo,
): Promise<number> {
  const transactions = [...new Set(changes.map(({ tx }) => tx))];
  const [global] = session.replica.table('NB_Global').values();
  const by = `${userInfo().username}@${hostname()}`;
  const outcome = await session.transact(undoTransaction(plan, global), {
    comment: `kiln undo ${transactions.slice(0, 5).join(' ')}: ${plan.rows.length} rows`,
  });
  if (!outcome.ok)
    throw new CommandFailure(
      EXIT.findings,
      outcome.error.outcome === 'rejected' ? 'nothing was restored' : 'whether it was restored is not known',
      `${outcome.error.code}: ${outcome.error.message}`,
      'run the command again: it plans anew with what is there then',
    );
  const journal = new FileJournal({ directory, clock: systemClock, writer: `undo${randomBytes(3).toString('hex')}` });
  const at = new Date().toISOString();
  const noted = await journal.append([{ kind: 'undo', at, by, transactions, rows: plan.rows.length }]);
  await journal.close();
  if (!noted) io.say(`warning: the undo is not in the journal: ${journal.failure ?? ''}`);
  io.say(`restored ${counted(plan.rows.length, 'row')} in one transaction`);
  const held = plan.rows.filter(({ owner }) => owner !== '').length;
  if (held > 0)
    io.say(
      `${counted(held, 'row')} ${held === 1 ? 'is' : 'are'} held until the objects that owned them are back: create these again, or let the rows go: ${letGoThese}`,
    );
  return EXIT.fine;
}

/** Marks restored rows that are still held: the controller then collects those that no object asks for. */
async function letGo(
  changes: readonly SelectedChange[],
  { rows }: World,
  session: OvsdbSession,
  flags: UndoFlags,
  io: CommandIo,
): Promise<number> {
  const ids = new Set(changes.map(({ id }) => id));
  const held = [...ids].flatMap((id) => rows.rowsOf(id).filter((row) => waitsForOwner(row)));
  if (held.length === 0) {
    io.say('nothing is held: none of these rows was restored by an undo and still waits for its object');
    return EXIT.findings;
  }
  io.out(held.slice(0, SHOWN).map(({ id }) => `let go  ${tableOf(id)} ${identityOf(id)}`));
  if (held.length > SHOWN) io.out([`… and ${held.length - SHOWN} more`]);
  if (flags.dryRun !== 'none') return EXIT.fine;
  await consent(flags, io, `Let ${counted(held.length, 'row')} go? The controller deletes those that no object asks for.`);
  const at = new Date().toISOString();
  const outcome = await session.transact(
    held.map(({ table, uuid }) => mutate(table, uuid, [{ column: 'external_ids', mutator: 'insert', value: { [LET_GO_KEY]: at } }])),
    { comment: `kiln undo --let-go: ${held.length} rows` },
  );
  if (!outcome.ok)
    throw new CommandFailure(
      EXIT.findings,
      'nothing was let go',
      `${outcome.error.code}: ${outcome.error.message}`,
      'run the command again',
    );
  io.say(`let go of ${counted(held.length, 'row')}`);
  return EXIT.fine;
}

async function consent({ yes }: UndoFlags, io: CommandIo, question: string): Promise<void> {
  if (yes === true) return;
  if (io.ask === undefined)
    throw new CommandFailure(EXIT.usage, 'nothing was changed', 'there is no terminal for the confirmation', 'kiln undo … --yes');
  if (!(await io.ask(question)))
    throw new CommandFailure(EXIT.findings, 'nothing was changed', 'the answer was no', 'kiln undo … --dry-run=client');
}

const SHOWN = 40;

function print(plan: UndoPlan, { output }: UndoFlags, io: CommandIo): void {
  if (output === 'json' || output === 'yaml') return io.out(structuredText(output, 'Undo', plan));
  const most = output === 'wide' ? Number.POSITIVE_INFINITY : SHOWN;
  const lines = [
    ...limited(plan.rows, most, ({ id, owner }) => `restore   ${rowText(id)}${owner === '' ? '' : ` of ${owner.replace('//', '/')}`}`),
    ...limited(plan.members, most, ({ id, column, add }) => `put into  ${rowText(id)}: ${counted(add.length, 'member')} of ${column}`),
    ...limited(plan.values, most, ({ id, column, key }) => `put back  ${rowText(id)}: ${key === undefined ? '' : `${key} in `}${column}`),
    ...limited(plan.lost, most, (one) => `lost      ${exceptionText(one)}`),
    ...limited(plan.present, most, (one) => `present   ${exceptionText(one)}`),
    ...limited(plan.left, most, (one) => `left      ${exceptionText(one)}`),
    ...limited(plan.contradictions, most, (one) => `CONTRADICTS  ${exceptionText(one)}`),
  ];
  if (lines.length > 0) io.out(lines);
}

function limited<T>(all: readonly T[], most: number, text: (one: T) => string): readonly string[] {
  const lines = all.slice(0, most).map(text);
  return all.length > most ? [...lines, `          … and ${all.length - most} more of these: -o wide`] : lines;
}

function rowText(id: UndoPlan['rows'][number]['id']): string {
  return `${tableOf(id)} ${identityOf(id)}`;
}

function exceptionText(one: Exception | undefined): string {
  return one === undefined ? '' : `${rowText(one.id)} ${one.why}`;
}

function nothingText({ present, left }: UndoPlan, { undone }: ReadJournal): string {
  if (present.length > 0) {
    const last = undone.at(-1);
    const when = last === undefined ? '' : `; the last undo was at ${last.at} by ${last.by}`;
    return `nothing to restore: ${counted(present.length, 'row')} of these are in the database already${when}`;
  }
  return `nothing to restore: the objects of the cluster decide ${counted(left.length, 'change')} of these`;
}

function counted(count: number, what: string): string {
  return `${count} ${what}${count === 1 ? '' : 's'}`;
}
