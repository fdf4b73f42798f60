/** Whose each row of a snapshot is: by its keys, by the row that contains it, and by the configured patterns. Pure. */
import type { Neighbours } from '../nb/neighbours.ts';
import type { ExternalIds, Ownership, ParentRow } from '../nb/ownership.ts';
import { neighbourOf, ownershipOf } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf } from '../nb/row-id.ts';
import { TABLES } from '../nb/tables.ts';
import type { DatabaseSchema, Row, Uuid } from '../ovsdb/index.ts';
import type { Rows, Snapshot } from './snapshot.ts';

/** A row with a reference that keeps another one alive. */
export interface Holder {
  readonly table: string;
  readonly uuid: Uuid;
  readonly column: string;
}

const SPECS = new Map(TABLES.map((spec) => [spec.table, spec]));

export class RowFamilies {
  readonly #rows: Rows;
  readonly #neighbours: Neighbours;
  readonly #holders: ReadonlyMap<Uuid, readonly Holder[]>;
  readonly #known = new Map<Uuid, Ownership>();

  constructor({ rows, schema }: Pick<Snapshot, 'rows' | 'schema'>, neighbours: Neighbours) {
    this.#rows = rows;
    this.#neighbours = neighbours;
    this.#holders = holdersIn(rows, schema);
  }

  /** The rows that keep a row alive. */
  holders(uuid: Uuid): readonly Holder[] {
    return this.#holders.get(uuid) ?? [];
  }

  of(table: string, uuid: Uuid): Ownership {
    const known = this.#known.get(uuid);
    if (known !== undefined) return known;
    // A row that contains itself through others counts as unmarked.
    this.#known.set(uuid, { kind: 'foreign', family: 'unknown' });
    const row = this.#rows.get(table)?.get(uuid);
    const found = row === undefined ? undefined : this.#decide(table, row);
    if (found !== undefined) this.#known.set(uuid, found);
    return this.#known.get(uuid) ?? { kind: 'foreign', family: 'unknown' };
  }

  /** The identity of a row by its columns and its parent; undefined in tables that Kiln does not write. */
  id(table: string, row: Row): RowId | undefined {
    const [parent] = this.holders(row._uuid);
    return SPECS.get(table)?.identity(
      row,
      parent === undefined ? undefined : textOf(this.#rows.get(parent.table)?.get(parent.uuid)?.['name']),
    );
  }

  /** What a person knows the row by: `Logical_Switch_Port web-0.shop`. */
  text(table: string, row: Row): string {
    const id = this.id(table, row);
    const name = id === undefined ? textOf(row['name']) : identityOf(id);
    return `${table} ${name === '' ? row._uuid : name}`;
  }

  #decide(table: string, row: Row): Ownership {
    const ids: ExternalIds | undefined = row['external_ids'] instanceof Map ? row['external_ids'] : undefined;
    const parents: readonly ParentRow[] = this.holders(row._uuid).map((one) => ({
      name: textOf(this.#rows.get(one.table)?.get(one.uuid)?.['name']),
      ownership: this.of(one.table, one.uuid),
      wasAdopted: false,
    }));
    const decided = this.#neighbours.decide(row, ownershipOf(ids, { table, parents }));
    if (decided.kind !== 'foreign' || decided.family !== 'unknown' || (ids?.size ?? 0) > 0) return decided;
    // Rows without any key in a row of a program are that program's.
    return parents.find(({ ownership }) => ownership.kind === 'foreign')?.ownership ?? decided;
  }
}

/** The family in words. */
export function familyText(ownership: Ownership): string {
  if (ownership.kind === 'ours') return 'Kiln';
  if (ownership.kind === 'legacy') return 'kube-ovn';
  return ownership.family === 'unknown' ? 'unmarked' : neighbourOf(ownership);
}

function holdersIn(rows: Rows, schema: DatabaseSchema): ReadonlyMap<Uuid, readonly Holder[]> {
  const holders = new Map<Uuid, Holder[]>();
  for (const [table, held] of rows) {
    const columns = [...(schema.tables.get(table)?.columns.values() ?? [])].filter(
      ({ key, value }) => key.refType === 'strong' || value?.refType === 'strong',
    );
    if (columns.length === 0) continue;
    for (const [uuid, row] of held) {
      for (const column of columns)
        for (const member of referencesIn(row[column.name])) {
          const before = holders.get(member);
          const holder = { table, uuid, column: column.name };
          if (before === undefined) holders.set(member, [holder]);
          else before.push(holder);
        }
    }
  }
  return holders;
}

/** The UUIDs in a column of references. */
export function referencesIn(value: Row[string] | undefined): readonly Uuid[] {
  if (value instanceof Set) return [...value] as readonly Uuid[];
  if (value instanceof Map) return [...value.values()] as readonly Uuid[];
  return typeof value === 'string' ? [value as Uuid] : [];
}

function textOf(value: Row[string] | undefined): string {
  return typeof value === 'string' ? value : '';
}
