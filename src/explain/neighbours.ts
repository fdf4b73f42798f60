/**
 * Who is in the Northbound database beside Kiln: the rows of each program by table, and what they touch of Kiln's. Of the tables that Kiln
 * reads. One pass over all rows. Pure.
 */
import type { Ownership } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf } from '../nb/row-id.ts';
import { childColumns, referringColumns, TABLES } from '../nb/tables.ts';
import type { Uuid } from '../nb/tables.ts';
import type { Entry } from '../world/observed-rows.ts';
import type { World } from '../world/world.ts';

/**
 * `inside`: their row is in one of ours, and would be deleted with it. `in ours`: one of our rows refers to theirs. `has ours`: one of their
 * rows refers to ours. `name`: it has the name that a row of ours would have.
 */
export interface Touch {
  readonly how: 'inside' | 'in ours' | 'has ours' | 'name';
  readonly table: string;
  readonly name: string;
  /** Our row; empty for a name. */
  readonly ours: string;
  readonly message: string;
}

export interface Neighbour {
  /** `neutron`, `ovn-kubernetes`, `ovn-ic`, a name of the configuration, `kube-ovn` for its rows without Kiln's keys, `unmarked` for the rest. */
  readonly name: string;
  readonly rows: number;
  /** By table. */
  readonly tables: Readonly<Record<string, number>>;
  readonly touches: readonly Touch[];
}

export interface Neighbourhood {
  readonly neighbours: readonly Neighbour[];
  /** Configured patterns that match rows of Kiln: they have no effect on these, and are too wide. */
  readonly tooWide: readonly { readonly name: string; readonly rows: number; readonly first: string }[];
}

/** Tables whose only row every program shares. */
const SHARED: ReadonlySet<string> = new Set(['NB_Global']);
const KUBE_OVN = 'kube-ovn';
const UNMARKED = 'unmarked';

/** @param wanted names that rows of ours need and foreign rows have, with a sentence about each */
export function neighbourhood({ rows }: World, wanted: readonly { readonly id: RowId; readonly message: string }[] = []): Neighbourhood {
  const found = new Map<string, { readonly tables: Map<string, number>; readonly touches: Touch[] }>();
  const tooWide = new Map<string, { rows: number; readonly first: string }>();
  const of = (name: string): { readonly tables: Map<string, number>; readonly touches: Touch[] } => {
    let one = found.get(name);
    if (one === undefined) found.set(name, (one = { tables: new Map(), touches: [] }));
    return one;
  };
  for (const entry of rows.all) {
    if (SHARED.has(entry.table)) continue;
    if (entry.ownership.kind === 'ours') {
      const name = rows.neighbours.of(entry.row);
      if (name === undefined) continue;
      const before = tooWide.get(name);
      if (before === undefined) tooWide.set(name, { rows: 1, first: textOf(entry) });
      else before.rows++;
      continue;
    }
    const { tables, touches } = of(nameOf(entry.ownership));
    tables.set(entry.table, (tables.get(entry.table) ?? 0) + 1);
    touches.push(...touchesOf(entry, rows));
  }
  addMembers(rows, of);
  for (const { id, message } of wanted) {
    const holder = rows.rowsOf(id).find(({ ownership }) => ownership.kind === 'foreign');
    if (holder === undefined) continue;
    of(nameOf(holder.ownership)).touches.push({ how: 'name', table: holder.table, name: identityOf(id), ours: '', message });
  }
  return {
    neighbours: [...found]
      .map(([name, { tables, touches }]): Neighbour => {
        const counts = TABLES.flatMap(({ table }) => (tables.has(table) ? [[table, tables.get(table) ?? 0] as const] : []));
        return {
          name,
          rows: counts.reduce((sum, [, count]) => sum + count, 0),
          tables: Object.fromEntries(counts),
          touches: sorted(touches),
        };
      })
      .toSorted((a, b) => (a.name < b.name ? -1 : 1)),
    tooWide: [...tooWide].map(([name, one]) => ({ name, ...one })),
  };
}

function nameOf(ownership: Ownership): string {
  if (ownership.kind !== 'foreign') return KUBE_OVN;
  return ownership.neighbour ?? (ownership.family === 'unknown' ? UNMARKED : ownership.family);
}

/** Their row in ours, and ours in their sets. */
function touchesOf(entry: Entry, rows: World['rows']): readonly Touch[] {
  const { table, id, uuid, row } = entry;
  const touches: Touch[] = [];
  for (const link of rows.parentsOf(uuid)) {
    const home = rows.entry(link.uuid);
    if (home?.ownership.kind !== 'ours') continue;
    const message = `${textOf(entry)} is in ${textOf(home)} of Kiln (${link.column})`;
    touches.push({ how: 'inside', table, name: identityOf(id), ours: textOf(home), message });
  }
  for (const [column, members] of Object.entries(row)) {
    if (!(members instanceof Set) || !REFERRING.has(`${table} ${column}`)) continue;
    const ours = [...(members as ReadonlySet<Uuid>)].flatMap((member) => {
      const one = rows.entry(member);
      return one?.ownership.kind === 'ours' ? [one] : [];
    });
    const [first] = ours;
    if (first === undefined) continue;
    const more = ours.length > 1 ? ` and ${ours.length - 1} more` : '';
    const message = `${textOf(entry)} has ${textOf(first)}${more} of Kiln in its ${column}`;
    touches.push({ how: 'has ours', table, name: identityOf(id), ours: textOf(first), message });
  }
  return touches;
}

/** Columns that refer to rows without keeping them alive, and columns of children, which another program may put a row of ours into. */
const REFERRING: ReadonlySet<string> = new Set(
  TABLES.flatMap(({ table }) => [
    ...referringColumns(table).map((from) => `${from.table} ${from.column}`),
    ...childColumns(table).map(({ column }) => `${table} ${column}`),
  ]),
);

/** Their rows in sets of ours: ports in groups, load balancers of switches and routers. */
function addMembers(rows: World['rows'], of: (name: string) => { readonly touches: Touch[] }): void {
  for (const entry of rows.all) {
    if (entry.ownership.kind !== 'ours') continue;
    for (const [column, members] of Object.entries(entry.row)) {
      if (!(members instanceof Set) || members.size === 0 || !MEMBERS.has(`${entry.table} ${column}`)) continue;
      for (const member of members as ReadonlySet<Uuid>) {
        const theirs = rows.entry(member);
        if (theirs === undefined || theirs.ownership.kind === 'ours') continue;
        const message = `${textOf(theirs)} is in ${column} of ${textOf(entry)} of Kiln`;
        of(nameOf(theirs.ownership)).touches.push({
          ...{ how: 'in ours', table: theirs.table, name: identityOf(theirs.id), ours: textOf(entry), message },
        });
      }
    }
  }
}

const MEMBERS: ReadonlySet<string> = new Set(
  TABLES.flatMap(({ table }) => referringColumns(table).map((from) => `${from.table} ${from.column}`)),
);

function textOf({ table, id }: Pick<Entry, 'table' | 'id'>): string {
  return `${table} ${identityOf(id)}`;
}

function sorted(touches: readonly Touch[]): readonly Touch[] {
  return touches.toSorted((a, b) => (a.message < b.message ? -1 : 1));
}
