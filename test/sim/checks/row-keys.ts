/**
 * The external_ids by which Kube-OVN's own programs find rows, and columns that follow from no spec: tiers, logging, ages, defaults of
 * DHCP. The expected values are Kube-OVN's. Like `specs-in-effect.ts`, this uses no rule.
 */
import {
  ipPoolAddressSet,
  ipPoolAddressSetV6,
  nodePortGroup,
  nodePortName,
  portGroupAddressSet,
  portName,
  routerToSwitchPort,
  subnetNodePortGroup,
  switchToRouterPort,
} from '../../../src/api/names.ts';
import type { Pod } from '../../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import type { Vpc } from '../../../src/api/kinds/vpc.ts';
import { DEFAULT_VPC, JOIN_SUBNET, POD_CONDITION } from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import { RULE_KEY, OWNER_KEY } from '../../../src/nb/ownership.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { Row } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';
import { best, isReleased, isInEffectOrDraining, isTrue, mapOf, networksOf, rowsIn, ovnAnnotation, textOf } from './observed-state.ts';

type Keys = Readonly<Record<string, string | undefined>>;

export function rowKeyFindings(world: World): readonly Finding[] {
  const found: Finding[] = [];
  const report = (subject: string, faults: readonly string[]): void => {
    for (const what of faults)
      found.push({ kind: `keys ${subject.split(' ')[0] ?? ''} ${what.split(' ')[0] ?? ''}`, message: `${subject}: ${what}` });
  };
  for (const [name, vpc] of world.vpcs.entries()) report(`Vpc ${name}`, routerFaults(world, vpc));
  for (const [name, subnet] of world.subnets.entries())
    if (isInEffectOrDraining(subnet)) report(`Subnet ${name}`, subnetFaults(world, name, subnet));
  for (const [key, pod] of world.pods.entries()) report(`Pod ${key}`, podFaults(world, pod));
  for (const [name, node] of world.nodes.entries())
    if (node.metadata.deletionTimestamp === undefined) report(`Node ${name}`, nodeFaults(world, name));
  for (const [name] of world.ipPools.entries())
    for (const set of [ipPoolAddressSet(name), ipPoolAddressSetV6(name)])
      report(`IPPool ${name}`, keyFaults('address set', best(world, 'Address_Set', set), { ippool: name }));
  return found;
}

/** @param row if undefined, there is nothing to check */
function keyFaults(what: string, row: Row | undefined, keys: Keys, column = 'external_ids'): readonly string[] {
  if (row === undefined) return [];
  const held = mapOf(row[column]);
  return Object.entries(keys).flatMap(([key, value]) =>
    held.get(key) === value ? [] : [`${what} has ${column} ${key}=${held.get(key) ?? '(none)'}, and not ${value ?? '(none)'}`],
  );
}

function routerFaults(world: World, { metadata, status }: Vpc): readonly string[] {
  if (isReleased(metadata) || !isTrue(status?.conditions, 'Ready')) return [];
  const router = best(world, 'Logical_Router', status?.router ?? '');
  const named = (status ?? {}) as Readonly<Record<string, unknown>>;
  const balancers = ['tcp', 'udp', 'sctp'].flatMap((protocol) =>
    [false, true].flatMap((session): readonly string[] => {
      const name = named[`${protocol}${session ? 'Session' : ''}LoadBalancer`];
      const row = typeof name === 'string' && name !== '' ? best(world, 'Load_Balancer', name) : undefined;
      if (row === undefined) return [];
      const fields = textOf(row['selection_fields']);
      return [
        // Older schemas have no `ipv6_src`.
        ...((session ? fields.startsWith('ip_src') : fields === '')
          ? []
          : [`load balancer ${String(name)} selects by ${fields || 'nothing'}`]),
        ...keyFaults(
          `load balancer ${String(name)}`,
          row,
          {
            prefer_local_backend: 'false',
            affinity_timeout: undefined,
            reject: 'true',
            ct_flush: protocol === 'udp' ? 'true' : undefined,
          },
          'options',
        ),
      ];
    }),
  );
  return [
    ...keyFaults('router', router, { mac_binding_age_threshold: '300', dynamic_neigh_routers: 'true' }, 'options'),
    ...(router === undefined ? [] : rowsIn(world, router, 'ports'))
      .filter((port) => mapOf(port['external_ids']).get(RULE_KEY) === 'vpc-peering')
      .flatMap((port) => keyFaults(`link ${textOf(port['name'])}`, port, { lr: status?.router ?? '' })),
    ...balancers,
  ];
}

function subnetFaults(world: World, name: string, subnet: Subnet): readonly string[] {
  const { vpc = '', dhcpV4Options = '', dhcpV6Options = '' } = subnet.spec;
  const acls = rowsIn(world, best(world, 'Logical_Switch', name), 'acls').filter((row) => isOf(row, 'subnet-acls'));
  const policies = rowsIn(world, best(world, 'Logical_Router', vpc), 'policies');
  const networks = networksOf(subnet);
  const policy = (match: string): Row | undefined =>
    policies.find((row) => row['match'] === match && mapOf(row['external_ids']).get(RULE_KEY)?.startsWith('subnet-') === true);
  const chosen = { 4: splitList(dhcpV4Options), 6: splitList(dhcpV6Options) };
  return [
    ...keyFaults('link of its switch', best(world, 'Logical_Switch_Port', switchToRouterPort(name, vpc)), { ls: name }),
    ...keyFaults('port on its router', best(world, 'Logical_Router_Port', routerToSwitchPort(vpc, name)), { lr: vpc }),
    ...acls.flatMap((row) => [
      ...keyFaults(`ACL ${textOf(row['match'])}`, row, { parent: name }),
      ...(row['tier'] === undefined || Number(textOf(row['tier'])) === 2
        ? []
        : [`ACL ${textOf(row['match'])} is of tier ${textOf(row['tier'])}`]),
      ...(subnet.spec.private === true && row['match'] === 'ip' && row['action'] === 'drop' && Number(textOf(row['priority'])) === 1_000
        ? logFaults(name, row)
        : []),
    ]),
    ...networks.flatMap(({ family, cidr }) => [
      ...keyFaults(`policy to ${cidr}`, policy(`ip${family}.dst == ${cidr}`), { subnet: name }),
      ...keyFaults(`policy out of ${cidr}`, policy(`ip${family}.src == ${cidr}`), { subnet: name }),
      ...nextHopFaults(world, policy(`ip${family}.src == ${cidr}`)),
    ]),
    ...(vpc === DEFAULT_VPC && name !== JOIN_SUBNET ? [...world.nodes.keys()] : []).flatMap((node) => {
      const group = subnetNodePortGroup(name, node);
      return [
        ...keyFaults(`group ${group}`, best(world, 'Port_Group', group), { subnet: name, node, np: `${name}/${node}` }),
        ...networks.flatMap(({ family }) =>
          keyFaults(`policy out by ${node}`, policy(`ip${family}.src == $${portGroupAddressSet(group, family)}`), { subnet: name, node }),
        ),
      ];
    }),
    ...networks.flatMap(({ family }) => {
      const entry = world.rows.best(rowId('DHCP_Options', name, `IPv${family}`, ''));
      if (entry?.ownership.kind !== 'ours') return [];
      const isOwn = (key: string): boolean => chosen[family].some((pair) => pair.startsWith(`${key}=`));
      const fixed: Keys = family === 4 ? { lease_time: '3600', server_id: '169.254.0.254' } : {};
      const there = family === 4 ? ['router', 'server_mac', 'mtu'] : ['server_id'];
      const options = mapOf(entry.row['options']);
      return [
        ...keyFaults(
          `DHCP of IPv${family}`,
          entry.row,
          Object.fromEntries(Object.entries(fixed).filter(([key]) => !isOwn(key))),
          'options',
        ),
        ...there.filter((key) => (options.get(key) ?? '') === '').map((key) => `DHCP of IPv${family} has no ${key}`),
      ];
    }),
  ];
}

/** Whether a rule emitted the row. A copy from which a user removed the row owner does not count. */
function isOf(row: Row, rule: string): boolean {
  const keys = mapOf(row['external_ids']);
  return keys.get(RULE_KEY) === rule && keys.has(OWNER_KEY);
}

function logFaults(name: string, row: Row): readonly string[] {
  const is = [textOf(row['name']), textOf(row['log']), textOf(row['severity'])].join(' ');
  return is === `${name} true warning` ? [] : [`ACL that drops all is logged as "${is}"`];
}

/** Next hops of a centralized gateway are each under the name of their node. */
function nextHopFaults(world: World, row: Row | undefined): readonly string[] {
  if (row === undefined || !isOf(row, 'subnet-centralized-gateway')) return [];
  const keys = mapOf(row['external_ids']);
  const named = [...world.nodes.keys()].flatMap((node) => keys.get(node) ?? []).toSorted();
  return named.join() === textOf(row['nexthops'])
    ? []
    : [`policy out reroutes to ${textOf(row['nexthops'])}, and names ${named.join() || 'none'}`];
}

/** The rows of a pod that runs and has no condition against it. */
function podFaults(world: World, pod: Pod): readonly string[] {
  const { name, namespace = '', deletionTimestamp } = pod.metadata;
  const { phase, conditions = [] } = pod.status ?? {};
  const subnet = world.subnets.peek(ovnAnnotation(pod, 'logical_switch'));
  const isReported = conditions.some(({ type, status }) => type === POD_CONDITION && status !== 'True');
  const runs = deletionTimestamp === undefined && phase !== 'Succeeded' && phase !== 'Failed';
  if (ovnAnnotation(pod, 'allocated') !== 'true' || !runs || isReported || subnet === undefined || !isInEffectOrDraining(subnet)) return [];
  const machine = ovnAnnotation(pod, 'virtualmachine');
  const portOwner = machine === '' ? name : machine;
  const isCustom = subnet.spec.vpc !== DEFAULT_VPC;
  return keyFaults('port', best(world, 'Logical_Switch_Port', portName(portOwner, namespace, 'ovn')), {
    pod: `${namespace}/${portOwner}`,
    ls: ovnAnnotation(pod, 'logical_switch'),
    'associated_sg_default-securitygroup': isCustom ? 'false' : undefined,
  });
}

function nodeFaults(world: World, name: string): readonly string[] {
  const policies = rowsIn(world, best(world, 'Logical_Router', DEFAULT_VPC), 'policies').filter(
    (row) => isOf(row, 'node-policy') && mapOf(row['external_ids']).get('kiln.io/owner') === `node//${name}`,
  );
  return [
    ...keyFaults('group', best(world, 'Port_Group', nodePortGroup(name)), { node: name, np: `node/${name}` }),
    ...keyFaults('port', best(world, 'Logical_Switch_Port', nodePortName(name)), { ls: JOIN_SUBNET, pod: undefined }),
    ...policies.flatMap((row) =>
      keyFaults(`policy ${textOf(row['match'])}`, row, {
        node: name,
        'address-family': textOf(row['match']).startsWith('ip6') ? '6' : '4',
      }),
    ),
  ];
}
