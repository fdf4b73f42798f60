/**
 * Who changes a row of Kiln's by hand while all is calm is told: when a controller has put it back, the object that the row belongs to has an Event that says what was
 * found, and one that says that it is as it was. And no Event tells of a change that nobody made. Held against the rows before and after, by no rule and no diff.
 */
import { OWNER_KEY, SEAL_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../../src/nb/ownership.ts';
import { childColumns } from '../../src/nb/tables.ts';
import type { ObjectStore } from '../../src/lab/apiserver/store.ts';
import type { Value } from '../../src/ovsdb/index.ts';
import type { RowDifference, StoredRow } from '../../src/ovsdb/testing/simulated/database.ts';
import { equalValues } from '../../src/ovsdb/value.ts';
import type { Finding } from './judge.ts';
import { mapOf } from './reading.ts';

/** A controller that has seen it puts it back at once. */
const AT_ONCE_MS = 150;
/** So many are told one by one, and one in each second after that. */
const MOST_TOLD = 12;
const TOLD_AGAIN_MS = 25_000;

/** Of the kinds that own rows. */
const TABLES: Readonly<Record<string, string>> = {
  ...{ pod: 'pods', node: 'nodes', namespace: 'namespaces' },
  ...Object.fromEntries(['vpc', 'subnet', 'ip', 'ippool', 'vip'].map((kind) => [kind, `${kind}s.kubeovn.io`])),
};

/** Whose rows a sentence calls otherwise than by the name that they may have. */
const NOT_BY_NAME: ReadonlySet<string> = new Set(['ACL']);

interface Changed {
  readonly owner: string;
  readonly uid: string;
  readonly row: string;
  readonly before: StoredRow;
  /** Undefined for the whole row. */
  readonly columns: readonly string[] | undefined;
  readonly at: number;
  readonly term: number;
  readonly step: number;
}

interface EventFields {
  readonly involvedObject?: { readonly uid?: string };
  readonly reason?: string;
  readonly message?: string;
}

/** What else is known of the moment. */
export interface Moment {
  readonly now: number;
  /** How often some process began to lead. */
  readonly term: number;
  /** What was done or inflicted so far. */
  readonly step: number;
  /** One leads, has nothing to do, and has seen everything. */
  readonly calm: boolean;
}

export class DriftTold {
  readonly #store: ObjectStore;
  /** By table and uuid: changed by hand, and not put back yet. */
  readonly #changed = new Map<string, Changed>();
  /** Put back at once: both Events have to be there. */
  #owed: Changed[] = [];
  /** `<table> <name>`, and `<table>` of a row without a name. */
  readonly #touched = new Set<string>();
  /** When drift was told one by one. */
  #told: number[] = [];

  constructor(store: ObjectStore) {
    this.#store = store;
  }

  /** A controller says that it found some. */
  found(now: number): void {
    this.#told = [...this.#told.filter((at) => now - at < TOLD_AGAIN_MS), now];
  }

  /** Somebody changed rows by hand. */
  byHand(differences: readonly RowDifference[], { now, term, step, calm }: Moment): void {
    const gone: ReadonlySet<unknown> = new Set(differences.flatMap(({ uuid, after }) => (after === undefined ? [uuid] : [])));
    // What goes with a row of somebody else was not as it should be before.
    const theirs = differences.some(({ before }) => before !== undefined && ownerOf(before).length === 0);
    for (const { table, uuid, before, after } of differences) {
      const inside = childColumns(table).filter(({ column }) => !isSame(before?.[column], after?.[column]));
      // What is put into a row, or taken out, is its own drift.
      for (const { child } of inside) this.#touched.add(child.table);
      for (const row of [before, after]) if (row !== undefined) this.#touched.add(NOT_BY_NAME.has(table) ? table : nameOf(table, row));
      const key = `${table} ${uuid}`;
      this.#changed.delete(key);
      const crowded = differences.length + this.#told.filter((at) => now - at < TOLD_AGAIN_MS).length > MOST_TOLD;
      const [owner, uid] = before === undefined ? [] : ownerOf(before);
      if (!calm || theirs || crowded || before === undefined || owner === undefined || uid === undefined || !this.#isThere(owner, uid))
        continue;
      const columns =
        after === undefined ? undefined : Object.keys(before).filter((one) => !isSame(without(before[one], gone), after[one]));
      if (columns?.every((one) => inside.some(({ column }) => column === one)) === true) continue;
      this.#changed.set(key, { owner, uid, row: nameOf(table, before), before, columns, at: now, term, step });
    }
  }

  /** A transaction of a controller. */
  wrote(differences: readonly RowDifference[], { now, step }: Moment): void {
    if (this.#changed.size === 0) return;
    for (const { table, uuid, after } of differences) {
      const key = `${table} ${uuid}`;
      const changed = this.#changed.get(key);
      if (changed === undefined) continue;
      this.#changed.delete(key);
      const { before, columns = Object.keys(before), at } = changed;
      // What else was done meanwhile may have been the reason for it.
      if (after === undefined || changed.step !== step || now - at > AT_ONCE_MS) continue;
      if (columns.every((one) => isSame(before[one], after[one]))) this.#owed.push(changed);
    }
  }

  /** @param isExcused whether an Event of this uid and reason was not sent on purpose, or may have been lost with its process */
  judge(term: number, isExcused: (uid: string, reason: string) => boolean): readonly Finding[] {
    const owed = this.#owed.splice(0);
    const events = this.#store.list('events').map((event) => event as unknown as EventFields);
    const drifted = events.filter(({ reason }) => reason === 'Drifted');
    const unfounded = drifted.flatMap(({ message = '' }) => {
      const [table = '', name = ''] = message.split(' ', 2);
      return this.#touched.has(table) || this.#touched.has(`${table} ${name}`)
        ? []
        : [{ kind: 'drift unfounded', message: `an Event says that another program changed a row, and nobody did: ${message}` }];
    });
    const untold = owed.flatMap((changed) =>
      ['Drifted', 'Repaired'].flatMap((reason) => {
        const { owner, uid, row } = changed;
        if (changed.term !== term || !this.#isThere(owner, uid) || isExcused(uid, reason)) return [];
        const isTold = events.some(
          (one) => one.reason === reason && one.involvedObject?.uid === uid && (one.message ?? '').startsWith(row),
        );
        return isTold
          ? []
          : [{ kind: `drift ${reason}`, message: `${row} was changed by hand and put back, and no Event ${reason} says so to ${owner}` }];
      }),
    );
    return [...unfounded, ...untold];
  }

  /** An Event about it would be kept. */
  #isThere(owner: string, uid: string): boolean {
    const [kind = '', namespace = '', name = ''] = owner.split('/');
    const metadata = this.#store.get(TABLES[kind] ?? '', namespace === '' ? name : `${namespace}/${name}`)?.metadata;
    return metadata?.uid === uid && metadata.deletionTimestamp === undefined;
  }
}

/** As a sentence about it begins. */
function nameOf(table: string, { name }: StoredRow): string {
  return typeof name === 'string' && name !== '' ? `${table} ${name}` : table;
}

/** Nothing where the row is not Kiln's. */
function ownerOf(row: StoredRow): readonly [owner: string | undefined, uid: string | undefined] | readonly [] {
  const marks = mapOf(row['external_ids']);
  return marks.get(VENDOR_KEY) === VENDOR ? [marks.get(OWNER_KEY), marks.get(UID_KEY)] : [];
}

/** A reference to a row that goes leaves with that, and is part of its drift. */
function without(value: Value | undefined, gone: ReadonlySet<unknown>): Value | undefined {
  return value instanceof Set ? new Set([...value].filter((one) => !gone.has(one))) : value;
}

/** But for the seal. */
function isSame(a: Value | undefined, b: Value | undefined): boolean {
  if (!(a instanceof Map) || !(b instanceof Map)) return a === b || (a !== undefined && b !== undefined && equalValues(a, b));
  const plain = (map: ReadonlyMap<unknown, unknown>): Value => new Map([...map].filter(([key]) => key !== SEAL_KEY)) as Value;
  return equalValues(plain(a), plain(b));
}
