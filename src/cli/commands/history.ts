/** `kiln history`: what was deleted or overwritten in OVN, when and why, from the journal. It reads files alone, and no cluster. */
import type { Command } from 'commander';
import { Option } from 'commander';
import type { JournalReason } from '../../journal/journal.ts';
import type { ReadJournal, ReadTransaction } from '../../journal/read-journal.ts';
import type { SelectedChange, Selection } from '../../journal/selection.ts';
import { selectedChanges } from '../../journal/selection.ts';
import { changedOwnerText } from '../../journal/owner-text.ts';
import { identityOf } from '../../nb/row-id.ts';
import { withoutSecrets } from '../../text/known-secrets.ts';
import { traitsOf } from '../../world/resources.ts';
import type { JournalReadFlags } from '../arguments/journal-arguments.ts';
import { addJournalFlags, journalOf } from '../arguments/journal-arguments.ts';
import { objectArgument } from '../arguments/object-argument.ts';
import { EXIT, failureOf, failureText } from '../errors/command-failure.ts';
import type { StructuredFormat } from '../output/structured-text.ts';
import { STRUCTURED_FORMATS, structuredText } from '../output/structured-text.ts';
import type { Output } from '../output/terminal.ts';
import { print, printError, printErrorText } from '../output/terminal.ts';

export interface HistoryFlags extends JournalReadFlags {
  readonly output: 'table' | 'wide' | StructuredFormat;
  readonly namespace: string;
}

const EXAMPLES = `
Examples:
  kiln history vpc blue --journal /var/lib/kiln/journal     what happened to the rows of a Vpc, and why
  kiln history --row blue                                   to the router blue and all in it
  kiln history --since 10m -o wide                          everything of ten minutes, with the references that went
  kiln history --since 10m -o json | jq .changes            whole rows, for programs
`;

const EXIT_CODES = `
Exit codes: 0 printed, 1 nothing happened to it, or a part of the journal cannot be read, 2 wrong usage.
`;

export function addHistory(program: Command): void {
  const command = program
    .command('history')
    .argument('[kind]', 'kind of an object, such as vpc or subnet')
    .argument('[name]', 'its name')
    .description('print what was deleted or overwritten in OVN, when, by which transaction and why, from the journal of the controller')
    .addHelpText('after', EXAMPLES)
    .addHelpText('after', EXIT_CODES)
    .option('-n, --namespace <name>', 'namespace of the object', 'default')
    .addOption(new Option('-o, --output <format>', 'output format').choices(['table', 'wide', ...STRUCTURED_FORMATS]).default('table'));
  addJournalFlags(command).action(async (kind: string | undefined, name: string | undefined, flags: HistoryFlags) => {
    try {
      process.exitCode = await runHistory(kind, name, flags, print, printError);
    } catch (error) {
      const failure = failureOf(error, 'history');
      printErrorText(failureText(failure));
      process.exitCode = failure.exit;
    }
  });
}

/** @returns the exit code */
export async function runHistory(
  kind: string | undefined,
  name: string | undefined,
  flags: HistoryFlags,
  out: (output: Output) => void,
  say: (line: string) => void,
): Promise<number> {
  const selection = selectionOf(flags, kind === undefined ? [] : [ownerOf('history', kind, name, flags.namespace)]);
  const journal = await journalOf('history', flags);
  const changes = selectedChanges(journal.transactions, selection);
  sayProblems(journal, say);
  if (flags.output === 'json' || flags.output === 'yaml')
    out(structuredText(flags.output, 'History', { changes, undone: journal.undone, problems: journal.problems }));
  else if (changes.length > 0) out(historyLines(changes, journal, flags.output));
  if (changes.length === 0) say('nothing was deleted or overwritten that matches; the journal may not go back far enough');
  return changes.length === 0 || journal.problems.length > 0 ? EXIT.findings : EXIT.fine;
}

/** The owner text of a typed object. */
export function ownerOf(command: string, kind: string, name: string | undefined, namespace: string): string {
  const object = objectArgument(command, kind, name, namespace);
  return `${traitsOf(object.resource).kind.toLowerCase()}/${object.namespace}/${object.name}`;
}

export function selectionOf({ since, row = [] }: JournalReadFlags, owners: readonly string[]): Selection {
  return {
    ...(since !== undefined && { since }),
    ...(row.length > 0 && { rows: new Set(row) }),
    ...(owners.length > 0 && { owners: new Set(owners) }),
  };
}

const MOST_PROBLEMS = 5;

export function sayProblems({ problems }: ReadJournal, say: (line: string) => void): void {
  for (const problem of problems.slice(0, MOST_PROBLEMS)) say(withoutSecrets(`warning: ${problem}`));
  if (problems.length > MOST_PROBLEMS) say(`warning: and ${problems.length - MOST_PROBLEMS} more parts that cannot be read`);
}

export const REASON_TEXT: Readonly<Record<JournalReason, string>> = {
  unexplained: 'no object asks for it any more',
  replaced: 'made again in its right place',
  duplicate: 'a second row of this name',
  inside: 'was in a row that was deleted',
  adopted: 'taken over from Kube-OVN',
  changed: 'its objects ask for something else',
  repaired: 'another program had changed it',
  restored: 'kiln restore made it as a backup has it',
};

/** Only the keys that Kiln itself set. */
const GLOBAL_CHANGED = '--global-options asks for other values than before';

const SHOWN = 200;

function historyLines(
  changes: readonly SelectedChange[],
  { transactions, undone }: ReadJournal,
  format: 'table' | 'wide',
): readonly string[] {
  const outcomes = new Map(transactions.map((one: ReadTransaction) => [one.tx, one.outcome?.outcome]));
  const shown = format === 'wide' ? changes : changes.slice(-SHOWN);
  const taken = new Set(changes.map(({ tx }) => tx));
  const ofThese = undone.filter(({ transactions: names }) => names.some((name) => taken.has(name)));
  const lines = [
    ...shown.map((change) => ({ at: change.at, lines: changeLines(change, outcomes.get(change.tx), format) })),
    ...ofThese.map(({ at, by, transactions: names, rows }) => ({
      at,
      lines: [`${at}  undo of ${names.join(', ')} by ${by}: ${rows} rows`],
    })),
  ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
  return [
    ...(shown.length < changes.length ? [`… ${changes.length - shown.length} earlier ones: kiln history -o wide`] : []),
    ...lines.flatMap((one) => one.lines),
  ];
}

function changeLines(change: SelectedChange, outcome: string | undefined, format: 'table' | 'wide'): readonly string[] {
  const { at, tx, change: what, table, id, reason, uuid, references, columns = {}, keys = {}, removed = {} } = change;
  const doubt = outcome === 'committed' ? '' : ' (whether it took effect is not known)';
  const changed = [
    ...Object.keys(columns),
    ...Object.entries(keys).map(([column, of]) => `${column}: ${Object.keys(of).join(', ')}`),
    ...Object.entries(removed).map(([column, of]) => `${column}: ${of.length} members`),
  ];
  const detail = changed.length === 0 ? '' : ` [${changed.join('; ')}]`;
  const why = table === 'NB_Global' && reason === 'changed' ? GLOBAL_CHANGED : REASON_TEXT[reason];
  const line = `${at}  ${tx}  ${what}  ${table} ${identityOf(id)}${detail}  of ${changedOwnerText(change)}: ${why}${doubt}`;
  if (format === 'table') return [line];
  const referring = references.map((one) => `${one.table} ${identityOf(one.id)} (${one.column})`);
  return [line, `    row ${uuid}${referring.length === 0 ? '' : `, in ${referring.join(', ')}`}`];
}
