import { OvsdbError } from './errors.ts';
import { IncomingContents } from './incoming-contents.ts';
import type { JsonRow } from './mutable-row.ts';
import type { RowChange } from './row-change.ts';
import { keyIndex, memberIndex, type KeyOf, type MaintainedIndex, type ReplicaIndex } from './row-index.ts';
import type { ColumnSchema } from './schema.ts';
import { TableReplica } from './table-replica.ts';
import { eachRow, jsonObject, type TableUpdates } from './table-updates.ts';
import type { Uuid } from './uuid.ts';
import type { Row } from './value.ts';

/** `never-synced`: nothing was read yet, an empty table means nothing. `stale`: complete as of some time in the past. */
export type ReplicaStatus = 'never-synced' | 'synced' | 'stale';

/**
 * A copy of the monitored tables, readable at any time. Its rows are a committed state of the database if {@link status} is `synced`, an
 * older one if it is `stale`. Rows, sets and maps change in place: keep a copy of what has to stay.
 */
export interface Replica {
  readonly status: ReplicaStatus;
  /** How often the replica became complete: 0 before the first time. */
  readonly generation: number;
  /**
   * The live rows of a table; the same Map for the session's whole life. Empty for a table that the server lacks.
   *
   * @throws {OvsdbError} OVSDB_NOT_MONITORED for a table that is not in the session's option `tables`
   */
  table(name: string): ReadonlyMap<Uuid, Row>;
  /**
   * Declares an index of a table by the keys that `keyOf` reads from a row. Without `keyOf`: returns the index declared before.
   *
   * @throws {OvsdbError} OVSDB_NOT_MONITORED, or OVSDB_BAD_OPTION for a name that is taken or unknown
   */
  index(table: string, name: string, keyOf?: KeyOf): ReplicaIndex;
  /** Declares an index by the members of a column (the keys of a map). A changed member costs one step, however large the set is. */
  memberIndex(table: string, name: string, column: string): ReplicaIndex;
}

/** The replica, with the methods by which the session changes it. */
export class ReplicaStore implements Replica {
  status: ReplicaStatus = 'never-synced';
  generation = 0;
  readonly #tables: ReadonlyMap<string, TableReplica>;

  constructor(tables: readonly string[]) {
    this.#tables = new Map(tables.map((name) => [name, new TableReplica(name)]));
  }

  table(name: string): ReadonlyMap<Uuid, Row> {
    return this.#asked(name).rows;
  }

  index(table: string, name: string, keyOf?: KeyOf): ReplicaIndex {
    if (keyOf !== undefined) return this.#declare(table, name, keyIndex(keyOf));
    const found = this.#asked(table).indexes.get(name);
    if (found === undefined) throw new OvsdbError('OVSDB_BAD_OPTION', `table ${table} has no index ${name}`);
    return found.index;
  }

  memberIndex(table: string, name: string, column: string): ReplicaIndex {
    return this.#declare(table, name, memberIndex(column));
  }

  configure(columns: ReadonlyMap<string, ReadonlyMap<string, ColumnSchema>>): void {
    for (const [name, table] of this.#tables) table.configure(columns.get(name) ?? new Map());
  }

  /** Collects the first contents, row by row: the replica does not change until they are complete. */
  incoming(): IncomingContents {
    return new IncomingContents((table, uuid, json) => this.#monitored(table).decode(uuid, json));
  }

  /** Makes the replica equal to the contents. All rows are decoded before any changes. */
  load(incoming: IncomingContents, changes: RowChange[]): void {
    const contents = incoming.whole();
    for (const [name, table] of this.#tables) table.load(contents.get(name) ?? new Map(), changes);
  }

  /** Applies one update message. After an error the replica needs a {@link load}. */
  apply(updates: TableUpdates, changes: RowChange[]): void {
    for (const [name, uuid, update] of eachRow(updates)) {
      const table = this.#monitored(name);
      if (updates.notation === 'v1') applyV1(table, uuid, update, changes);
      else applyV2(table, uuid, update, changes);
    }
  }

  #declare(table: string, name: string, index: MaintainedIndex): ReplicaIndex {
    const owner = this.#asked(table);
    if (owner.indexes.has(name)) throw new OvsdbError('OVSDB_BAD_OPTION', `table ${table} has an index ${name} already`);
    owner.addIndex(name, index);
    return index.index;
  }

  #asked(name: string): TableReplica {
    const table = this.#tables.get(name);
    if (table === undefined) throw new OvsdbError('OVSDB_NOT_MONITORED', `table ${name} is not among the session's tables`);
    return table;
  }

  #monitored(name: string): TableReplica {
    const table = this.#tables.get(name);
    if (table === undefined) throw new OvsdbError('OVSDB_PROTOCOL', `an update names table ${name}, which is not monitored`);
    return table;
  }
}

function applyV1(table: TableReplica, uuid: Uuid, update: JsonRow, changes: RowChange[]): void {
  const { old, new: next } = update;
  if (next === undefined) table.delete(uuid, changes);
  else if (old === undefined) table.insert(uuid, jsonObject(next), changes);
  else {
    const values = jsonObject(next);
    const columns = Object.keys(jsonObject(old));
    table.replace(uuid, Object.fromEntries(columns.map((column) => [column, values[column]])), changes);
  }
}

function applyV2(table: TableReplica, uuid: Uuid, update: JsonRow, changes: RowChange[]): void {
  if (update['modify'] !== undefined) table.modify(uuid, jsonObject(update['modify']), changes);
  else if (update['insert'] !== undefined) table.insert(uuid, jsonObject(update['insert']), changes);
  else if (update['initial'] !== undefined) table.insert(uuid, jsonObject(update['initial']), changes);
  else if ('delete' in update) table.delete(uuid, changes);
  else throw new OvsdbError('OVSDB_PROTOCOL', `an update of row ${uuid} of ${table.name} has no change in it`);
}
