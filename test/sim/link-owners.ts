/**
 * A link of ports leads into the network of its own: the router port that a port of ours names, where it is another object's, is not its other
 * side, whatever its name. Read from rows alone, by no rule.
 */
import { OWNER_KEY, VENDOR, VENDOR_KEY } from '../../src/nb/ownership.ts';
import { rowId } from '../../src/nb/row-id.ts';
import type { World } from '../../src/world/world.ts';
import type { Finding } from './judge.ts';
import { mapOf, textOf } from './reading.ts';

type Row = Readonly<Record<string, unknown>>;

export function astray(world: World, rows: (table: string) => Iterable<Row>): readonly Finding[] {
  const found: Finding[] = [];
  const look = (row: Row, other: string, isOther: (owner: string) => boolean): void => {
    const owner = ownerOf(world.rows.best(rowId('Logical_Router_Port', other))?.row);
    if (other === '' || owner === '' || ownerOf(row) === '' || isOther(owner)) return;
    const message = `port ${textOf(row['name'])} of ${ownerOf(row)} leads to router port ${other}, which is ${owner}'s`;
    found.push({ kind: 'link astray', message });
  };
  for (const row of rows('Logical_Switch_Port'))
    look(row, mapOf(row['options']).get('router-port') ?? '', (owner) => owner === ownerOf(row));
  for (const row of rows('Logical_Router_Port')) look(row, textOf(row['peer']), (owner) => owner.startsWith('vpc/'));
  return found;
}

/** Empty for a row without our marks: whose it is is told elsewhere. */
function ownerOf(row: Row | undefined): string {
  const marks = mapOf(row?.['external_ids']);
  return marks.get(VENDOR_KEY) === VENDOR ? (marks.get(OWNER_KEY) ?? '') : '';
}
