/** I9: what a controller deletes was in its journal before, whole. So no way of deletion passes the journal by. */
import { isSame } from '../../../src/journal/row-json.ts';
import { monitoredColumns } from '../../../src/nb/tables.ts';
import type { Value } from '../../../src/ovsdb/index.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { Transacted } from '../cluster/observer.ts';

const MONITORED: Readonly<Record<string, readonly string[]>> = monitoredColumns();

/** @returns what is wrong, as the rest of a sentence */
export function unjournaledDeletions(cluster: SimulatedCluster, { process, execution, unreceived }: Transacted): readonly string[] {
  if (!execution.ok) return [];
  return execution.differences.flatMap(({ table, uuid, before, after }) => {
    const columns = MONITORED[table];
    if (before === undefined || after !== undefined || columns === undefined) return [];
    const name = `${table} ${String(before['name'] ?? uuid)}`;
    const entry = cluster
      .journalOf(process)
      .of(uuid)
      .findLast(({ change }) => change === 'delete');
    if (entry === undefined) return [`deletes ${name}, which its journal does not have`];
    // As the sender had it: a column that another program filled since then cannot be in the journal. Values are not compared.
    const seen = unreceived.find((change) => change.uuid === uuid)?.before ?? before;
    return columns
      .filter((column) => seen[column] !== undefined && !isSame(null, seen[column]) && !isDefault(seen[column]))
      .filter((column) => entry.row[column] === undefined)
      .map((column) => `deletes ${name}, and its journal lacks ${column}`);
  });
}

function isDefault(value: Value): boolean {
  return value === 0 || value === false || value === '';
}
