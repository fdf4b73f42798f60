/** What the database's schema can hold: a column or a value that it lacks is left out, and reported once. */
import type { DiffContext } from '../diff/diff-context.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';

export class SchemaSupport implements Pick<DiffContext, 'canHold' | 'allows'> {
  readonly #session: OvsdbSession;
  readonly #onLeftOut: (what: string) => void;
  readonly #leftOut = new Set<string>();

  constructor(session: OvsdbSession, onLeftOut: (what: string) => void) {
    this.#session = session;
    this.#onLeftOut = onLeftOut;
  }

  readonly canHold: DiffContext['canHold'] = (table, column) =>
    this.#session.schema?.tables.get(table)?.columns.has(column) === true || this.#leaveOut(`${table}.${column}`);

  readonly allows: DiffContext['allows'] = (table, column, atom) => {
    const values = this.#session.schema?.tables.get(table)?.columns.get(column)?.key.enum;
    return values === undefined || values.has(atom) || this.#leaveOut(`${table}.${column} "${String(atom)}"`);
  };

  #leaveOut(what: string): false {
    if (!this.#leftOut.has(what)) {
      this.#leftOut.add(what);
      this.#onLeftOut(what);
    }
    return false;
  }
}
