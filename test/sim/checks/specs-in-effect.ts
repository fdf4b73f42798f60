/**
 * What specs ask for and conditions report to be in effect is in the database. A rule that emits too little does so in each process, so a
 * fresh controller plans nothing. This reads specs and rows, and uses no rule.
 */
import { isOvnProvider, nodePortGroup, routerToSwitchPort, switchToRouterPort } from '../../../src/api/names.ts';
import type { Condition } from '../../../src/api/kubernetes/meta.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import type { Vpc } from '../../../src/api/kinds/vpc.ts';
import { DEFAULT_VPC, POD_CONDITION, podAnnotation } from '../../../src/api/well-known.ts';
import { formatAddress, parseAddress } from '../../../src/net/address.ts';
import { cidrContains, formatCidr, networkAddress, parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import { RULE_KEY, UID_KEY, VENDOR, VENDOR_KEY } from '../../../src/nb/ownership.ts';
import { isOwnUuid, rowId } from '../../../src/nb/row-id.ts';
import type { Row, Uuid } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';
import { isReleased, mapOf } from './observed-state.ts';

export function specFindings(world: World): readonly Finding[] {
  return [
    ...[...world.vpcs.entries()].flatMap(([name, vpc]) => vpcFaults(world, name, vpc).map((what) => missingPart(`Vpc ${name}`, what))),
    ...[...world.subnets.entries()].flatMap(([name, subnet]) =>
      subnetFaults(world, name, subnet).map((what) => missingPart(`Subnet ${name}`, what)),
    ),
    ...[...world.nodes.entries()].flatMap(([name]) => nodeFaults(world, name).map((what) => missingPart(`Node ${name}`, what))),
    ...portGroupFaults(world),
    ...globalFaults(world),
    ...[...world.namespaces.entries()].flatMap(([name]) =>
      namespaceFaults(world, name).map((what) => missingPart(`Namespace ${name}`, what)),
    ),
  ];
}

function missingPart(subject: string, what: string): Finding {
  return {
    kind: `spec ${subject.split(' ')[0] ?? ''} ${what.split(' ')[0] ?? ''}`,
    message: `${subject} is reported to be in effect, and ${what}`,
  };
}

function areTrue(conditions: readonly Condition[] | undefined, ...types: readonly string[]): boolean {
  return types.every((type) => conditions?.some((one) => one.type === type && one.status === 'True') === true);
}

/** Rows that a reference column refers to. */
function rowsIn(world: World, row: Row | undefined, column: string): readonly Row[] {
  const held = row?.[column];
  return held instanceof Set ? [...held].flatMap((uuid) => world.rows.entry(uuid as Uuid)?.row ?? []) : [];
}

/**
 * For an object reported to be in effect: the parts of its spec that its condition reports as left out while all else is in effect; empty
 * for none. Undefined if it is not in effect, or more is left out than the condition can name.
 */
function leftOut(conditions: readonly Condition[] | undefined): string | undefined {
  if (!areTrue(conditions, 'Ready')) return undefined;
  const accepted = conditions?.find(({ type }) => type === 'Accepted');
  if (accepted?.status === 'True') return '';
  const message = accepted?.message ?? '';
  return message.includes('left out, all else is in effect') && !/And \d+ more/.test(message) ? message : undefined;
}

function vpcFaults(world: World, name: string, { metadata, spec, status }: Vpc): readonly string[] {
  const subnets = [...world.subnets.entries()]
    .filter(([, one]) => one.metadata.deletionTimestamp === undefined && isOvnProvider(one.spec.provider ?? ''))
    .filter(([, one]) => one.spec.vpc === name && areTrue(one.status?.conditions, 'Accepted', 'Ready'))
    .map(([subnet]) => subnet);
  const unknown = subnets.filter((subnet) => !(status?.subnets ?? []).includes(subnet)).map((subnet) => `status.subnets lacks ${subnet}`);
  const left = leftOut(status?.conditions);
  if (isReleased(metadata) || left === undefined) return unknown;
  const router = world.rows.best(rowId('Logical_Router', status?.router ?? ''))?.row;
  if (router === undefined) return [...unknown, 'router is not there'];
  const routes = rowsIn(world, router, 'static_routes');
  const policies = rowsIn(world, router, 'policies');
  return [
    ...unknown,
    ...(status?.subnets ?? [])
      .filter((subnet) => !world.subnets.has(subnet))
      .map((subnet) => `status.subnets has ${subnet}, which does not exist`),
    ...(spec.staticRoutes ?? []).flatMap(({ cidr = '', nextHopIP = '' }, i) => {
      const [prefix, nexthop] = [prefixOf(cidr), parseAddress(nextHopIP)];
      if (prefix === '' || nexthop === undefined || left.includes(`spec.staticRoutes[${i}]`)) return [];
      const is = routes.some((row) => row['ip_prefix'] === prefix && row['nexthop'] === formatAddress(nexthop));
      return is ? [] : [`route to ${cidr} by ${nextHopIP} is not on its router`];
    }),
    ...(spec.policyRoutes ?? [])
      .filter(
        ({ priority, match = '', action }, i) =>
          !left.includes(`spec.policyRoutes[${i}]`) &&
          !policies.some((row) => Number(row['priority']) === priority && row['match'] === match.trim() && row['action'] === action),
      )
      .map(({ match }) => `policy ${match ?? ''} is not on its router`),
    ...routes
      .filter((row) => isOfRule(row, 'vpc-static-routes') && !/^(0\.0\.0\.0|::)\/0$/.test(String(row['ip_prefix'])))
      .filter((row) => !hasRoute(spec, row))
      .map((row) => `route to ${String(row['ip_prefix'])} by ${String(row['nexthop'])} is on its router, and its spec has none`),
    ...policies
      .filter((row) => isOfRule(row, 'vpc-policy-routes'))
      .filter((row) => !(spec.policyRoutes ?? []).some(({ match = '' }) => row['match'] === match.trim()))
      .map((row) => `policy ${String(row['match'])} is on its router, and its spec has none`),
  ];
}

/** Whether the row is of this rule, by its keys; a row that lost its row owner is retained like one of Kube-OVN. */
function isOfRule(row: Row, rule: string): boolean {
  const ids = row['external_ids'];
  return ids instanceof Map && ids.has(UID_KEY) && ids.get(RULE_KEY) === rule;
}

/** A network or a host, as a row has it; empty if the text is neither. */
function prefixOf(cidr: string): string {
  const [prefix, host] = [parseCidr(cidr), parseAddress(cidr)];
  return prefix !== undefined ? formatCidr(prefix) : host !== undefined ? formatAddress(host) : '';
}

function hasRoute({ staticRoutes = [] }: Vpc['spec'], row: Row): boolean {
  return staticRoutes.some(({ cidr = '', nextHopIP = '' }) => {
    const nexthop = parseAddress(nextHopIP);
    return row['ip_prefix'] === prefixOf(cidr) && nexthop !== undefined && row['nexthop'] === formatAddress(nexthop);
  });
}

function subnetFaults(world: World, name: string, { metadata, spec, status }: Subnet): readonly string[] {
  const left = leftOut(status?.conditions);
  if (isReleased(metadata) || !isOvnProvider(spec.provider ?? '') || left === undefined) return [];
  const vpc = spec.vpc ?? '';
  const ls = world.rows.best(rowId('Logical_Switch', name))?.row;
  if (ls === undefined) return ['switch is not there'];
  const ports = rowsIn(world, ls, 'ports');
  const acls = rowsIn(world, ls, 'acls');
  const link = ports.find((row) => row['name'] === switchToRouterPort(name, vpc));
  const router = world.rows.best(rowId('Logical_Router', vpc))?.row;
  const gateway = rowsIn(world, router, 'ports').find((row) => row['name'] === routerToSwitchPort(vpc, name));
  const lengths = splitList(spec.cidrBlock ?? '').map((cidr) => cidr.slice(cidr.indexOf('/')));
  const networks = splitList(spec.gateway ?? '').map((address, i) => address + (lengths[i] ?? ''));
  const has = gateway?.['networks'];
  const dhcp =
    spec.enableDHCP === true ? splitList(spec.cidrBlock ?? '').map((cidr) => (parseCidr(cidr)?.family === 4 ? 'IPv4' : 'IPv6')) : [];
  // Its gateway is a physical one, and the router has an address of its own in it, if it is connected.
  if ((spec.vlan ?? '') !== '' && spec.u2oInterconnection === true && spec.logicalGateway !== true)
    return link?.['type'] === 'router' && gateway !== undefined ? [] : ['no port leads to its router'];
  if ((spec.vlan ?? '') !== '' && spec.logicalGateway !== true)
    return link === undefined && gateway === undefined ? [] : ['a port leads to a router'];
  return [
    ...(link?.['type'] === 'router' ? [] : ['link to its router is not on its switch']),
    ...(gateway === undefined ? ['port on its router is not there'] : []),
    ...(has instanceof Set
      ? networks.filter((network) => !has.has(network)).map((network) => `gateway ${network} is not on its router`)
      : []),
    ...(spec.acls ?? [])
      .filter(
        ({ priority, match = '', action }, i) =>
          !left.includes(`spec.acls[${i}]`) &&
          !acls.some((row) => Number(row['priority']) === priority && row['match'] === match.trim() && row['action'] === action),
      )
      .map(({ match }) => `ACL ${match ?? ''} is not on its switch`),
    ...dhcp
      .filter((protocol) => world.rows.best(rowId('DHCP_Options', name, protocol, '')) === undefined)
      .map((protocol) => `DHCP options of ${protocol} are not there`),
    ...(spec.enableDHCP === true ? [] : ['IPv4', 'IPv6'])
      .filter((protocol) => world.rows.best(rowId('DHCP_Options', name, protocol, ''))?.ownership.kind === 'ours')
      .map((protocol) => `DHCP options of ${protocol} are there, and its spec has none`),
    ...(spec.private === true || (spec.acls ?? []).length > 0 || spec.allowEWTraffic === true
      ? []
      : acls
          .filter((row) => isOfRule(row, 'subnet-acls'))
          .map((row) => `ACL ${String(row['match'])} is on its switch, and its spec has none`)),
    ...overlapping(world, name, spec.vpc ?? '', spec.cidrBlock ?? '').map((other) => `network of ${other} in its Vpc overlaps its own`),
  ];
}

/** Other Subnets of its Vpc that are reported to be in effect and overlap its network; each pair once. */
function overlapping(world: World, name: string, vpc: string, cidrBlock: string): readonly string[] {
  const own = splitList(cidrBlock).flatMap((cidr) => parseCidr(cidr) ?? []);
  return [...world.subnets.entries()].flatMap(([other, { metadata, spec, status }]) => {
    const isIn = spec.vpc === vpc && isOvnProvider(spec.provider ?? '') && metadata.deletionTimestamp === undefined;
    const isRouted = (spec.vlan ?? '') === '' || spec.logicalGateway === true || spec.u2oInterconnection === true;
    if (other <= name || !isIn || !isRouted || !areTrue(status?.conditions, 'Accepted', 'Ready')) return [];
    const theirs = splitList(spec.cidrBlock ?? '').flatMap((cidr) => parseCidr(cidr) ?? []);
    const meet = own.some((a) =>
      theirs.some((b) => a.family === b.family && (cidrContains(a, networkAddress(b)) || cidrContains(b, networkAddress(a)))),
    );
    return meet ? [other] : [];
  });
}

/** Its port in the join Subnet, and the policies that route to it. */
function nodeFaults(world: World, name: string): readonly string[] {
  const node = world.nodes.peek(name);
  const annotations = node?.metadata.annotations ?? {};
  if (node?.metadata.deletionTimestamp !== undefined || annotations[podAnnotation('ovn', 'allocated')] !== 'true') return [];
  if (
    !areTrue(world.subnets.peek('join')?.status?.conditions, 'Ready') ||
    !areTrue(world.vpcs.peek('ovn-cluster')?.status?.conditions, 'Ready')
  )
    return [];
  // A conflict: another program has a row with the name of the node's port, and a condition of the node reports it.
  if (world.rowConflicts.peek(rowId('Logical_Switch_Port', `node-${name}`)) !== undefined) return [];
  const reported = annotations[podAnnotation('ovn', 'ip_address')] ?? '';
  // The node joined while the join Subnet, made again since, had another network: it keeps its address, and a condition reports it.
  const joins = splitList(world.subnets.peek('join')?.spec.cidrBlock ?? '').flatMap((cidr) => parseCidr(cidr) ?? []);
  const isIn = (text: string): boolean => {
    const address = parseAddress(text);
    return address !== undefined && joins.some((cidr) => cidrContains(cidr, address));
  };
  if (!splitList(reported).every(isIn)) return [];
  const portAddresses = world.rows.best(rowId('Logical_Switch_Port', `node-${name}`))?.row['addresses'];
  const policies = rowsIn(world, world.rows.best(rowId('Logical_Router', 'ovn-cluster'))?.row, 'policies');
  const internal = (node?.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
  const families = splitList(reported).map((text) => parseAddress(text)?.family);
  return [
    ...(portAddresses instanceof Set && [...portAddresses].some((text) => String(text).split(' ').slice(1).join(',') === reported)
      ? []
      : [`port with ${reported} is not there`]),
    ...internal
      .filter((address) => families.includes(parseAddress(address)?.family))
      .filter((address) => !policies.some((row) => String(row['match']).endsWith(` == ${address}`)))
      .map((address) => `policy for ${address} is not there`),
  ];
}

/** The networks in its annotations are those of the Subnets in its annotations. */
function namespaceFaults(world: World, name: string): readonly string[] {
  const namespace = world.namespaces.peek(name);
  const annotations = namespace?.metadata.annotations ?? {};
  if (namespace?.metadata.deletionTimestamp !== undefined) return [];
  const subnets = splitList(annotations[podAnnotation('ovn', 'logical_switch')] ?? '');
  // Empty for a Subnet that is not in effect.
  const cidrs = (annotations[podAnnotation('ovn', 'cidr')] ?? '').split(';');
  return subnets.flatMap((subnet, i) => {
    const { spec, status } = world.subnets.peek(subnet) ?? {};
    if (spec === undefined) return [`Subnet ${subnet} in its annotations does not exist`];
    return !areTrue(status?.conditions, 'Accepted') || cidrs[i] === spec.cidrBlock
      ? []
      : [`network ${cidrs[i] ?? ''} in its annotations is not that of ${subnet}`];
  });
}

/** Whether the orphaned network of a Subnet is linked to the router of the default Vpc, as the annotations of its pods say. */
function isOrphanLinked(world: World, annotations: Readonly<Record<string, string>>): boolean {
  const link = switchToRouterPort(annotations[podAnnotation('ovn', 'logical_switch')] ?? '', DEFAULT_VPC);
  const isInDefaultVpc = annotations[podAnnotation('ovn', 'logical_router')] === DEFAULT_VPC;
  return isInDefaultVpc && world.rows.best(rowId('Logical_Switch_Port', link))?.ownership.kind === 'ours';
}

/** Options of the whole database, as Kube-OVN's contract has them. */
const GLOBAL = { ls_dnat_mod_dl_dst: 'true', use_ct_inv_match: 'false', ls_ct_skip_dst_lport_ips: 'true' } as const;

function globalFaults(world: World): readonly Finding[] {
  const options = world.rows.best(rowId('NB_Global', ''))?.row['options'];
  if (!(options instanceof Map)) return [];
  if (isShared(world))
    return Object.keys(GLOBAL)
      .filter((key) => options.has(key))
      .map((key) => missingPart('NB_Global', `option ${key} is set in a database with networks of other programs`));
  // No other release runs in a history, and all rows of Kube-OVN's that it begins with have the vendor key.
  const release = mapOf(world.rows.best(rowId('NB_Global', ''))?.row['external_ids']).get('kube-ovn-version');
  return [
    ...Object.entries(GLOBAL)
      .filter(([key, value]) => options.get(key) !== value)
      .map(([key, value]) => missingPart('NB_Global', `option ${key} is not ${value}`)),
    ...(release === undefined ? [missingPart('NB_Global', 'no kube-ovn-version')] : []),
  ];
}

/** Whether there is a switch or router of another program. One of ours that lost its ownership keys is known by its UUID. */
function isShared({ rows }: World): boolean {
  return ['Logical_Switch', 'Logical_Router'].some((table) =>
    rows.inTable(table).some(({ row, uuid }) => mapOf(row['external_ids']).get(VENDOR_KEY) !== VENDOR && !isOwnUuid(uuid)),
  );
}

/** The port of a pod that has its network is in the port group of its node. */
function portGroupFaults(world: World): readonly Finding[] {
  const findings: Finding[] = [];
  for (const [key, pod] of world.pods.entries()) {
    const { annotations = {}, name, namespace = '' } = pod.metadata;
    const node = pod.spec.nodeName ?? '';
    const isMachine = annotations[podAnnotation('ovn', 'virtualmachine')] !== undefined;
    const over = pod.metadata.deletionTimestamp !== undefined || pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    if (over || isMachine || annotations[podAnnotation('ovn', 'allocated')] !== 'true' || world.nodes.peek(node) === undefined) continue;
    const group = world.rows.best(rowId('Port_Group', nodePortGroup(node)));
    const port = world.rows.best(rowId('Logical_Switch_Port', `${name}.${namespace}`));
    const subnet = world.subnets.peek(annotations[podAnnotation('ovn', 'logical_switch')] ?? '');
    // Its Subnet was removed by force and made again with an invalid spec: the pod runs on the orphaned network, and a condition reports
    // it.
    const bound = pod.status?.conditions?.find(({ type }) => type === POD_CONDITION);
    if (subnet !== undefined && bound?.status === 'False' && bound.reason === 'NoSubnet') continue;
    const isRouted = subnet === undefined ? isOrphanLinked(world, annotations) : subnet.spec.vpc === DEFAULT_VPC;
    // A conflict: another program may have a row of that name. A condition of the node reports it, and no member is added.
    if (group?.ownership.kind !== 'ours' || port?.ownership.kind !== 'ours' || !isRouted) continue;
    const { ports } = group.row;
    if (!(ports instanceof Set) || !ports.has(port.row._uuid))
      findings.push({ kind: 'I3 member', message: `I3: port of Pod ${key} is not in the port group of its node ${node}` });
  }
  return findings;
}
