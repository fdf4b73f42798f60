/** Which changes of a journal a command is about. Pure. */
import type { JournaledChange } from './journal.ts';
import type { ReadTransaction } from './read-journal.ts';
import { identityOf } from '../nb/row-id.ts';

export interface Selection {
  /** Names of transactions; undefined: any. */
  readonly transactions?: ReadonlySet<string>;
  /** Milliseconds since 1970; undefined: from the beginning. */
  readonly since?: number;
  /** Names of rows: those, and the rows in them. */
  readonly rows?: ReadonlySet<string>;
  /** Owner texts `<kind>/<namespace>/<name>`. */
  readonly owners?: ReadonlySet<string>;
}

export interface SelectedChange extends JournaledChange {
  readonly at: string;
}

/** The selected changes of transactions that may have taken effect, the oldest first. */
export function selectedChanges(transactions: readonly ReadTransaction[], selection: Selection): readonly SelectedChange[] {
  return transactions
    .filter(({ outcome }) => outcome === undefined || outcome.outcome === 'committed' || outcome.outcome === 'unknown')
    .filter(({ tx, at }) => selection.transactions?.has(tx) !== false && !(Date.parse(at) < (selection.since ?? Number.NEGATIVE_INFINITY)))
    .flatMap(({ at, entries }) => entries.filter((change) => isSelected(change, selection)).map((change) => ({ ...change, at })));
}

function isSelected({ id, row, references, owner }: JournaledChange, { rows, owners }: Selection): boolean {
  if (owners?.has(owner) === false) return false;
  if (rows === undefined) return true;
  const parents = references.filter(({ kind }) => kind === 'parent').map((parent) => identityOf(parent.id));
  return [identityOf(id), String(row['name'] ?? ''), ...parents].some((name) => name !== '' && rows.has(name));
}
