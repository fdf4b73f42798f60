/**
 * What annotations ask of one port, and what its Subnet and its node make of it, read in the row; and of each network that a pod is attached
 * to, that it has it. As `spec-fields.ts` this asks no rule.
 */
import { attachmentProvider, nodePortGroup, portName, subnetNodePortGroup } from '../../../src/api/names.ts';
import { parseNetworkSelections } from '../../../src/api/pod/network-selection.ts';
import type { Pod } from '../../../src/api/kubernetes/core.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import { launchedInstance } from '../../../src/api/kubernetes/virtual-machine.ts';
import {
  annotationKey,
  DEFAULT_VPC,
  FINALIZER,
  kilnAnnotation,
  labelKey,
  MIGRATION_JOB_LABEL,
  podAnnotation,
} from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import type { Row, Uuid } from '../../../src/ovsdb/index.ts';
import type { World } from '../../../src/world/world.ts';
import { best, isInPlace, mapOf, said, sorted, textOf } from './reading.ts';

/** @param row the port of a pod that runs in a Subnet that is in place, and is not told otherwise */
export function portFaults(world: World, name: string, { spec }: Subnet, pod: Pod, row: Row): readonly string[] {
  const { annotations = {} } = pod.metadata;
  const node = pod.spec.nodeName ?? '';
  const asked = (suffix: string): string => (annotations[`ovn.kubernetes.io/${suffix}`] ?? '').trim();
  const unknown = row['addresses'] instanceof Set && row['addresses'].has('unknown');
  const ids = mapOf(row['external_ids']);
  const groups = splitList(asked('security_groups'));
  const inDefault = spec.vpc === DEFAULT_VPC;
  const isIn = (group: string): boolean | undefined => {
    // A group whose node is gone may stay for what another program put in.
    const ports = world.nodes.peek(node) === undefined ? undefined : best(world, 'Port_Group', group)?.['ports'];
    return ports instanceof Set ? ports.has(row._uuid) : undefined;
  };
  const [byNode, bySubnet] = [isIn(nodePortGroup(node)), isIn(subnetNodePortGroup(name, node))];
  const leaves = inDefault && spec.gatewayType === 'distributed' && asked('north_gateway') === '';
  return [
    ...(unknown === (world.settings.tenancy === 'open' && asked('layer2_forward') === 'true')
      ? []
      : [`port ${unknown ? 'takes' : 'does not take'} frames for any address`]),
    ...(ids.get('security_groups') === (groups.length === 0 ? undefined : groups.join('/')) &&
    groups.every((group) => ids.get(`associated_sg_${group}`) === 'true')
      ? []
      : [`groups of its port are ${ids.get('security_groups') ?? 'none'}, and it asks for ${groups.join() || 'none'}`]),
    ...(byNode !== undefined && byNode !== inDefault ? [`port is ${byNode ? '' : 'not '}in the group of node ${node}`] : []),
    ...(bySubnet !== undefined && bySubnet !== leaves ? [`port is ${bySubnet ? '' : 'not '}in the group by which traffic leaves`] : []),
    ...(node !== '' && said(pod, 'logical_router') !== (spec.vpc ?? '')
      ? [`router that it is told is ${said(pod, 'logical_router')}`]
      : []),
    ...(byNode !== undefined && said(pod, 'routed') !== 'true' ? ['annotation routed is not there'] : []),
    ...placeFaults(world, pod, row, asked('activation_strategy') !== ''),
    ...optionFaults(world, pod, row, asked),
  ];
}

/** Where OVN looks for it: anywhere, but where it is silent at first, or belongs to a machine that moves, or has. */
function placeFaults(world: World, pod: Pod, row: Row, silent: boolean): readonly string[] {
  const options = mapOf(row['options']);
  const chassis = options.get('requested-chassis') ?? '';
  const node = pod.spec.nodeName ?? '';
  if (said(pod, 'virtualmachine') === '') {
    const wanted = silent && node !== '' ? `${node},${node}` : '';
    return chassis === wanted ? [] : [`chassis of its port is ${chassis || 'any'}, and not ${wanted || 'any'}`];
  }
  return machineFaults(world, pod, chassis, options.get('activation-strategy') ?? '');
}

/** Of two pods that run one machine, one of which is the target of a move: told of once, for the target. */
function machineFaults(world: World, pod: Pod, chassis: string, activation: string): readonly string[] {
  const { annotations = {}, labels = {}, namespace = '', uid } = pod.metadata;
  const machine = launchedInstance(pod.metadata)?.name ?? '';
  const job = labels[MIGRATION_JOB_LABEL];
  if (annotations[annotationKey.migrationJob] === undefined || job === undefined) return [];
  const others = [...world.pods.peekBucket('instance', `${namespace}/${machine}`)]
    .flatMap((key) => world.pods.peek(key) ?? [])
    .filter((one) => one.metadata.uid !== uid);
  const [from] = others;
  if (from === undefined || others.length !== 1 || from.metadata.deletionTimestamp !== undefined) return [];
  if (
    from.status?.phase === 'Succeeded' ||
    from.status?.phase === 'Failed' ||
    from.metadata.annotations?.[annotationKey.migrationJob] !== undefined
  )
    return [];
  if (from.metadata.creationTimestamp > pod.metadata.creationTimestamp || said(from, 'allocated') !== 'true') return [];
  const [here, there] = [from.spec.nodeName ?? '', pod.spec.nodeName ?? ''];
  if (here === '' || there === '' || here === there) return [];
  const state = world.virtualMachineInstances.peek(`${namespace}/${machine}`)?.status?.migrationState;
  const isOver = state?.migrationUid === job;
  const wanted = isOver && state.failed === true ? here : isOver && state.completed === true ? there : `${here},${there}`;
  const rarp = wanted.includes(',') ? 'rarp' : '';
  return [
    ...(chassis === wanted ? [] : [`chassis of its machine is ${chassis || 'any'}, and not ${wanted}`]),
    ...(activation === rarp ? [] : [`port of its machine is activated by ${activation || 'nothing'}`]),
  ];
}

/** DHCP options of its own, in a row of its own. */
function optionFaults(world: World, pod: Pod, row: Row, asked: (suffix: string) => string): readonly string[] {
  const addresses = splitList(said(pod, 'ip_address'));
  return ([4, 6] as const).flatMap((family) => {
    const own = splitList(asked(`dhcp-v${family}-options`)).map((pair) => pair.split('='));
    if (own.length === 0 || !addresses.some((text) => text.includes(':') === (family === 6))) return [];
    const held = world.rows.entry(textOf(row[`dhcpv${family}_options`]) as Uuid)?.row;
    const options = mapOf(held?.['options']);
    return own
      .filter(([key = '', value = '']) => options.get(key) !== value)
      .map(([key = '', value = '']) => `DHCP option ${key} of its port is ${options.get(key) ?? 'not there'}, and not ${value}`);
  });
}

/** What it asked for before it had anything: families and a MAC. @param pod one that has its network */
export function askedFaults(pod: Pod): readonly string[] {
  const { annotations = {} } = pod.metadata;
  const families = splitList(said(pod, 'ip_address')).map((text) => (text.includes(':') ? 'ipv6' : 'ipv4'));
  const family = (annotations['ovn.kubernetes.io/ip_family'] ?? '').trim().toLowerCase();
  const listed = listFaults(pod);
  if (listed.length > 0) return listed;
  const kept = (pod.metadata.ownerReferences ?? []).length > 0 || annotations[annotationKey.vip] !== undefined;
  if (kept || (family !== 'ipv4' && family !== 'ipv6')) return [];
  return families.length === 1 && families[0] === family ? [] : [`address ${said(pod, 'ip_address')} is not ${family} alone`];
}

/** Of a list of addresses or pairs: the one of its ordinal for a pod of a StatefulSet, any of them for one that nobody made. */
function listFaults({ metadata }: Pod): readonly string[] {
  const { name, annotations = {}, ownerReferences = [] } = metadata;
  const text = annotations['ovn.kubernetes.io/ip_pool'] ?? '';
  if (!text.includes(';') || annotations[annotationKey.vip] !== undefined) return [];
  const list = text.split(';').map(sorted);
  const has = sorted(said({ metadata }, 'ip_address'));
  const set = ownerReferences.find(({ kind }) => kind === 'StatefulSet');
  if (set === undefined) return ownerReferences.length > 0 || list.includes(has) ? [] : [`address ${has} is none of its list ${text}`];
  const own = list[Number(name.slice(set.name.length + 1))];
  return own === undefined || has === own ? [] : [`address ${has} is not ${own}, which its list has for it`];
}

/** One interface for each network, with a port on the network's switch. */
export function attachmentFaults(world: World, pod: Pod): readonly string[] {
  const { annotations = {}, name, namespace = '' } = pod.metadata;
  const text = annotations[annotationKey.networkAttachments] ?? '';
  const parsed = text === '' ? undefined : parseNetworkSelections(text, namespace);
  if (parsed?.ok !== true || said(pod, 'virtualmachine') !== '') return [];
  return parsed.selections.flatMap((selection): readonly string[] => {
    const alike = parsed.selections.filter((one) => one.name === selection.name && one.namespace === selection.namespace);
    if (!isCarried(world, `${selection.namespace}/${selection.name}`)) return [];
    const providers = [attachmentProvider(selection.name, selection.namespace)];
    if (selection.interfaceName !== '') providers.push(attachmentProvider(selection.name, selection.namespace, selection.interfaceName));
    const told = providers.filter((provider) => annotations[podAnnotation(provider, 'allocated')] === 'true');
    if (told.length === 0) return [`network ${selection.namespace}/${selection.name} is not told`];
    if (alike.length > 1 && new Set(alike.map(({ interfaceName }) => interfaceName)).size === alike.length) {
      const all = Object.keys(annotations).filter(
        (key) => key.endsWith('.kubernetes.io/allocated') && key.startsWith(`${selection.name}.`),
      );
      if (all.length < alike.length)
        return [`network ${selection.namespace}/${selection.name} is told ${all.length} of ${alike.length} times`];
    }
    return told.flatMap((provider) => {
      const subnet = annotations[podAnnotation(provider, 'logical_switch')] ?? '';
      const object = world.subnets.peek(subnet);
      if (object === undefined || !isInPlace(object)) return [];
      const ports = best(world, 'Logical_Switch', subnet)?.['ports'];
      const port = best(world, 'Logical_Switch_Port', portName(name, namespace, provider));
      return ports instanceof Set && port !== undefined && ports.has(port._uuid)
        ? []
        : [`network ${selection.namespace}/${selection.name} has no port on switch ${subnet}`];
    });
  });
}

/** Of type kube-ovn, as its NetworkAttachmentDefinition says now. */
function isCarried(world: World, key: string): boolean {
  return world.networkAttachments.peek(key)?.spec?.config?.includes('"type":"kube-ovn"}') === true;
}

/** The port of a StatefulSet's pod that is away, or of a machine that is stopped: it stays, with the address that is kept. */
export function keptPortFaults(world: World): readonly (readonly [name: string, what: string])[] {
  // A pod that waits for a network is not told yet which machine it is of.
  const machines = new Set(
    [...world.pods.entries()].flatMap(([, { metadata }]) => {
      const machine = launchedInstance(metadata)?.name;
      return machine === undefined ? [] : [`${metadata.namespace ?? ''}/${machine}`];
    }),
  );
  return [...world.ips.entries()].flatMap(([name, { metadata, spec }]) => {
    const { annotations = {}, labels = {}, finalizers = [], deletionTimestamp } = metadata;
    const { podType = '', podName = '', namespace = '', subnet = '', ipAddress = '' } = spec;
    const isKept = podType === 'StatefulSet' || podType === 'VirtualMachine';
    const pod = `${namespace}/${podName}`;
    if (!isKept || deletionTimestamp !== undefined || !finalizers.includes(FINALIZER) || labels[labelKey.ipReserved] === 'true') return [];
    if (annotations[kilnAnnotation.podUid] === undefined || world.pods.peek(pod) !== undefined || machines.has(pod)) return [];
    const object = world.subnets.peek(subnet);
    if (object === undefined || !isInPlace(object)) return [];
    const rows = world.rows.rowsOf(rowId('Logical_Switch_Port', name));
    if (rows.length > 0 && rows.every(({ ownership }) => ownership.kind !== 'ours')) return [];
    const stations = rows.flatMap(({ row }) => textOf(row?.['addresses']).split(' '));
    return splitList(ipAddress).every((text) => stations.includes(text)) ? [] : [[name, `port with ${ipAddress} is not there`] as const];
  });
}

/** The port of a Vip of a type: one that a load balancer answers for is asked for it by ARP as well. */
export function typedVipFaults(world: World): readonly (readonly [name: string, what: string])[] {
  return [...world.vips.entries()].flatMap(([name, { metadata, spec, status }]) => {
    const { subnet = '', namespace = '' } = spec;
    const object = world.subnets.peek(subnet);
    if (status?.type !== 'switch_lb_vip' || spec.type !== status.type || metadata.deletionTimestamp !== undefined) return [];
    if (object === undefined || !isInPlace(object)) return [];
    const row = best(world, 'Logical_Switch_Port', portName(name, namespace, object.spec.provider ?? ''));
    return row === undefined || mapOf(row['options']).get('arp_proxy') === 'true'
      ? []
      : [[name, 'port does not answer for its address'] as const];
  });
}
