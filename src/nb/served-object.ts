/**
 * The object that a legacy row serves, as far as Kube-OVN's keys, names and the row that contains it show: what becomes of a leftover goes by it.
 * Ports, switches and routers are left out: those that a rule does not emit are in a row that goes.
 */
import type { ExternalIds } from './ownership.ts';

/** A row as far as this looks at it. */
export interface LegacyRow {
  readonly table: string;
  readonly name: string;
  readonly externalIds: ExternalIds;
  /** The row that contains it. */
  readonly container?: LegacyRow;
}

export interface Served {
  /** `<kind>/<namespace>/<name>` */
  readonly owner: string;
  /** The node that it is for as well; empty for none. */
  readonly node: string;
}

const NAMED_BY_KEYS: ReadonlySet<string> = new Set(['ACL', 'Address_Set', 'Logical_Router_Policy', 'Port_Group']);
const INSIDE: ReadonlySet<string> = new Set(['ACL', 'Gateway_Chassis', 'Logical_Router_Policy', 'Logical_Router_Static_Route', 'NAT']);

/** Undefined where nothing shows it. */
export function servedObject(row: LegacyRow): Served | undefined {
  const { table, name, externalIds, container } = row;
  const text = (key: string): string => String(externalIds.get(key) ?? '');
  if (table === 'DHCP_Options') return text('port') === '' ? served('subnet', text('ls')) : undefined;
  if (table === 'Load_Balancer') return servedByLoadBalancer(name);
  if (table === 'HA_Chassis_Group') return served('vpc', BFD_GROUP.exec(name)?.[1] ?? '');
  if (table === 'Logical_Router_Port') return servedByRouterPort(name, container?.name ?? '');
  if (NAMED_BY_KEYS.has(table)) {
    const named = servedByKeys(row, text);
    if (named !== undefined) return named;
  }
  return INSIDE.has(table) && container !== undefined ? servedByContainer(container) : undefined;
}

const CLUSTER_LOAD_BALANCER = /^cluster-(?:tcp|udp|sctp)-(?:session-)?loadbalancer$/;
const BFD_GROUP = /^bfd@(.+)$/;
const VPC_LOAD_BALANCER = /^vpc-(.+)-(?:tcp|udp|sctp)-(?:sess-)?load$/;

/** Those of the default Vpc are its own wherever load balancing is on; those that are no Vpc's have the name of an OvnDnatRule. */
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
  // Of a Subnet and a node, and of a NetworkPolicy in its namespace: their names stand the other way round.
  if (table === 'Port_Group' && name.endsWith(dotted(`${first}.${second}`))) return served('subnet', first, second);
  return { owner: `networkpolicy/${first}/${second}`, node: '' };
}

function dotted(name: string): string {
  return name.replaceAll('-', '.');
}

/** `<router>-<subnet>`; whatever else is in the router is the Vpc's. */
function servedByRouterPort(name: string, router: string): Served | undefined {
  if (router === '') return undefined;
  return name.startsWith(`${router}-`) ? served('subnet', name.slice(router.length + 1)) : served('vpc', router);
}

function servedByContainer(container: LegacyRow): Served | undefined {
  switch (container.table) {
    case 'Logical_Router':
      return served('vpc', container.name);
    case 'Logical_Switch':
      return served('subnet', container.name);
    default:
      return servedObject(container);
  }
}
