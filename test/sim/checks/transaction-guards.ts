/**
 * How a controller builds its transactions, checked as they are sent. The fence comes first, with the transaction's term. An update or a
 * deletion of a row has a guard on its ownership keys, a deletion also one on its children. An operation that changes nothing is not sent.
 * A missing guard would otherwise show only if another program writes within a millisecond.
 */
import { childColumns } from '../../../src/nb/tables.ts';
import { OWNER_KEY, TERM_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../../../src/nb/ownership.ts';
import type { RowDifference, SimulatedDatabase, StoredRow } from '../../../src/ovsdb/simulated/database.ts';
import type { Execution } from '../../../src/ovsdb/simulated/transaction.ts';
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
export function missingGuards(database: SimulatedDatabase, operations: readonly unknown[]): readonly string[] {
  const sent = operations as readonly Sent[];
  const comment = sent.find(({ comment }) => comment !== undefined)?.comment ?? '';
  const term = /^kiln: term (\d+), /.exec(comment)?.[1];
  // The transaction that takes a term has a guard on the one before, and writes nothing else.
  if (term === undefined) return [];
  const faults: string[] = [];
  const [fence] = sent;
  if (fence?.op !== 'wait' || fence.table !== GLOBAL || guardedKeys(fence).get(TERM_KEY) !== term)
    faults.push(`does not begin with the fence of its term: "${comment}"`);
  const waits = new Map<Uuid, Sent[]>();
  const inserted = new Set<Uuid>();
  for (const one of sent) {
    if (one.op === 'insert' && one.uuid !== undefined) inserted.add(one.uuid);
    const uuid = rowOf(one);
    if (uuid === undefined) continue;
    if (one.op === 'wait') waits.set(uuid, [...(waits.get(uuid) ?? []), one]);
  }
  const isGuarded = (table: string, uuid: Uuid): boolean => {
    if (inserted.has(uuid)) return true;
    const needed = ownershipKeys(database.row(table, uuid));
    return (waits.get(uuid) ?? []).some((wait) => {
      const keys = guardedKeys(wait);
      return (
        wait.columns?.[0] === '_uuid' && needed.every(([key, value]) => keys.get(key) === value || (keys.has(key) && key !== VENDOR_KEY))
      );
    });
  };
  const areChildrenGuarded = (table: string, uuid: Uuid): boolean =>
    childColumns(table)
      .filter(({ column }) => database.schema.tables.get(table)?.columns.has(column) === true)
      .every(({ column }) => (waits.get(uuid) ?? []).some(({ columns }) => columns?.[0] === column));
  const name = (table: string, uuid: Uuid): string => `${table} ${String(database.row(table, uuid)?.['name'] ?? '')}`.trim();
  for (const one of sent) {
    const uuid = rowOf(one);
    if (uuid === undefined || one.table === GLOBAL || inserted.has(uuid)) continue;
    if (one.op === 'delete' || one.op === 'update') {
      if (!isGuarded(one.table, uuid)) faults.push(`has no guard on the row owner of ${name(one.table, uuid)}, and has it in a ${one.op}`);
      if (one.op === 'delete' && !areChildrenGuarded(one.table, uuid))
        faults.push(`deletes ${name(one.table, uuid)} without a guard on its children`);
    }
    if (one.op !== 'mutate') continue;
    const child = (column: string): string | undefined => childColumns(one.table).find((each) => each.column === column)?.child.table;
    for (const [column, mutator, value] of one.mutations ?? []) {
      const of = child(column);
      // Rows removed from the column that keeps them alive: each needs the guard, not the row that they are removed from.
      if (of !== undefined && mutator === 'delete') {
        for (const left of uuidsIn(value)) {
          if (!isGuarded(of, left)) faults.push(`removes ${name(of, left)} from ${name(one.table, uuid)} without a guard on its row owner`);
        }
      } else if (!isGuarded(one.table, uuid) && !restoresRowOwner(one, database.row(one.table, uuid)))
        faults.push(`changes ${column} of ${name(one.table, uuid)} without a guard on its row owner`);
    }
  }
  return faults;
}

/**
 * The mutation writes the row owner that the row has: a user removed our ownership keys, and a transaction whose reply was lost restored
 * them.
 */
function restoresRowOwner({ mutations = [] }: Sent, row: StoredRow | undefined): boolean {
  const owner = ownershipKeys(row).filter(([key]) => key !== VENDOR_KEY);
  return mutations.some(([column, mutator, value]) => {
    const [kind, pairs] = value as readonly [string, readonly (readonly [string, string])[]];
    if (column !== 'external_ids' || mutator !== 'insert' || kind !== 'map') return false;
    const written = new Map(pairs);
    return owner.length > 0 && owner.every(([key, value]) => written.get(key) === value);
  });
}

/**
 * Operations that changed nothing: the row had these values already.
 * @param unreceived changes by others that had not reached the sender: another program may have been first
 * @returns the rest of a sentence
 */
export function redundantOperations(
  { ok, differences }: Execution,
  operations: readonly unknown[],
  unreceived: readonly RowDifference[],
): readonly string[] {
  if (!ok) return [];
  const changed = new Set([...differences, ...unreceived].map(({ uuid }) => uuid));
  return (operations as readonly Sent[]).flatMap((one) => {
    const uuid = one.op === 'update' || one.op === 'mutate' ? rowOf(one) : undefined;
    return uuid === undefined || changed.has(uuid) ? [] : [`changes nothing: ${JSON.stringify(one)}`];
  });
}

function rowOf({ where }: Sent): Uuid | undefined {
  const clause = where?.find(([column, test]) => column === '_uuid' && test === '==');
  return (clause?.[2] as readonly [string, Uuid] | undefined)?.[1];
}

/** The ownership keys that a `wait` compares. */
function guardedKeys({ where = [] }: Sent): ReadonlyMap<string, string> {
  const pairs = where.flatMap(([column, test, value]) =>
    column === 'external_ids' && test === 'includes' ? ((value as readonly [string, readonly (readonly [string, string])[]])[1] ?? []) : [],
  );
  return new Map(pairs);
}

/** The ownership keys of a row of ours or of Kube-OVN's. */
function ownershipKeys(row: StoredRow | undefined): readonly (readonly [string, string])[] {
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
