/**
 * What a restore changes: a backup against the database as it is. Pure; README.md has the rules. The file is long since all parts share
 * which rows of the backup are which rows of the present, and which come back.
 */
import { GLOBAL_COLUMNS, recordedKey } from '../nb/global-keys.ts';
import type { Ownership } from '../nb/ownership.ts';
import type { Neighbours } from '../nb/neighbours.ts';
import type { Atom, ColumnSchema, InputValue, Row, TableSchema, Uuid, Value } from '../ovsdb/index.ts';
import { defaultValue, equalValues } from '../ovsdb/index.ts';
import type { Backup } from './database-file.ts';
import { NOT_CONTENTS } from './fit.ts';
import type { Named, RestorePlan, RestoredKey, RestoredMembers, RestoredRow, RestoredValue } from './restore-changes.ts';
import { familyText, referencesIn, RowFamilies } from './row-families.ts';
import { sharedAddresses } from './shared-addresses.ts';
import { globalOf } from './snapshot.ts';
import type { Snapshot } from './snapshot.ts';

export interface RestoreOptions {
  readonly neighbours: Neighbours;
  /** By owner text. */
  readonly ownerExists: (owner: string) => boolean;
  /** `restore`: rows of others as the backup has them, newer ones stay; `exact`: newer ones go; `keep`: nothing of others is changed. */
  readonly others: 'restore' | 'exact' | 'keep';
}

/** What ovn-northd writes of what it sees. */
const OBSERVED_COLUMNS: ReadonlySet<string> = new Set(['Logical_Switch_Port up', 'Logical_Router_Port status', 'BFD status']);
/** Keys of NB_Global that ovn-northd computes. */
const COMPUTED_KEYS: ReadonlySet<string> = new Set([
  'northd_internal_version',
  'max_tunid',
  'hv_cfg_timestamp',
  'northd-backoff-interval-ms',
]);
/** Root tables whose names are not unique by the schema, and are for every program that looks rows up. */
const NAMED_TABLES: ReadonlySet<string> = new Set(['Logical_Switch', 'Logical_Router', 'Load_Balancer']);

export function restorePlan(backup: Backup, present: Snapshot, options: RestoreOptions): RestorePlan {
  return new Planning(backup, present, options).plan();
}

class Planning {
  readonly #backup: Backup;
  readonly #present: Snapshot;
  readonly #options: RestoreOptions;
  readonly #then: RowFamilies;
  readonly #now: RowFamilies;
  /** Rows of the backup that exist, with their UUIDs at present. */
  readonly #match = new Map<Uuid, Uuid>();
  /** Rows of the present that the backup has. */
  readonly #matched = new Set<Uuid>();
  /** Rows that come back, with their tables. */
  readonly #back = new Map<Uuid, string>();
  /** Rows of others that exist and become as in the backup. */
  readonly #changed = new Map<Uuid, string>();
  readonly #gone: Record<string, number> = {};
  readonly #lost: string[] = [];

  constructor(backup: Backup, present: Snapshot, options: RestoreOptions) {
    this.#backup = backup;
    this.#present = present;
    this.#options = options;
    this.#then = new RowFamilies(backup, options.neighbours);
    this.#now = new RowFamilies(present, options.neighbours);
  }

  plan(): RestorePlan {
    this.#matchRows();
    this.#chooseRows();
    this.#dropOrphans();
    const { deletions, newer } = this.#newerRows();
    const deleted = new Set(deletions.map(({ uuid }) => uuid));
    const values = [...this.#changed].flatMap(([uuid, table]) => this.#valuesOf(table, uuid, deleted));
    const changes = {
      rows: [...this.#back].map(([uuid, table]) => this.#restored(table, uuid)),
      ...{ values, deletions, members: this.#membersOfOthers(), removedMembers: this.#removals(deletions) },
    };
    return {
      ...changes,
      ...{ newer, shared: sharedAddresses(changes, this.#present, (table, uuid) => this.#named(table, uuid, this.#now, this.#present)) },
      ...{ keys: this.#keys(), gone: this.#gone, left: this.#leftRows(), lost: this.#lost },
    };
  }

  #matchRows(): void {
    for (const [table, rows] of this.#contents(this.#backup)) {
      const held = this.#present.rows.get(table);
      for (const uuid of rows.keys()) if (held?.has(uuid) === true) this.#pair(uuid, uuid);
    }
    // The identity of a row in another names that one, so it is found in a parent that was made anew as well.
    for (const [table, rows] of this.#contents(this.#backup)) {
      const type = this.#present.schema.tables.get(table);
      if (type === undefined) continue;
      const byKey = new Map<string, Uuid>();
      for (const row of this.#present.rows.get(table)?.values() ?? [])
        if (!this.#matched.has(row._uuid)) for (const key of this.#keysOf(table, type, row, this.#now)) byKey.set(key, row._uuid);
      if (byKey.size === 0) continue;
      for (const [uuid, row] of rows) {
        if (this.#match.has(uuid)) continue;
        const found = this.#keysOf(table, type, row, this.#then)
          .map((key) => byKey.get(key))
          .find((one) => one !== undefined && !this.#matched.has(one));
        if (found !== undefined) this.#pair(uuid, found);
      }
    }
  }

  #pair(then: Uuid, now: Uuid): void {
    this.#match.set(then, now);
    this.#matched.add(now);
  }

  /** Texts that two rows have in common only if they are the same. */
  #keysOf(table: string, type: TableSchema, row: Row, families: RowFamilies): readonly string[] {
    const keys = type.indexes.flatMap((columns) => {
      const parts = columns.map((column) => JSON.stringify(textOf(row[column])));
      return parts.every((part) => part === '""' || part === 'null') ? [] : [`${columns.join()} ${parts.join()}`];
    });
    const { name } = row;
    if (NAMED_TABLES.has(table)) return typeof name === 'string' && name !== '' ? [...keys, `name ${name}`] : keys;
    const id = families.id(table, row);
    return id === undefined ? keys : [...keys, `id ${id}`];
  }

  #chooseRows(): void {
    for (const [table, rows] of this.#contents(this.#backup))
      for (const [uuid, row] of rows) {
        const then = this.#then.of(table, uuid);
        const now = this.#match.get(uuid);
        if (then.kind === 'ours') {
          if (now !== undefined) continue;
          if (this.#options.ownerExists(then.owner)) this.#back.set(uuid, table);
          else this.#gone[then.owner] = (this.#gone[then.owner] ?? 0) + 1;
        } else if (this.#options.others === 'keep') continue;
        else if (now === undefined) this.#back.set(uuid, table);
        else if (this.#now.of(table, now).kind !== 'ours') this.#changed.set(uuid, table);
        else if (then.kind === 'foreign' && now !== uuid)
          this.#lost.push(`${this.#then.text(table, row)} of ${familyText(then)}: a row of Kiln has its name now`);
      }
  }

  /** Rows that live in others, none of which is there. */
  #dropOrphans(): void {
    const { tables } = this.#present.schema;
    for (let dropped = true; dropped;) {
      dropped = false;
      for (const [uuid, table] of this.#back) {
        if (tables.get(table)?.isRoot === true) continue;
        if (this.#then.holders(uuid).some((holder) => this.#back.has(holder.uuid) || this.#match.has(holder.uuid))) continue;
        this.#back.delete(uuid);
        dropped = true;
        const row = this.#backup.rows.get(table)?.get(uuid);
        const then = this.#then.of(table, uuid);
        if (row !== undefined && then.kind !== 'ours')
          this.#lost.push(`${this.#then.text(table, row)} of ${familyText(then)}: the row that it was in does not come back`);
      }
    }
  }

  #restored(table: string, uuid: Uuid): RestoredRow {
    const row = this.#backup.rows.get(table)?.get(uuid);
    const columns: Record<string, InputValue> = {};
    for (const column of this.#columnsOf(table)) {
      const value = this.#mapped(column, row?.[column.name] ?? null);
      if (!equalValues(value, defaultValue(column))) columns[column.name] = value;
    }
    return { ...this.#named(table, uuid, this.#then, this.#backup), columns };
  }

  #valuesOf(table: string, uuid: Uuid, deleted: ReadonlySet<Uuid>): readonly RestoredValue[] {
    const then = this.#backup.rows.get(table)?.get(uuid);
    const now = this.#present.rows.get(table)?.get(this.#match.get(uuid) ?? uuid);
    if (then === undefined || now === undefined) return [];
    return this.#columnsOf(table).flatMap((column): readonly RestoredValue[] => {
      if (!column.mutable || OBSERVED_COLUMNS.has(`${table} ${column.name}`)) return [];
      const held = now[column.name] ?? null;
      const value = this.#withNewer(column, this.#mapped(column, then[column.name] ?? null), held, deleted);
      if (equalValues(value, held)) return [];
      return [{ ...this.#named(table, now._uuid, this.#now, this.#present), column: column.name, value, now: held }];
    });
  }

  /** References to rows that the backup does not have, and that stay, stay too. */
  #withNewer(column: ColumnSchema, value: Value, held: Value, deleted: ReadonlySet<Uuid>): Value {
    if (column.key.refTable === undefined || column.kind === 'map') return value;
    const stays = (member: Atom): boolean => !this.#matched.has(member as Uuid) && !deleted.has(member as Uuid);
    if (held instanceof Set) return new Set<Atom>([...(value as ReadonlySet<Atom>), ...[...(held as ReadonlySet<Atom>)].filter(stays)]);
    return value === null && typeof held === 'string' && stays(held) ? held : value;
  }

  /** What comes back into rows that stay as they are. */
  #membersOfOthers(): readonly RestoredMembers[] {
    const found: RestoredMembers[] = [];
    for (const [table, rows] of this.#contents(this.#backup)) {
      const columns = this.#columnsOf(table).filter(({ key, kind }) => key.refTable !== undefined && kind !== 'map');
      if (columns.length === 0) continue;
      for (const [uuid, row] of rows) {
        const now = this.#match.get(uuid);
        if (now === undefined || this.#changed.has(uuid)) continue;
        for (const column of columns) {
          const members = referencesIn(row[column.name]).filter((member) => this.#back.has(member));
          const isSingle = column.kind !== 'set';
          if (members.length === 0 || (isSingle && this.#present.rows.get(table)?.get(now)?.[column.name] !== null)) continue;
          found.push({ ...this.#named(table, now, this.#now, this.#present), column: column.name, members, isSingle });
        }
      }
    }
    return found;
  }

  /** Rows of others that the backup does not have: those to delete, and how many stay. */
  #newerRows(): { readonly deletions: readonly Named[]; readonly newer: Readonly<Record<string, number>> } {
    const deletions: Named[] = [];
    const newer: Record<string, number> = {};
    for (const [table, rows] of this.#contents(this.#present))
      for (const [uuid, row] of rows) {
        if (this.#matched.has(uuid)) continue;
        const now = this.#now.of(table, uuid);
        if (now.kind === 'ours') continue;
        if (this.#options.others === 'exact' && !this.#holdsOurs(table, row)) {
          deletions.push(this.#named(table, uuid, this.#now, this.#present));
          continue;
        }
        newer[familyText(now)] = (newer[familyText(now)] ?? 0) + 1;
      }
    return { deletions, newer };
  }

  #holdsOurs(table: string, row: Row): boolean {
    return this.#columnsOf(table).some(
      ({ name, key }) =>
        key.refType === 'strong' && referencesIn(row[name]).some((member) => this.#now.of(key.refTable ?? '', member).kind === 'ours'),
    );
  }

  /** Deleted rows go out of the rows of Kiln that hold them. Those of others are changed as a whole. */
  #removals(deletions: readonly Named[]): readonly RestoredMembers[] {
    const changed = new Set([...this.#changed.keys()].map((uuid) => this.#match.get(uuid) ?? uuid));
    const deleted = new Set(deletions.map(({ uuid }) => uuid));
    return deletions.flatMap(({ uuid }) =>
      this.#now
        .holders(uuid)
        .filter((holder) => !deleted.has(holder.uuid) && !changed.has(holder.uuid))
        .map((holder) => ({
          ...this.#named(holder.table, holder.uuid, this.#now, this.#present),
          ...{ column: holder.column, members: [uuid], isSingle: false },
        })),
    );
  }

  /** Keys of NB_Global that the backup has; Kiln's own, and what ovn-northd computes, stay as they are. */
  #keys(): readonly RestoredKey[] {
    const [then, now] = [globalOf(this.#backup.rows), globalOf(this.#present.rows)];
    if (then === undefined || now === undefined || this.#options.others === 'keep') return [];
    const ours = new Set<string>();
    for (const row of [then, now])
      for (const key of row['external_ids'] instanceof Map ? row['external_ids'].keys() : []) {
        const recorded = recordedKey(String(key));
        if (recorded !== undefined) ours.add(`${recorded.column} ${recorded.key}`);
      }
    return GLOBAL_COLUMNS.flatMap((column): readonly RestoredKey[] => {
      const held: ReadonlyMap<unknown, unknown> = now[column] instanceof Map ? now[column] : new Map();
      return [...(then[column] instanceof Map ? (then[column] as ReadonlyMap<string, string>) : [])].flatMap(([key, value]) => {
        if (key.startsWith('kiln.io/') || COMPUTED_KEYS.has(key) || ours.has(`${column} ${key}`) || held.get(key) === value) return [];
        return [{ column, key, value, now: held.get(key) as string | undefined }];
      });
    });
  }

  #leftRows(): number {
    let count = 0;
    for (const [uuid, now] of this.#match) {
      if (this.#changed.has(uuid) || this.#options.others === 'keep') continue;
      const table = this.#tableOf(uuid);
      const [a, b] = [this.#backup.rows.get(table)?.get(uuid), this.#present.rows.get(table)?.get(now)];
      if (a === undefined || b === undefined) continue;
      if (
        this.#columnsOf(table).some(
          ({ name }) => !OBSERVED_COLUMNS.has(`${table} ${name}`) && !equalValues(a[name] ?? null, b[name] ?? null),
        )
      )
        count++;
    }
    return count;
  }

  #tableOf(uuid: Uuid): string {
    for (const [table, rows] of this.#backup.rows) if (rows.has(uuid)) return table;
    return '';
  }

  /** The columns that a server keeps, and that both schemas have. */
  #columnsOf(table: string): readonly ColumnSchema[] {
    const then = this.#backup.schema.tables.get(table)?.columns;
    const now = this.#present.schema.tables.get(table)?.columns;
    return [...(now?.values() ?? [])].filter(({ name, ephemeral }) => !ephemeral && then?.has(name) === true);
  }

  /** A value of the backup with the UUIDs of the present, without references to rows that will not be there. */
  #mapped(column: ColumnSchema, value: Value): Value {
    const isReference = column.key.refTable !== undefined;
    if (value instanceof Map) {
      if (column.value?.refTable === undefined) return value;
      return new Map([...(value as ReadonlyMap<Atom, Atom>)].flatMap(([key, one]) => this.#place(one).map((to) => [key, to] as const)));
    }
    if (!isReference) return value;
    if (value instanceof Set) return new Set([...(value as ReadonlySet<Atom>)].flatMap((one) => this.#place(one)));
    return value === null ? null : (this.#place(value as Atom)[0] ?? null);
  }

  #place(member: Atom): readonly Atom[] {
    const uuid = member as Uuid;
    if (this.#back.has(uuid)) return [uuid];
    const now = this.#match.get(uuid);
    return now === undefined ? [] : [now];
  }

  #named(table: string, uuid: Uuid, families: RowFamilies, { rows }: Snapshot): Named {
    const row = rows.get(table)?.get(uuid);
    const ownership: Ownership = families.of(table, uuid);
    const isOurs = ownership.kind === 'ours';
    return {
      table,
      uuid,
      isOurs,
      of: isOurs ? ownership.owner : familyText(ownership),
      name: row === undefined ? table : families.text(table, row),
    };
  }

  *#contents({ rows }: Snapshot): Iterable<readonly [string, ReadonlyMap<Uuid, Row>]> {
    for (const entry of rows) if (!NOT_CONTENTS.has(entry[0]) && entry[1].size > 0) yield entry;
  }
}

function textOf(value: Value | undefined): string | null {
  if (value instanceof Set || value instanceof Map) return [...(value as ReadonlySet<Atom>)].map(String).toSorted().join();
  return value === undefined || value === null ? null : String(value);
}
