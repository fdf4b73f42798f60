/** The Northbound database in memory, with a schema for tests of rules and diff, and changes of other programs. */
import { readFileSync } from 'node:fs';
import type { Edit } from '../diff/edits.ts';
import { tableSpec } from '../nb/tables.ts';
import type { InputRow, RowChange, Uuid } from '../ovsdb/index.ts';
import { parseSchema } from '../ovsdb/schema.ts';
import { northboundSchemaFile } from '../ovsdb/testing/ovsdb-server-process.ts';
import { MemoryNorthbound as Database } from '../preview/memory-northbound.ts';

const schema = parseSchema(newer(JSON.parse(readFileSync(northboundSchemaFile, 'utf8')) as SchemaJson));

export class MemoryNorthbound extends Database {
  constructor() {
    super(schema);
  }

  /** Inserts a row as another program would. */
  insert(
    table: string,
    uuid: string,
    row: Readonly<Record<string, unknown>>,
    parent?: { readonly table: string; readonly uuid: string; readonly column: string },
  ): RowChange[] {
    const edits: Edit[] = [{ kind: 'insert', table, uuid: uuid as Uuid, row: row as InputRow }];
    if (parent !== undefined)
      edits.push({ kind: 'member', table: parent.table, uuid: parent.uuid as Uuid, column: parent.column, add: true, value: uuid });
    return this.apply(edits);
  }

  /** Removes a row as a user with ovn-nbctl would: from its parent, or by itself without one. */
  remove(table: string, uuid: Uuid): RowChange[] {
    const out = tableSpec(table).parents.flatMap((parent) =>
      [...this.table(parent.table).values()].flatMap((row): Edit[] => {
        const members = row[parent.column];
        const holds = members instanceof Set && members.has(uuid);
        return holds ? [{ kind: 'member', table: parent.table, uuid: row._uuid, column: parent.column, add: false, value: uuid }] : [];
      }),
    );
    return this.apply(out.length > 0 ? out : [{ kind: 'delete', table, uuid }]);
  }
}

interface SchemaJson {
  readonly tables: Readonly<Record<string, { readonly columns: Record<string, unknown> }>>;
}

/** Adds two columns that rules write and Debian's OVN lacks (OVN 25.03 has them): the writer leaves them out, not the rules. */
function newer(schemaJson: SchemaJson): SchemaJson {
  const { ACL, Load_Balancer } = schemaJson.tables;
  if (ACL !== undefined) ACL.columns['tier'] ??= { type: { key: { type: 'integer', minInteger: 0, maxInteger: 3 } } };
  if (Load_Balancer !== undefined) Load_Balancer.columns['selection_fields'] = { type: { key: 'string', min: 0, max: 'unlimited' } };
  return schemaJson;
}
