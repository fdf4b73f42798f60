/**
 * Field by field: the rows of an object reported to be in effect are what its spec asks for, no less and no more. Like
 * `specs-in-effect.ts`, this reads specs, annotations and rows, and uses no rule.
 */
import {
  ipPoolAddressSet,
  ipPoolAddressSetV6,
  nodePortName,
  peerPort,
  portGroupAddressSet,
  routerToSwitchPort,
  subnetNodePortGroup,
} from '../../../src/api/names.ts';
import type { Namespace } from '../../../src/api/kubernetes/core.ts';
import type { IPPool } from '../../../src/api/kinds/ip-pool.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import type { Vpc } from '../../../src/api/kinds/vpc.ts';
import { annotationKey, DEFAULT_VPC, JOIN_SUBNET } from '../../../src/api/well-known.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { cidrContains, parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { Row, Uuid } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';
import { networkFaults, podFaults, sharedMacs } from './pod-fields.ts';
import { nodeRowFaults, subnetRowFaults, vpcRowFaults } from './router-rows.ts';
import {
  best,
  isInEffect,
  isReleased,
  isInEffectOrDraining,
  isTrue,
  mapOf,
  networksOf,
  rowsIn,
  ovnAnnotation,
  sorted,
  textOf,
} from './observed-state.ts';

export function fieldFindings(world: World): readonly Finding[] {
  const found: Finding[] = [];
  const report = (kind: string, name: string, faults: readonly string[]): void => {
    for (const what of faults)
      found.push({
        kind: `field ${kind} ${what.split(' ')[0] ?? ''}`,
        message: `${kind} ${name} is reported to be in effect, and ${what}`,
      });
  };
  const podsIn = Map.groupBy(world.pods.entries(), ([, pod]) => ovnAnnotation(pod, 'logical_switch'));
  for (const [name, vpc] of world.vpcs.entries()) report('Vpc', name, vpcFaults(world, name, vpc));
  for (const [name, subnet] of world.subnets.entries()) {
    if (!isInEffectOrDraining(subnet)) continue;
    const ls = best(world, 'Logical_Switch', name);
    const router = best(world, 'Logical_Router', subnet.spec.vpc ?? '');
    if (ls === undefined || router === undefined) continue;
    const policies = rowsIn(world, router, 'policies');
    report('Subnet', name, [
      ...policyIntoFaults(subnet, policies),
      ...gatewayFaults(world, name, subnet, policies),
      ...dhcpFaults(world, name, subnet),
      ...linkFaults(world, name, subnet, ls),
      ...subnetRowFaults(world, name, subnet, ls, router),
    ]);
    const pods = podsIn.get(name) ?? [];
    for (const [key, pod] of pods) report('Pod', key, podFaults(world, name, subnet, pod));
    report('Subnet', name, [...sharedMacs(pods), ...outdated(subnet)]);
  }
  const router = best(world, 'Logical_Router', DEFAULT_VPC);
  const policies = router === undefined ? [] : rowsIn(world, router, 'policies');
  for (const [name, node] of world.nodes.entries()) report('Node', name, nodeRowFaults(node, policies));
  for (const [key, pod] of world.pods.entries()) report('Pod', key, networkFaults(pod));
  for (const [name, pool] of world.ipPools.entries()) report('IPPool', name, poolFaults(world, name, pool));
  for (const [name, namespace] of world.namespaces.entries()) report('Namespace', name, namespaceFaults(world, namespace));
  return found;
}

/** Clients that wait for a condition rely on its observedGeneration. */
function outdated({ metadata, status }: Subnet | Vpc): readonly string[] {
  const { generation } = metadata;
  return (status?.conditions ?? [])
    .filter(({ type, observedGeneration }) => ['Accepted', 'Ready'].includes(type) && observedGeneration !== generation)
    .map(
      ({ type, observedGeneration }) =>
        `condition ${type} is of generation ${observedGeneration ?? 'none'}, and this is ${generation ?? 'none'}`,
    );
}

/** Policies by which traffic to the Subnet skips the other policies of its router. */
function policyIntoFaults(subnet: Subnet, policies: readonly Row[]): readonly string[] {
  return networksOf(subnet)
    .filter(({ family, cidr }) => !policies.some((row) => row['match'] === `ip${family}.dst == ${cidr}` && row['action'] === 'allow'))
    .map(({ cidr }) => `policy to ${cidr} is not on its router`);
}

/** How traffic leaves a Subnet with a distributed gateway: from the pods of each node by that node, in each family that the node has. */
function gatewayFaults(world: World, name: string, subnet: Subnet, policies: readonly Row[]): readonly string[] {
  const { vpc, gatewayType } = subnet.spec;
  if (vpc !== DEFAULT_VPC || name === JOIN_SUBNET) return [];
  const join = world.subnets.peek(JOIN_SUBNET);
  if (join === undefined || !isInEffect(join)) return [];
  const joins = splitList(join.spec.cidrBlock ?? '').flatMap((cidr) => parseCidr(cidr) ?? []);
  return [...world.nodes.entries()].flatMap(([node, { metadata }]) => {
    if (metadata.deletionTimestamp !== undefined || ovnAnnotation({ metadata }, 'allocated') !== 'true') return [];
    // A conflict: another program has a port of that name. The node has none of ours, and an Event reports it.
    const ports = world.rows.rowsOf(rowId('Logical_Switch_Port', nodePortName(node)));
    if (ports.length > 0 && ports.every(({ ownership }) => ownership.kind !== 'ours')) return [];
    const group = subnetNodePortGroup(name, node);
    return networksOf(subnet).flatMap(({ family }) => {
      const [hop] = splitList(ovnAnnotation({ metadata }, 'ip_address')).filter((text) => text.includes(':') === (family === 6));
      const address = parseAddress(hop ?? '');
      if (address === undefined || !joins.some((cidr) => cidr.family === address.family && cidrContains(cidr, address))) return [];
      const match = `ip${family}.src == $${portGroupAddressSet(group, family)}`;
      const exists = policies.some((row) => row['match'] === match && textOf(row['nexthops']) === hop);
      if (gatewayType !== 'distributed') return exists ? [`traffic leaves by node ${node}, and its gateway is not distributed`] : [];
      return exists ? [] : [`IPv${family} traffic does not leave by node ${node} at ${hop ?? ''}`];
    });
  });
}

const OF_OPTION: Readonly<Record<number, string>> = { 4: 'dhcpV4Options', 6: 'dhcpV6Options' };

/** Its own DHCP options, and those that follow from its network and its MTU. */
function dhcpFaults(world: World, name: string, subnet: Subnet): readonly string[] {
  const { spec, status } = subnet;
  return networksOf(subnet).flatMap(({ family, cidr, gateway }) => {
    const entry = world.rows.best(rowId('DHCP_Options', name, `IPv${family}`, ''));
    const named = family === 4 ? status?.dhcpV4OptionsUUID : status?.dhcpV6OptionsUUID;
    if (spec.enableDHCP !== true) return (named ?? '') === '' ? [] : [`status names DHCP options ${named ?? ''}, and its spec has none`];
    if (entry?.ownership.kind !== 'ours') return [];
    const options = mapOf(entry.row['options']);
    const own = splitList(family === 4 ? (spec.dhcpV4Options ?? '') : (spec.dhcpV6Options ?? '')).map((pair) => pair.split('='));
    const is = (key: string): boolean => own.some(([one]) => one === key);
    const mtu = String((spec.mtu ?? 0) > 0 ? spec.mtu : 1_400);
    return [
      ...(named === entry.row._uuid ? [] : [`status names DHCP options ${named ?? ''}, and they are ${String(entry.row._uuid)}`]),
      ...(entry.row['cidr'] === cidr ? [] : [`DHCP of IPv${family} is for ${String(entry.row['cidr'])}`]),
      ...own
        .filter(([key = '', value = '']) => !value.includes('{') && options.get(key) !== value)
        .map(([key = '', value = '']) => `DHCP option ${key} is ${options.get(key) ?? ''}, and ${OF_OPTION[family] ?? ''} has ${value}`),
      ...(family === 4 && !is('router') && options.get('router') !== gateway
        ? [`DHCP option router is ${options.get('router') ?? ''}, and its gateway is ${gateway}`]
        : []),
      ...(family === 4 && !is('mtu') && options.get('mtu') !== mtu
        ? [`DHCP option mtu is ${options.get('mtu') ?? ''}, and not ${mtu}`]
        : []),
    ];
  });
}

/** Its switch and its router port. */
function linkFaults(world: World, name: string, subnet: Subnet, ls: Row): readonly string[] {
  const { spec } = subnet;
  const port = best(world, 'Logical_Router_Port', routerToSwitchPort(spec.vpc ?? '', name));
  const advertises = spec.enableIPv6RA === true && networksOf(subnet).some(({ family }) => family === 6);
  const configs = mapOf(port?.['ipv6_ra_configs']);
  const held = ls['load_balancer'];
  const own = [...(held instanceof Set ? held : [])].filter((uuid) => world.rows.entry(uuid as Uuid)?.ownership.kind === 'ours').length;
  const hasAll = isTrue(world.vpcs.peek(spec.vpc ?? '')?.status?.conditions, 'Ready');
  return [
    ...(port !== undefined && advertises !== configs.size > 0 ? [`advertisements are ${configs.size > 0 ? 'sent' : 'not sent'}`] : []),
    ...(port !== undefined && !advertises && textOf(port['ipv6_prefix']) !== ''
      ? [`prefix ${textOf(port['ipv6_prefix'])} is not removed`]
      : []),
    ...(spec.enableLb === false && own > 0 ? [`load balancers of its Vpc are on its switch, and spec.enableLb is false`] : []),
    ...(spec.enableLb === true && hasAll && own === 0 && name !== JOIN_SUBNET ? ['load balancers of its Vpc are not on its switch'] : []),
  ];
}

/** Next hops, links to other Vpcs, and the Subnets in its status. */
function vpcFaults(world: World, name: string, { metadata, spec, status }: Vpc): readonly string[] {
  if (isReleased(metadata) || !isTrue(status?.conditions, 'Ready') || !isTrue(status?.conditions, 'Accepted', '')) return [];
  const router = best(world, 'Logical_Router', status?.router ?? '');
  if (router === undefined) return [];
  const policies = rowsIn(world, router, 'policies');
  const routes = rowsIn(world, router, 'static_routes');
  const ports = rowsIn(world, router, 'ports');
  const tables = new Set((spec.staticRoutes ?? []).map(({ routeTable = '' }) => routeTable));
  const join = world.subnets.peek(JOIN_SUBNET);
  const outward = name === DEFAULT_VPC && join !== undefined && isInEffect(join) ? splitList(join.spec.gateway ?? '') : [];
  return [
    ...outdated({ metadata, spec, status } as Vpc),
    ...vpcRowFaults(world, { metadata, spec, status } as Vpc, router),
    ...(status?.subnets ?? [])
      .filter((subnet) => world.subnets.peek(subnet)?.metadata.deletionTimestamp !== undefined)
      .map((subnet) => `status.subnets has ${subnet}, which is being deleted`),
    ...(spec.policyRoutes ?? [])
      .filter(({ action }) => action === 'reroute')
      .flatMap(({ priority, match = '', nextHopIP = '' }) => {
        const row = policies.find((one) => Number(one['priority']) === priority && one['match'] === match.trim());
        const hops = textOf(row?.['nexthops']);
        return row === undefined || hops === sorted(nextHopIP) ? [] : [`policy ${match} goes to ${hops}, and not ${nextHopIP}`];
      }),
    ...(spec.staticRoutes ?? []).flatMap(({ cidr = '', nextHopIP = '', routeTable = '' }) => {
      const row = routes.find((one) => one['ip_prefix'] === cidr && one['nexthop'] === nextHopIP);
      return row === undefined ||
        routes.some((one) => one['ip_prefix'] === cidr && one['nexthop'] === nextHopIP && one['route_table'] === routeTable)
        ? []
        : [`route to ${cidr} by ${nextHopIP} is in table "${String(row['route_table'])}", and not "${routeTable}"`];
    }),
    ...[...tables, ''].flatMap((table) =>
      outward
        .filter(
          (gateway) =>
            !routes.some((row) => row['nexthop'] === gateway && row['route_table'] === table && String(row['ip_prefix']).endsWith('/0')),
        )
        .map((gateway) => `default route by ${gateway} is not in table "${table}"`),
    ),
    ...(spec.vpcPeerings ?? []).flatMap(({ remoteVpc = '', localConnectIP = '' }) => {
      const port = ports.find((row) => row['name'] === peerPort(name, remoteVpc));
      if (port === undefined) return [`link to Vpc ${remoteVpc} is not on its router`];
      const networks = textOf(port['networks']);
      const isRight = networks === sorted(localConnectIP) && textOf(port['peer']) === peerPort(remoteVpc, name);
      return isRight ? [] : [`link to Vpc ${remoteVpc} has ${networks}, and not ${localConnectIP}`];
    }),
  ];
}

/** A pool that has an address set has exactly its addresses there; a pool of both families has a set of each. */
function poolFaults(world: World, name: string, { metadata, spec, status }: IPPool): readonly string[] {
  if (metadata.deletionTimestamp !== undefined || !isTrue(status?.conditions, 'Ready')) return [];
  const sets = [ipPoolAddressSet(name), ipPoolAddressSetV6(name)].flatMap((set) => best(world, 'Address_Set', set) ?? []);
  if (spec.enableAddressSet !== true) return sets.length === 0 ? [] : ['address set is there, and its spec has none'];
  const held = sets.flatMap(({ addresses }) => (addresses instanceof Set ? [...addresses].map(String) : []));
  for (const { addresses } of sets) {
    const families = new Set(addresses instanceof Set ? [...addresses].map((text) => String(text).includes(':')) : []);
    if (families.size > 1) return ['address set has addresses of both families: OVN rejects a match that names it'];
  }
  const blocks = held.flatMap((text) => {
    const cidr = parseCidr(text);
    const address = parseAddress(text);
    return cidr !== undefined ? [1n << BigInt((cidr.family === 4 ? 32 : 128) - cidr.prefix)] : address !== undefined ? [1n] : [];
  });
  const expected = spec.ips.flatMap((item) => {
    const cidr = parseCidr(item);
    if (cidr !== undefined) return [1n << BigInt((cidr.family === 4 ? 32 : 128) - cidr.prefix)];
    const [first, last = first] = item.split('..').map((text) => parseAddress(text)?.value);
    return first === undefined || last === undefined ? [] : [last - first + 1n];
  });
  const sum = (sizes: readonly bigint[]): bigint => sizes.reduce((all, one) => all + one, 0n);
  const first = spec.ips[0]?.split(/\.\.|\//)[0] ?? '';
  const covers = held.some((text) => {
    const [cidr, address] = [parseCidr(text), parseAddress(first)];
    return text === first || (cidr !== undefined && address !== undefined && cidr.family === address.family && cidrContains(cidr, address));
  });
  return sum(blocks) === sum(expected) && covers ? [] : [`address set has ${held.join(',')}, and its spec ${spec.ips.join(',')}`];
}

/** The excluded addresses in its annotations are those of the Subnets in its annotations. */
function namespaceFaults(world: World, { metadata }: Namespace): readonly string[] {
  if (metadata.deletionTimestamp !== undefined) return [];
  const written = (metadata.annotations?.[annotationKey.excludeIps] ?? '').split(';');
  return splitList(ovnAnnotation({ metadata }, 'logical_switch')).flatMap((subnet, i) => {
    const object = world.subnets.peek(subnet);
    if (object === undefined || !isInEffect(object)) return [];
    const expected = (object.spec.excludeIps ?? []).join(',');
    return written[i] === expected ? [] : [`excludeIps of ${subnet} in its annotations are ${written[i] ?? ''}, and not ${expected}`];
  });
}
