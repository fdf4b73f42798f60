/**
 * Whether a Northbound database belongs to a cluster. A database of another cluster looks as if every row were an orphan and every row of this
 * one were missing: nothing may be concluded from it, and nothing be written to it.
 */
import { resourceOfOwner } from '../../controller/reading/row-owners.ts';
import { identityOf } from '../../nb/row-id.ts';
import { resourceOfKind } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';

export interface Correspondence {
  /** `same`: they belong together. `other`: the rows are of another cluster. `empty`: there are no rows of Kiln or Kube-OVN. */
  readonly kind: 'same' | 'other' | 'empty';
  /** Rows of switches, routers and their ports that name an object. */
  readonly rows: number;
  /** Those whose object this cluster has. */
  readonly known: number;
}

/** With a smaller share of rows that correspond, the database is another cluster's. */
const LEAST_SHARE = 0.5;
const TABLES = ['Logical_Switch', 'Logical_Router', 'Logical_Switch_Port'] as const;

export function correspondence(world: World): Correspondence {
  const { defaultVpc, defaultSubnet, joinSubnet } = world.settings;
  // Every cluster of Kube-OVN has these names.
  const everywhere = new Set<string>([defaultVpc, defaultSubnet, joinSubnet]);
  let [ours, known, byName, knownByName, shared] = [0, 0, 0, 0, 0];
  for (const table of TABLES) {
    for (const { id, ownership } of world.rows.inTable(table)) {
      if (ownership.kind === 'ours') {
        ours++;
        const owner = resourceOfOwner(ownership.owner);
        const object = owner === undefined ? undefined : world.tables[owner.resource]?.peek(owner.key);
        // A name may be the same in two clusters; a uid is not.
        if (object?.metadata.uid === ownership.uid) known++;
      } else if (ownership.kind === 'legacy') {
        const name = identityOf(id);
        const isKnown = hasObject(world, table, name);
        if (isKnown === undefined) continue;
        if (everywhere.has(name)) shared++;
        else {
          byName++;
          if (isKnown) knownByName++;
        }
      }
    }
  }
  // Kiln's rows have the uids of their objects, which are worth more than names.
  const [rows, found] = ours > 0 ? [ours, known] : [byName, knownByName];
  if (rows === 0) return { kind: shared > 0 ? 'same' : 'empty', rows, known: found };
  return { kind: found / rows < LEAST_SHARE ? 'other' : 'same', rows, known: found };
}

/** @param northbound where the database was read @throws CommandFailure if its rows are of another cluster */
export function refuseOtherCluster(world: World, northbound: string): void {
  const { kind, rows, known } = correspondence(world);
  if (kind !== 'other') return;
  throw new CommandFailure(
    EXIT.findings,
    "this Northbound database is another cluster's: nothing was compared, and nothing changed",
    `${known} of ${rows} switches, routers and ports in ${northbound} belong to objects of this cluster`,
    'name both of one cluster: --ovn-nb ENDPOINT, --context NAME',
  );
}

/** Undefined for a row that names no object: a port between a switch and a router. */
function hasObject(world: World, table: (typeof TABLES)[number], name: string): boolean | undefined {
  const has = (kind: string, key: string): boolean => {
    const resource = resourceOfKind(kind);
    return resource !== undefined && world.tables[resource]?.peek(key) !== undefined;
  };
  if (table === 'Logical_Switch') return has('subnet', name);
  if (table === 'Logical_Router') return has('vpc', name);
  if (name.startsWith('node-')) return has('node', name.slice('node-'.length));
  // The name of a pod's port is that of its IP object; other ports have no dot.
  if (!name.includes('.')) return undefined;
  const [pod = '', namespace = ''] = name.split('.');
  return has('ip', name) || has('pod', `${namespace}/${pod}`);
}
