/** Leftovers: what each does in OVN, and the object that it serves. */
import type { DesiredRows } from '../compile/desired-rows.ts';
import { namesInMatch } from '../api/values/match-text.ts';
import { isRoot, secondRow } from '../diff/second-rows.ts';
import { LEFTOVER_RULE } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { identityOf, rowId } from '../nb/row-id.ts';
import { TABLES } from '../nb/tables.ts';
import { formatAddress } from '../net/address.ts';
import { commandText, inNamespace } from '../text/command-text.ts';
import type { ResourceName } from '../world/resources.ts';
import { resourceOfKind, resourcesWith, traitsOf } from '../world/resources.ts';
import { addressesOfPort, goneOwner } from '../world/foreign-ports.ts';
import type { Entry } from '../world/row-identity.ts';
import type { World } from '../world/world.ts';
import { typedName } from './kind-names.ts';
import type { LoadBalancerUsers } from './leftover-load-balancers.ts';
import { isInLegacy, isKeylessBalancer, loadBalancerUsers, vpcOfBalancer } from './leftover-load-balancers.ts';

export interface Leftover {
  readonly table: string;
  readonly name: string;
  readonly uuid: string;
  /** Its effect on traffic; empty if there is none. */
  readonly effect: string;
  /** The command that removes it by hand; absent if the row may also contain what other objects need. */
  readonly remove?: string;
}

/** Leftovers by the object that they serve. */
export interface LeftoverGroup {
  /** They are deleted with this object; undefined if no such object exists. */
  readonly object: { readonly resource: ResourceName; readonly key: string } | undefined;
  /** They are second rows of names that Kiln uses, or in such rows, and not deleted, since something in them may be in use. */
  readonly isBeside: boolean;
  readonly rows: readonly Leftover[];
}

/**
 * Without `desired` empty before the first adoption: then all rows belong to Kube-OVN and are in use.
 * @param desired the rows that the rules emit: with it, what a take-over would leave
 */
export function leftoverGroups(world: World, desired?: Pick<DesiredRows, 'row'>): readonly LeftoverGroup[] {
  if (world.rows.owned.size === 0 && desired === undefined) return [];
  const users = loadBalancerUsers(world);
  const entries = TABLES.flatMap(({ table }) => world.rows.inTable(table)).filter((entry) => isLeftover(world, entry, desired, users));
  const groups = Map.groupBy(entries, (entry) => {
    if (isBeside(world, entry, desired)) return BESIDE;
    const owner = ownerOf(world, entry, users);
    return isServed(world, owner) ? owner : '';
  });
  return [...groups]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([owner, rows]) => ({
      object: objectOf(owner),
      isBeside: owner === BESIDE,
      rows: rows
        .map((entry) => (owner === BESIDE ? withoutRemoval(leftover(world, entry, users)) : leftover(world, entry, users)))
        .toSorted((a, b) => rankOf(a) - rankOf(b) || (`${a.table} ${a.name}` < `${b.table} ${b.name}` ? -1 : 1)),
    }));
}

const MOST_NAMED = 4;

/** One sentence, and the next command. */
export function leftoverText({ object, isBeside, rows }: LeftoverGroup): { readonly message: string; readonly next: string } {
  const named = rows.slice(0, MOST_NAMED).map(leftoverLine);
  const more = rows.length > named.length ? [`${rows.length - named.length} more`] : [];
  const [first, it] = [`${rows.length} ${rows.length === 1 ? 'row' : 'rows'}`, rows.length === 1 ? 'it' : 'they'];
  const list = [...named, ...more].join('; ');
  if (isBeside) {
    const root = rows.find(({ table }) => isRoot(table)) ?? rows[0];
    return {
      message: `Kube-OVN left ${first} beside others of the same name, which Kiln uses; ${it} stay${rows.length === 1 ? 's' : ''} in OVN, since something in ${rows.length === 1 ? 'it' : 'them'} may be in use: ${list}`,
      next: commandText`ovn-nbctl list ${root?.table ?? ''} ${root?.uuid ?? ''}`,
    };
  }
  if (object === undefined) {
    const remove = rows.find((row) => row.remove !== undefined)?.remove;
    const next = remove ?? commandText`ovn-nbctl list ${rows[0]?.table ?? ''} ${rows[0]?.uuid ?? ''}`;
    return {
      message: `Kube-OVN left ${first} of objects that do not exist; ${it} stay${rows.length === 1 ? 's' : ''} in OVN: ${list}`,
      next,
    };
  }
  const { kind } = traitsOf(object.resource);
  const [name = '', namespace = ''] = object.key.split('/').toReversed();
  const type = typedName(object.resource);
  return {
    message: `Kube-OVN left ${first} for ${kind} ${object.key}; Kiln keeps ${rows.length === 1 ? 'it as it is' : 'them as they are'} until the ${kind} is deleted: ${list}`,
    // It lists the rows, and what depends on the object.
    next: commandText`kiln explain ${type} ${name} ${inNamespace(namespace)}`,
  };
}

/** One line for each row, below the object that it serves. @param removals `shown`: with the command that removes a row which serves none */
export function leftoverLines(groups: readonly LeftoverGroup[], removals: 'shown' | 'hidden' = 'hidden'): readonly string[] {
  return groups.flatMap(({ object, isBeside, rows }) => {
    const owner = object === undefined ? 'objects that do not exist' : `${traitsOf(object.resource).kind} ${object.key}`;
    const what = isBeside ? 'beside others of the same name' : `for ${owner}`;
    return [
      `left by Kube-OVN, ${rows.length} ${what}:`,
      ...rows.map((row) => {
        const removal = removals === 'hidden' || object !== undefined || row.remove === undefined ? '' : `; ${row.remove}`;
        return `  ${leftoverLine(row)}${removal}`;
      }),
    ];
  });
}

function leftoverLine({ table, name, effect }: Leftover): string {
  return `${table} ${name}${effect === '' ? '' : ` (${effect})`}`;
}

type Rows = Pick<DesiredRows, 'row'> | undefined;

function isLeftover(world: World, entry: Entry, desired: Rows, users: LoadBalancerUsers): boolean {
  const { id, ownership } = entry;
  if (ownership.kind === 'ours') return ownership.rule === LEFTOVER_RULE;
  const isLegacy = ownership.kind === 'legacy' || isInLegacy(entry, users);
  const kept = keptBeside(world, entry, desired);
  if (kept !== undefined)
    return isLegacy
      ? desired === undefined || secondRow(entry, kept, { rows: world.rows, desired }).kind === 'used'
      : isKeylessBalancer(entry);
  const [emitted] = desired?.row(id)?.rows ?? [];
  if (emitted !== undefined) return emitted.rule === LEFTOVER_RULE;
  // Of those without a legacy switch or router a rule emits the ones of Vpcs that exist.
  return isLegacy || (isKeylessBalancer(entry) && (!world.settings.enableLb || !isServed(world, vpcOfBalancer(world, entry))));
}

/** The row of the same name that Kiln uses, or will use, for a second one of the name. */
function keptBeside({ rows }: World, { id, table, uuid }: Entry, desired: Rows): Entry | undefined {
  if (!isRoot(table)) return undefined;
  const best = rows.entry(rows.best(id)?.uuid ?? uuid);
  if (best === undefined || best.uuid === uuid) return undefined;
  return best.ownership.kind === 'ours' || (desired?.row(id)?.rows ?? []).length > 0 ? best : undefined;
}

/** Whether it is a second row of a name that Kiln uses, or only such a row contains it. */
function isBeside(world: World, entry: Entry, desired: Rows): boolean {
  if (keptBeside(world, entry, desired) !== undefined) return true;
  const parents = world.rows.parentsOf(entry.uuid).flatMap(({ uuid }) => world.rows.entry(uuid) ?? []);
  return parents.length > 0 && parents.every((parent) => keptBeside(world, parent, desired) !== undefined);
}

/** The group of these rows, beside those of objects. */
const BESIDE = 'beside';

/** Empty for a row that is not deleted with any object. */
function ownerOf(world: World, entry: Entry, users: LoadBalancerUsers): string {
  const { id, ownership, parent } = entry;
  if (ownership.kind === 'ours') return ownership.owner;
  if (ownership.kind === 'foreign' && !isInLegacy(entry, users)) return '';
  const served = world.rows.serves(id)?.owner;
  if (served !== undefined || parent?.table !== 'Logical_Switch' || goneOwner(world, entry) !== undefined) return served ?? '';
  const home = world.rows.entry(parent.uuid);
  return home === undefined ? '' : `subnet//${identityOf(home.id)}`;
}

function objectOf(owner: string): LeftoverGroup['object'] {
  const [kind = '', namespace = '', name = ''] = owner.split('/');
  const resource = resourceOfKind(kind);
  return resource === undefined ? undefined : { resource, key: namespace === '' ? name : `${namespace}/${name}` };
}

function isServed(world: World, owner: string): boolean {
  const object = objectOf(owner);
  if (object === undefined) return false;
  const { resource, key } = object;
  return world.tables[resource]?.peek(key) !== undefined || world.unimplemented.peek(`${resource}/${key}`) !== undefined;
}

/** The tables that steer traffic, which come first. */
const ORDER: readonly string[] = ['Logical_Router_Policy', 'ACL', 'NAT', 'Logical_Router_Static_Route', 'Load_Balancer'];

function rankOf({ table }: Leftover): number {
  const place = ORDER.indexOf(table);
  return place === -1 ? ORDER.length : place;
}

/** Kube-OVN's group of the ports that have SecurityGroups: its ACLs drop what no SecurityGroup allows. */
const DENY_ALL = 'ovn.sg.kubeovn_deny_all';

function leftover(world: World, entry: Entry, users: LoadBalancerUsers): Leftover {
  const { id, table, uuid } = entry;
  const remove = removalOf(world, entry, users);
  return { table, name: identityOf(id), uuid, effect: effectOf(world, entry, users), ...(remove !== undefined && { remove }) };
}

function withoutRemoval({ table, name, uuid, effect }: Leftover): Leftover {
  return { table, name, uuid, effect };
}

/**
 * None for a load balancer that a switch or router has, since its vips may be those of Services, and for what denies traffic of pods that
 * have SecurityGroups.
 */
function removalOf(world: World, entry: Entry, users: LoadBalancerUsers): string | undefined {
  const { id, table, uuid, parent } = entry;
  if (table === 'Load_Balancer' && users.has(uuid)) return undefined;
  const group = parent === undefined ? id : world.rows.entry(parent.uuid)?.id;
  if (group === rowId('Port_Group', DENY_ALL) && portsOf(world, group) > 0) return undefined;
  if (isInUse(world, entry)) return undefined;
  return parent === undefined
    ? commandText`ovn-nbctl destroy ${table} ${uuid}`
    : commandText`ovn-nbctl remove ${parent.table} ${parent.uuid} ${parent.column} ${uuid}`;
}

/** Tables whose rows hold ports: with one, traffic may flow through it. */
const HOLD_PORTS: ReadonlySet<string> = new Set(['Logical_Switch', 'Logical_Router', 'Port_Group']);
const MATCHING = ['ACL', 'Logical_Router_Policy'] as const;
/** Kinds whose objects have the name of their port. */
const HOLDERS = resourcesWith('holdsPorts');

/** Columns by which rows use rows of a table that are not part of them. */
const USED_BY: Readonly<Record<string, readonly (readonly [table: string, column: string])[]>> = {
  DHCP_Options: [
    ['Logical_Switch_Port', 'dhcpv4_options'],
    ['Logical_Switch_Port', 'dhcpv6_options'],
  ],
  HA_Chassis_Group: [
    ['Logical_Router_Port', 'ha_chassis_group'],
    ['Logical_Switch_Port', 'ha_chassis_group'],
  ],
  BFD: [
    ['Logical_Router_Static_Route', 'bfd'],
    ['Logical_Router_Policy', 'bfd_sessions'],
  ],
};
/** Parts without which the row that has them works otherwise. */
const PARTS: ReadonlySet<string> = new Set(['Gateway_Chassis', 'HA_Chassis', 'Load_Balancer_Health_Check', 'QoS', 'Forwarding_Group']);

function isInUse(world: World, { id, table, uuid, row, parent }: Entry): boolean {
  if (HOLD_PORTS.has(table)) return portsOf(world, id) > 0;
  const { rows, tables } = world;
  const name = identityOf(id);
  // Without the set its match holds for nothing, so a rule that allows traffic would end.
  if (table === 'Address_Set')
    return MATCHING.some((of) =>
      rows.inTable(of).some(({ row }) => namesInMatch(String(row['match'] ?? '')).some((one) => one.name === name)),
    );
  if ((USED_BY[table] ?? []).some(([of, column]) => rows.inTable(of).some((other) => holds(other.row[column], uuid)))) return true;
  const home = parent === undefined ? undefined : rows.entry(parent.uuid);
  if (PARTS.has(table)) return home !== undefined && isInUse(world, home);
  // A port of a router carries what its switch sends.
  if (table === 'Logical_Router_Port')
    return rows
      .inTable('Logical_Switch_Port')
      .some((port) => port.row['options'] instanceof Map && port.row['options'].get('router-port') === name);
  if (table !== 'Logical_Switch_Port') return false;
  if (HOLDERS.some((resource) => tables[resource]?.peek(name) !== undefined)) return true;
  // Ports to a router, a physical network or a node serve the other ports of their switch.
  return (row['type'] ?? '') !== '' && home !== undefined && portsOf(world, home.id) > 1;
}

function holds(value: unknown, uuid: Entry['uuid']): boolean {
  return value === uuid || (value instanceof Set && value.has(uuid));
}

function portsOf(world: World, group: RowId): number {
  const held = world.rows.best(group)?.row['ports'];
  return held instanceof Set ? held.size : 0;
}

function effectOf(world: World, entry: Entry, users: LoadBalancerUsers): string {
  const { table, uuid, row } = entry;
  const text = (column: string): string => String(row[column] ?? '');
  const count = (column: string): number => {
    const held = row[column];
    return held instanceof Set || held instanceof Map ? held.size : 0;
  };
  switch (table) {
    case 'Logical_Router_Policy': {
      const hops = row['nexthops'] instanceof Set ? Array.from(row['nexthops'], String) : [];
      const towards = [...hops, text('nexthop')].filter((hop) => hop !== '').join(', ');
      return withMissing(world, `${text('action')}${towards === '' ? '' : ` to ${towards}`}`, text('match'));
    }
    case 'ACL':
      return withMissing(world, text('action'), text('match'));
    case 'NAT':
      return `${text('type')} of ${text('logical_ip')} to ${text('external_ip')}`;
    case 'Logical_Router_Static_Route':
      return `${text('policy') === 'src-ip' ? 'from' : 'to'} ${text('ip_prefix')} by ${text('nexthop')}`;
    case 'Logical_Switch_Port': {
      const gone = goneOwner(world, entry);
      const addresses = addressesOfPort(row).map(formatAddress).join(', ');
      return gone === undefined || addresses === '' ? '' : `OVN answers for ${addresses}; its pod ${gone} is gone`;
    }
    case 'Load_Balancer':
      return `${countsText([[count('vips'), 'vip', 'vips']])}; ${usersText(users.get(uuid) ?? [])}`;
    case 'Address_Set':
      return countsText([[count('addresses'), 'address', 'addresses']]);
    case 'Port_Group':
      return countsText([
        [count('ports'), 'port', 'ports'],
        [count('acls'), 'ACL', 'ACLs'],
      ]);
    case 'Logical_Switch':
      return countsText([
        [count('ports'), 'port', 'ports'],
        [count('acls'), 'ACL', 'ACLs'],
      ]);
    case 'Logical_Router':
      return countsText([
        [count('ports'), 'port', 'ports'],
        [count('static_routes'), 'route', 'routes'],
        [count('policies'), 'policy', 'policies'],
        [count('nat'), 'NAT rule', 'NAT rules'],
      ]);
    default:
      return '';
  }
}

/** Where a load balancer is in effect. */
function usersText(users: readonly Entry[]): string {
  const count = (table: string): number => users.filter((one) => one.table === table).length;
  const [switches, routers] = [count('Logical_Switch'), count('Logical_Router')];
  if (switches + routers === 0) return 'in no switch or router';
  return `in ${countsText([
    [switches, 'switch', 'switches'],
    [routers, 'router', 'routers'],
  ])}`;
}

function countsText(counts: readonly (readonly [count: number, one: string, many: string])[]): string {
  const texts = counts.filter(([count]) => count > 0).map(([count, one, many]) => `${count} ${count === 1 ? one : many}`);
  return texts.length === 0 ? 'empty' : texts.join(', ');
}

/** A match with a missing address set or port group matches nothing. */
function withMissing({ rows }: World, action: string, match: string): string {
  const missing = namesInMatch(match).filter(({ kind, name }) => !isThere(rows, kind, name));
  return missing.length === 0 ? action : `${action}; ${missing.map(({ kind, name }) => `${kind} ${name} does not exist`).join(', ')}`;
}

function isThere(rows: World['rows'], kind: string, name: string): boolean {
  if (kind === 'port group') return rows.best(rowId('Port_Group', name)) !== undefined;
  // OVN makes a set of each family from every port group.
  const group = /^(.+)_ip[46]$/.exec(name)?.[1];
  return (
    rows.best(rowId('Address_Set', name)) !== undefined || (group !== undefined && rows.best(rowId('Port_Group', group)) !== undefined)
  );
}
