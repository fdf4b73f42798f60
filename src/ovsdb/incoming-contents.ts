import { OvsdbError } from './errors.ts';
import type { IncomingRows } from './monitor.ts';
import type { JsonRow, MutableRow } from './mutable-row.ts';
import { eachRow, jsonObject, type TableUpdates } from './table-updates.ts';
import { isUuid, type Uuid } from './uuid.ts';

type Decode = (table: string, uuid: Uuid, json: JsonRow) => MutableRow;

/**
 * The reply to a monitor request while it arrives. Whole rows are decoded at once, so that their text can be freed. Changes to existing
 * rows (of a resumed monitor) are kept as text until the end.
 */
export class IncomingContents implements IncomingRows {
  readonly #decode: Decode;
  readonly #rows = new Map<string, Map<Uuid, MutableRow>>();
  readonly #changes: Record<string, Record<string, JsonRow>> = {};
  #notation: TableUpdates['notation'] = 'v2';

  constructor(decode: Decode) {
    this.#decode = decode;
  }

  begin(notation: TableUpdates['notation']): void {
    this.#notation = notation;
  }

  /** @throws {OvsdbError} OVSDB_PROTOCOL or OVSDB_BAD_VALUE */
  readonly take = (table: string, uuidsAndUpdates: readonly unknown[]): void => {
    for (let at = 0; at < uuidsAndUpdates.length; at += 2) {
      const uuid = uuidsAndUpdates[at];
      if (typeof uuid !== 'string' || !isUuid(uuid)) throw new OvsdbError('OVSDB_PROTOCOL', `a row of ${table} has no UUID`);
      this.#take(table, uuid, jsonObject(uuidsAndUpdates[at + 1]));
    }
  };

  /** Takes the rows at the end of the reply. */
  takeRest(updates: TableUpdates): void {
    for (const [table, uuid, update] of eachRow(updates)) this.#take(table, uuid, update);
  }

  /** The changes to apply to the existing rows. */
  get updates(): TableUpdates {
    if (this.#rows.size > 0) throw new OvsdbError('OVSDB_PROTOCOL', 'the server resumed the monitor, and sent whole rows as well');
    return { notation: this.#notation, tables: this.#changes };
  }

  /** All rows, by table. */
  whole(): ReadonlyMap<string, ReadonlyMap<Uuid, MutableRow>> {
    for (const table of Object.keys(this.#changes)) {
      for (const [uuid, update] of Object.entries(this.#changes[table]!)) this.#add(table, uuid as Uuid, update['insert']);
    }
    return this.#rows;
  }

  #take(table: string, uuid: Uuid, update: JsonRow): void {
    // RFC 7047 section 4.1.5: the first contents have `new` alone; ovsdb-server(7) section 4.1.13: `initial`.
    const whole = this.#notation === 'v1' ? update['new'] : update['initial'];
    if (whole === undefined) (this.#changes[table] ??= {})[uuid] = update;
    else this.#add(table, uuid, whole);
  }

  #add(table: string, uuid: Uuid, json: unknown): void {
    let rows = this.#rows.get(table);
    if (rows === undefined) this.#rows.set(table, (rows = new Map<Uuid, MutableRow>()));
    rows.set(uuid, this.#decode(table, uuid, jsonObject(json)));
  }
}
