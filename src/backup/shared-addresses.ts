/** The IP addresses that two ports of one switch would have after a restore, and do not both have now. Pure. */
import { canonicalAddress } from '../net/address.ts';
import type { Uuid } from '../ovsdb/index.ts';
import type { Named, RestorePlan, SharedAddress } from './restore-changes.ts';
import type { Snapshot } from './snapshot.ts';

/** What the restore changes of the present. */
export type Changes = Pick<RestorePlan, 'rows' | 'values' | 'members' | 'removedMembers' | 'deletions'>;

const SWITCHES = 'Logical_Switch';
const PORTS = 'Logical_Switch_Port';

/** @param named a row of the present in words */
export function sharedAddresses(
  changes: Changes,
  present: Pick<Snapshot, 'rows'>,
  named: (table: string, uuid: Uuid) => Named,
): readonly SharedAddress[] {
  const after = new After(changes, present);
  const found: SharedAddress[] = [];
  for (const home of after.homes()) {
    const holders = new Map<string, Uuid[]>();
    for (const port of after.members(SWITCHES, home, 'ports'))
      for (const address of addressesIn(after.value(PORTS, port, 'addresses'))) {
        const before = holders.get(address);
        if (before === undefined) holders.set(address, [port]);
        else before.push(port);
      }
    for (const [address, ports] of holders) {
      if (ports.length < 2 || !ports.some((port) => after.isTouched(port))) continue;
      const words = (table: string, uuid: Uuid): Named => after.restored(uuid) ?? named(table, uuid);
      found.push({
        address,
        home: nameOf(words(SWITCHES, home)),
        ports: ports.map((port) => ({ ...nameOf(words(PORTS, port)), isRestored: after.isTouched(port) })),
      });
    }
  }
  return found.toSorted((a, b) => (a.home.name === b.home.name ? order(a.address, b.address) : order(a.home.name, b.home.name)));
}

/** The database as it would be. */
class After {
  readonly #changes: Changes;
  readonly #present: Pick<Snapshot, 'rows'>;
  readonly #back: ReadonlyMap<Uuid, RestorePlan['rows'][number]>;
  readonly #values: ReadonlyMap<string, unknown>;
  readonly #gone: ReadonlySet<Uuid>;
  readonly #touched: ReadonlySet<Uuid>;

  constructor(changes: Changes, present: Pick<Snapshot, 'rows'>) {
    this.#changes = changes;
    this.#present = present;
    this.#back = new Map(changes.rows.map((row) => [row.uuid, row]));
    this.#values = new Map(changes.values.map(({ uuid, column, value }) => [`${uuid} ${column}`, value]));
    this.#gone = new Set(changes.deletions.map(({ uuid }) => uuid));
    this.#touched = new Set([
      ...this.#back.keys(),
      ...changes.values.flatMap(({ table, column, uuid }) => (table === PORTS && column === 'addresses' ? [uuid] : [])),
    ]);
  }

  /** The switches that get a port, or have one that changes: no other one can have an address twice by this restore. */
  homes(): ReadonlySet<Uuid> {
    const { rows, values, members } = this.#changes;
    const homes = new Set<Uuid>();
    for (const { table, uuid } of [...rows, ...values, ...members]) if (table === SWITCHES) homes.add(uuid);
    if (values.some(({ table, column }) => table === PORTS && column === 'addresses'))
      for (const [uuid, row] of this.#present.rows.get(SWITCHES) ?? [])
        if (stringsIn(row['ports']).some((port) => this.#touched.has(port as Uuid))) homes.add(uuid);
    return homes;
  }

  isTouched(uuid: Uuid): boolean {
    return this.#touched.has(uuid);
  }

  restored(uuid: Uuid): Named | undefined {
    return this.#back.get(uuid);
  }

  value(table: string, uuid: Uuid, column: string): unknown {
    const back = this.#back.get(uuid);
    if (back !== undefined) return back.columns[column];
    const key = `${uuid} ${column}`;
    return this.#values.has(key) ? this.#values.get(key) : this.#present.rows.get(table)?.get(uuid)?.[column];
  }

  members(table: string, uuid: Uuid, column: string): ReadonlySet<Uuid> {
    const found = new Set(stringsIn(this.value(table, uuid, column)) as readonly Uuid[]);
    const of = (all: RestorePlan['members']): readonly Uuid[] =>
      all.flatMap((one) => (one.uuid === uuid && one.column === column ? (one.members as readonly Uuid[]) : []));
    for (const member of of(this.#changes.members)) found.add(member);
    for (const member of [...of(this.#changes.removedMembers), ...this.#gone]) found.delete(member);
    return found;
  }
}

/** The IP addresses of a column `addresses`, each as `MAC IP…`. */
function addressesIn(value: unknown): ReadonlySet<string> {
  return new Set(
    stringsIn(value).flatMap((text) =>
      text
        .split(' ')
        .slice(1)
        .flatMap((address) => canonicalAddress(address) ?? []),
    ),
  );
}

function stringsIn(value: unknown): readonly string[] {
  if (value instanceof Set || Array.isArray(value)) return [...(value as Iterable<string>)];
  return typeof value === 'string' ? [value] : [];
}

function nameOf({ table, uuid, of, isOurs, name }: Named): Named {
  return { table, uuid, of, isOurs, name };
}

function order(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
