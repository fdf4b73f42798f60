/**
 * How a controller builds its transactions, checked as they are sent. The fence comes first, with the transaction's term. An update or a
 * deletion of a row has a guard on its ownership keys, a deletion also one on its children. An operation that changes nothing is not sent.
 * A missing guard would otherwise show only if another program writes within a millisecond.
 */
import { childColumns } from '../../../src/nb/tables.ts';
import { OWNER_KEY, TERM_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../../../src/nb/ownership.ts';
import type { RowDifference, SimulatedDatabase, StoredRow } from '../../../src/ovsdb/testing/simulated/database.ts';
import type { Execution } from '../../../src/ovsdb/testing/simulated/transaction.ts';
import type { Uuid } from '../../../src/ovsdb/index.ts';

type Clause = readonly [column: string, test: string, value: unknown];

/** An operation of a request. */
interface Sent {
  readonly op: string;
  readonly table: string;
  readonly where?: readonly Clause[];
  readonly columns?: readonly string[];
  readonly uuid?: Uuid;
  readonly mutations?: readonly (readonly [column: string, mutator: string, value: unknown])[];
  readonly comment?: string;
}

/** The table with the fence and the options of the whole database. */
const GLOBAL = 'NB_Global';

/**
 * @param database the state before the transaction
 * @returns what is wrong, as the rest of a sentence
 */
export function notAskedFirst(database: SimulatedDatabase, operations: readonly unknown[]): readonly string[] {
  const sent = operations as readonly Sent[];
  const said = sent.find(({ comment }) => comment !== undefined)?.comment ?? '';
  const term = /^kiln: term (\d+), /.exec(said)?.[1];
  // The transaction that takes a term has a guard on the one before, and writes nothing else.
  if (term === undefined) return [];
  const wrong: string[] = [];
  const [fence] = sent;
  if (fence?.op !== 'wait' || fence.table !== GLOBAL || asked(fence).get(TERM_KEY) !== term)
    wrong.push(`does not ask for its term first: "${said}"`);
  const waits = new Map<Uuid, Sent[]>();
  const made = new Set<Uuid>();
  for (const one of sent) {
    if (one.op === 'insert' && one.uuid !== undefined) made.add(one.uuid);
    const uuid = rowOf(one);
    if (uuid === undefined) continue;
    if (one.op === 'wait') waits.set(uuid, [...(waits.get(uuid) ?? []), one]);
  }
  const isAsked = (table: string, uuid: Uuid): boolean => {
    if (made.has(uuid)) return true;
    const needed = marksOf(database.row(table, uuid));
    return (waits.get(uuid) ?? []).some((wait) => {
      const marks = asked(wait);
      return (
        wait.columns?.[0] === '_uuid' && needed.every(([key, value]) => marks.get(key) === value || (marks.has(key) && key !== VENDOR_KEY))
      );
    });
  };
  const isAlone = (table: string, uuid: Uuid): boolean =>
    childColumns(table)
      .filter(({ column }) => database.schema.tables.get(table)?.columns.has(column) === true)
      .every(({ column }) => (waits.get(uuid) ?? []).some(({ columns }) => columns?.[0] === column));
  const name = (table: string, uuid: Uuid): string => `${table} ${String(database.row(table, uuid)?.['name'] ?? '')}`.trim();
  for (const one of sent) {
    const uuid = rowOf(one);
    if (uuid === undefined || one.table === GLOBAL || made.has(uuid)) continue;
    if (one.op === 'delete' || one.op === 'update') {
      if (!isAsked(one.table, uuid)) wrong.push(`has not asked whose ${name(one.table, uuid)} is, and has it in a ${one.op}`);
      if (one.op === 'delete' && !isAlone(one.table, uuid)) wrong.push(`deletes ${name(one.table, uuid)}, and has not asked what is in it`);
    }
    if (one.op !== 'mutate') continue;
    const child = (column: string): string | undefined => childColumns(one.table).find((each) => each.column === column)?.child.table;
    for (const [column, mutator, value] of one.mutations ?? []) {
      const of = child(column);
      // Rows removed from the column that keeps them alive: each needs the guard, not the row that they are removed from.
      if (of !== undefined && mutator === 'delete') {
        for (const left of uuidsIn(value)) {
          if (!isAsked(of, left)) wrong.push(`has not asked whose ${name(of, left)} is, and takes it out of ${name(one.table, uuid)}`);
        }
      } else if (!isAsked(one.table, uuid) && !saysTheSame(one, database.row(one.table, uuid)))
        wrong.push(`has not asked whose ${name(one.table, uuid)} is, and changes ${column} of it`);
    }
  }
  return wrong;
}

/**
 * The mutation writes the row owner that the row has: a user removed our ownership keys, and a transaction whose reply was lost restored
 * them.
 */
function saysTheSame({ mutations = [] }: Sent, row: StoredRow | undefined): boolean {
  const owner = marksOf(row).filter(([key]) => key !== VENDOR_KEY);
  return mutations.some(([column, mutator, value]) => {
    const [kind, pairs] = value as readonly [string, readonly (readonly [string, string])[]];
    if (column !== 'external_ids' || mutator !== 'insert' || kind !== 'map') return false;
    const said = new Map(pairs);
    return owner.length > 0 && owner.every(([key, is]) => said.get(key) === is);
  });
}

/**
 * Operations that changed nothing: the row already was as they say.
 * @param unheard changes by others that had not reached the sender: another program may have been first
 * @returns the rest of a sentence
 */
export function wroteInVain(
  { ok, differences }: Execution,
  operations: readonly unknown[],
  unheard: readonly RowDifference[],
): readonly string[] {
  if (!ok) return [];
  const changed = new Set([...differences, ...unheard].map(({ uuid }) => uuid));
  return (operations as readonly Sent[]).flatMap((one) => {
    const uuid = one.op === 'update' || one.op === 'mutate' ? rowOf(one) : undefined;
    return uuid === undefined || changed.has(uuid) ? [] : [`writes what is there: ${JSON.stringify(one)}`];
  });
}

function rowOf({ where }: Sent): Uuid | undefined {
  const clause = where?.find(([column, test]) => column === '_uuid' && test === '==');
  return (clause?.[2] as readonly [string, Uuid] | undefined)?.[1];
}

/** The ownership keys that a `wait` compares. */
function asked({ where = [] }: Sent): ReadonlyMap<string, string> {
  const pairs = where.flatMap(([column, test, value]) =>
    column === 'external_ids' && test === 'includes' ? ((value as readonly [string, readonly (readonly [string, string])[]])[1] ?? []) : [],
  );
  return new Map(pairs);
}

/** The ownership keys of a row of ours or of Kube-OVN's. */
function marksOf(row: StoredRow | undefined): readonly (readonly [string, string])[] {
  const ids = row?.['external_ids'];
  if (!(ids instanceof Map) || ids.get(VENDOR_KEY) !== VENDOR) return [];
  return [VENDOR_KEY, OWNER_KEY, UID_KEY].flatMap((key) => {
    const value: unknown = ids.get(key);
    return typeof value === 'string' ? [[key, value] as const] : [];
  });
}

function uuidsIn(value: unknown): readonly Uuid[] {
  const [kind, held] = value as readonly [string, unknown];
  return kind === 'uuid' ? [held as Uuid] : (held as readonly (readonly [string, Uuid])[]).map(([, uuid]) => uuid);
}
