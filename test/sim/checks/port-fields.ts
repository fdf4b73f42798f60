/**
 * What annotations, Subnet and node ask of one port, read in its row; and that a pod has each network that it is attached to. Like
 * `specs-in-effect.ts`, this uses no rule.
 */
import { nodePortGroup, subnetNodePortGroup } from '../../../src/api/names.ts';
import type { Pod } from '../../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import { annotationKey, DEFAULT_VPC } from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import type { Row, Uuid } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import { best, mapOf, ovnAnnotation, sorted, textOf } from './observed-state.ts';

/** @param row the port of a pod that runs in a Subnet in effect and has no condition against it */
export function portFaults(world: World, name: string, { spec }: Subnet, pod: Pod, row: Row): readonly string[] {
  const { annotations = {} } = pod.metadata;
  const node = pod.spec.nodeName ?? '';
  const annotation = (suffix: string): string => (annotations[`ovn.kubernetes.io/${suffix}`] ?? '').trim();
  const unknown = row['addresses'] instanceof Set && row['addresses'].has('unknown');
  const ids = mapOf(row['external_ids']);
  const groups = splitList(annotation('security_groups'));
  const inDefault = spec.vpc === DEFAULT_VPC;
  const isIn = (group: string): boolean | undefined => {
    // The group of a deleted node may stay because of another program's members.
    const ports = world.nodes.peek(node) === undefined ? undefined : best(world, 'Port_Group', group)?.['ports'];
    return ports instanceof Set ? ports.has(row._uuid) : undefined;
  };
  const [byNode, bySubnet] = [isIn(nodePortGroup(node)), isIn(subnetNodePortGroup(name, node))];
  const leaves = inDefault && spec.gatewayType === 'distributed' && annotation('north_gateway') === '';
  return [
    ...(unknown === (world.settings.tenancy === 'open' && annotation('layer2_forward') === 'true')
      ? []
      : [`port ${unknown ? 'accepts' : 'does not accept'} frames for any address`]),
    ...(ids.get('security_groups') === (groups.length === 0 ? undefined : groups.join('/')) &&
    groups.every((group) => ids.get(`associated_sg_${group}`) === 'true')
      ? []
      : [`groups of its port are ${ids.get('security_groups') ?? 'none'}, and it requests ${groups.join() || 'none'}`]),
    ...(byNode !== undefined && byNode !== inDefault ? [`port is ${byNode ? '' : 'not '}in the group of node ${node}`] : []),
    ...(bySubnet !== undefined && bySubnet !== leaves ? [`port is ${bySubnet ? '' : 'not '}in the group by which traffic leaves`] : []),
    ...(node !== '' && ovnAnnotation(pod, 'logical_router') !== (spec.vpc ?? '')
      ? [`router in its annotations is ${ovnAnnotation(pod, 'logical_router')}`]
      : []),
    ...(byNode !== undefined && ovnAnnotation(pod, 'routed') !== 'true' ? ['annotation routed is not there'] : []),
    ...chassisFaults(world, pod, row, annotation('activation_strategy') !== ''),
    ...optionFaults(world, pod, row, annotation),
  ];
}

/**
 * Where OVN expects the port: on any chassis, except for a port that is silent at first, or one of a machine that migrates or has migrated.
 */
function chassisFaults(world: World, pod: Pod, row: Row, silent: boolean): readonly string[] {
  const options = mapOf(row['options']);
  const chassis = options.get('requested-chassis') ?? '';
  const node = pod.spec.nodeName ?? '';
  if (ovnAnnotation(pod, 'virtualmachine') !== '') return [];
  const named = world.nodes.peek(node)?.metadata.annotations?.['ovn.kubernetes.io/chassis'] ?? node;
  const expected = silent && node !== '' ? `${named},${named}` : '';
  return chassis === expected ? [] : [`chassis of its port is ${chassis || 'any'}, and not ${expected || 'any'}`];
}

/** A port with DHCP options of its own has a row of its own for them. */
function optionFaults(world: World, pod: Pod, row: Row, annotation: (suffix: string) => string): readonly string[] {
  const addresses = splitList(ovnAnnotation(pod, 'ip_address'));
  return ([4, 6] as const).flatMap((family) => {
    const own = splitList(annotation(`dhcp-v${family}-options`)).map((pair) => pair.split('='));
    if (own.length === 0 || !addresses.some((text) => text.includes(':') === (family === 6))) return [];
    const held = world.rows.entry(textOf(row[`dhcpv${family}_options`]) as Uuid)?.row;
    const options = mapOf(held?.['options']);
    return own
      .filter(([key = '', value = '']) => options.get(key) !== value)
      .map(([key = '', value = '']) => `DHCP option ${key} of its port is ${options.get(key) ?? 'not there'}, and not ${value}`);
  });
}

/** What a pod requested before it had an address: families and a MAC. @param pod one that has its network */
export function requestFaults(pod: Pod): readonly string[] {
  const { annotations = {} } = pod.metadata;
  const families = splitList(ovnAnnotation(pod, 'ip_address')).map((text) => (text.includes(':') ? 'ipv6' : 'ipv4'));
  const family = (annotations['ovn.kubernetes.io/ip_family'] ?? '').trim().toLowerCase();
  const listed = listFaults(pod);
  if (listed.length > 0) return listed;
  const retained = (pod.metadata.ownerReferences ?? []).length > 0 || annotations[annotationKey.vip] !== undefined;
  if (retained || (family !== 'ipv4' && family !== 'ipv6')) return [];
  return families.length === 1 && families[0] === family ? [] : [`address ${ovnAnnotation(pod, 'ip_address')} is not ${family} alone`];
}

/** From a list of addresses or pairs, a StatefulSet's pod gets the one of its ordinal, and a pod without an owner any of them. */
function listFaults({ metadata }: Pod): readonly string[] {
  const { name, annotations = {}, ownerReferences = [] } = metadata;
  const text = annotations['ovn.kubernetes.io/ip_pool'] ?? '';
  if (!text.includes(';') || annotations[annotationKey.vip] !== undefined) return [];
  const list = text.split(';').map(sorted);
  const has = sorted(ovnAnnotation({ metadata }, 'ip_address'));
  const set = ownerReferences.find(({ kind }) => kind === 'StatefulSet');
  if (set === undefined) return ownerReferences.length > 0 || list.includes(has) ? [] : [`address ${has} is none of its list ${text}`];
  const own = list[Number(name.slice(set.name.length + 1))];
  return own === undefined || has === own ? [] : [`address ${has} is not ${own}, which is its item of the list`];
}
