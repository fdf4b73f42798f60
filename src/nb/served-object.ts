/**
 * The object that a legacy row serves, as shown by Kube-OVN's keys, by names, and by the row that contains it. This decides what happens to
 * a leftover. Ports, switches and routers are not examined: those that no rule emits are deleted with the row that contains them.
 */
import type { ExternalIds } from './ownership.ts';

/** The parts of a row that are examined. */
export interface LegacyRow {
  readonly table: string;
  readonly name: string;
  readonly externalIds: ExternalIds;
  /** The row that contains it. */
  readonly parent?: LegacyRow;
}

export interface Served {
  /** `<kind>/<namespace>/<name>` */
  readonly owner: string;
  /** The node that the row is also for; empty for none. */
  readonly node: string;
}

const NAMED_BY_KEYS: ReadonlySet<string> = new Set(['ACL', 'Address_Set', 'Logical_Router_Policy', 'Port_Group']);
const INSIDE: ReadonlySet<string> = new Set(['ACL', 'Gateway_Chassis', 'Logical_Router_Policy', 'Logical_Router_Static_Route', 'NAT']);

/** The object that the row serves; undefined if nothing shows it. */
export function servedObject(row: LegacyRow): Served | undefined {
  const { table, name, externalIds, parent } = row;
  const text = (key: string): string => String(externalIds.get(key) ?? '');
  if (table === 'DHCP_Options') return text('port') === '' ? served('subnet', text('ls')) : undefined;
  if (table === 'Load_Balancer') return servedByLoadBalancer(name);
  if (table === 'HA_Chassis_Group') return served('vpc', BFD_GROUP.exec(name)?.[1] ?? '');
  if (table === 'Logical_Router_Port') return servedByRouterPort(name, parent?.name ?? '');
  if (NAMED_BY_KEYS.has(table)) {
    const named = servedByKeys(row, text);
    if (named !== undefined) return named;
  }
  return INSIDE.has(table) && parent !== undefined ? servedByParent(parent) : undefined;
}

const CLUSTER_LOAD_BALANCER = /^cluster-(?:tcp|udp|sctp)-(?:session-)?loadbalancer$/;
const BFD_GROUP = /^bfd@(.+)$/;
const VPC_LOAD_BALANCER = /^vpc-(.+)-(?:tcp|udp|sctp)-(?:sess-)?load$/;

/**
 * Load balancers of the default Vpc serve no other object: a rule emits them if load balancing is on. A load balancer that belongs to no
 * Vpc has the name of an OvnDnatRule.
 */
function servedByLoadBalancer(name: string): Served | undefined {
  if (CLUSTER_LOAD_BALANCER.test(name)) return undefined;
  const vpc = VPC_LOAD_BALANCER.exec(name)?.[1];
  return vpc === undefined ? served('ovndnatrule', name) : served('vpc', vpc);
}

function served(kind: string, name: string, node = ''): Served | undefined {
  return name === '' ? undefined : { owner: `${kind}//${name}`, node };
}

function servedByKeys({ table, name }: LegacyRow, text: (key: string) => string): Served | undefined {
  if (text('sg') !== '') return served('securitygroup', text('sg'));
  const subnet = text('subnet');
  if (subnet !== '') return served('subnet', subnet, text('node'));
  if (text('vpc') !== '') return served('vpc', text('vpc'));
  const [first = '', second = ''] = text('np').split('/');
  if (second === '') return served('node', text('node'));
  if (first === 'node' && name === dotted(`node-${second}`)) return served('node', second);
  // Port groups of a Subnet and a node, and those of a NetworkPolicy in its namespace: their names have the two parts in opposite order.
  if (table === 'Port_Group' && name.endsWith(dotted(`${first}.${second}`))) return served('subnet', first, second);
  return { owner: `networkpolicy/${first}/${second}`, node: '' };
}

function dotted(name: string): string {
  return name.replaceAll('-', '.');
}

/** The port of a Subnet is named `<router>-<subnet>`; any other port in the router belongs to the Vpc. */
function servedByRouterPort(name: string, router: string): Served | undefined {
  if (router === '') return undefined;
  return name.startsWith(`${router}-`) ? served('subnet', name.slice(router.length + 1)) : served('vpc', router);
}

function servedByParent(parent: LegacyRow): Served | undefined {
  switch (parent.table) {
    case 'Logical_Router':
      return served('vpc', parent.name);
    case 'Logical_Switch':
      return served('subnet', parent.name);
    default:
      return servedObject(parent);
  }
}
