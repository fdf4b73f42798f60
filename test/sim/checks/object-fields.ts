/**
 * What Kiln writes into objects: IP objects and their pods, annotations of nodes and Namespaces, counts of IPPools, status of Vips, EIPs
 * and Vpcs. Each is compared with specs and with the others. Like `specs-in-effect.ts`, this uses no rule.
 */
import type { Condition, ObjectMeta } from '../../../src/api/kubernetes/meta.ts';
import type { IP } from '../../../src/api/kinds/ip.ts';
import { isLabelValue } from '../../../src/api/values/label-value.ts';
import { nodePortName } from '../../../src/api/names.ts';
import type { Node } from '../../../src/api/kubernetes/core.ts';
import type { Vpc } from '../../../src/api/kinds/vpc.ts';
import {
  addressLabelValue,
  annotationKey,
  DEFAULT_SUBNET,
  DEFAULT_VPC,
  FINALIZER,
  JOIN_SUBNET,
  kilnAnnotation,
  labelKey,
  LEGACY_FINALIZERS,
  POD_CONDITION,
  podAnnotation,
} from '../../../src/api/well-known.ts';
import { splitList } from '../../../src/net/dual.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';
import { declaredSubnets } from './namespace-claims.ts';
import { best, isInEffect, isTrue, ovnAnnotation, sorted } from './observed-state.ts';

export function objectFieldFindings(world: World): readonly Finding[] {
  const found: Finding[] = [];
  const report = (kind: string, name: string, faults: readonly string[]): void => {
    for (const what of faults) found.push({ kind: `object ${kind} ${what.split(' ')[0] ?? ''}`, message: `${kind} ${name}: ${what}` });
  };
  for (const [name, ip] of world.ips.entries()) report('IP', name, ipFaults(world, ip));
  for (const [name, node] of world.nodes.entries()) report('Node', name, nodeFaults(world, node));
  for (const [name, vpc] of world.vpcs.entries()) report('Vpc', name, [...vpcFaults(name, vpc), ...peeredFaults(world, name, vpc)]);
  for (const [name] of world.namespaces.entries()) report('Namespace', name, namespaceFaults(world, name));
  for (const [name, { metadata, spec, status }] of world.vips.entries()) {
    const own = { subnet: spec.subnet ?? '', v4: spec.v4ip ?? '', v6: spec.v6ip ?? '' };
    const has = { v4: status?.v4ip ?? '', v6: status?.v6ip ?? '' };
    if (isSatisfied(metadata, status?.conditions)) report('Vip', name, addressFaults(metadata, own, has));
  }
  for (const [name, { metadata, spec, status }] of world.ovnEips.entries()) {
    const own = { subnet: spec.externalSubnet ?? '', v4: spec.v4Ip ?? '', v6: spec.v6Ip ?? '' };
    const has = { v4: status?.v4Ip ?? '', v6: status?.v6Ip ?? '' };
    if (!isSatisfied(metadata, status?.conditions)) continue;
    const labels = { [labelKey.eipV4]: addressLabelValue(own.v4), [labelKey.eipV6]: addressLabelValue(own.v6) };
    report('OvnEip', name, [...addressFaults(metadata, own, has), ...labelFaults(metadata, labels)]);
  }
  for (const [kind, name, { metadata }] of withFinalizers(world))
    if (metadata.finalizers?.includes(FINALIZER) === true && metadata.finalizers.some((one) => LEGACY_FINALIZERS.includes(one)))
      report(kind, name, ['finalizer of an older version is retained beside its own']);
  return found;
}

/** Objects that have a finalizer of Kiln's. */
function withFinalizers(world: World): readonly (readonly [kind: string, name: string, object: { readonly metadata: ObjectMeta }])[] {
  return [
    ...Array.from(world.vpcs.entries(), ([name, vpc]) => ['Vpc', name, vpc] as const),
    ...Array.from(world.subnets.entries(), ([name, subnet]) => ['Subnet', name, subnet] as const),
    ...Array.from(world.ips.entries(), ([name, ip]) => ['IP', name, ip] as const),
    ...Array.from(world.vips.entries(), ([name, vip]) => ['Vip', name, vip] as const),
  ];
}

/** Whether it is not being deleted, and has what it asks for. */
function isSatisfied({ deletionTimestamp, finalizers = [] }: ObjectMeta, conditions: readonly Partial<Condition>[] = []): boolean {
  const isInvalid = conditions.some(({ type, status }) => type === 'Accepted' && status === 'False');
  return deletionTimestamp === undefined && finalizers.includes(FINALIZER) && !isInvalid;
}

function labelFaults({ labels = {} }: ObjectMeta, expected: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(expected).flatMap(([key, value]) =>
    labels[key] === value ? [] : [`label ${key} is ${labels[key] === undefined ? 'not there' : `"${labels[key]}"`}, and not "${value}"`],
  );
}

/** The IP object of a pod that runs in a Subnet in effect and has no condition against it. */
function ipFaults(world: World, { metadata, spec }: IP): readonly string[] {
  const { annotations = {}, deletionTimestamp, finalizers = [] } = metadata;
  const {
    subnet = '',
    podName = '',
    namespace = '',
    ipAddress = '',
    v4IpAddress = '',
    v6IpAddress = '',
    nodeName = '',
    podType = '',
  } = spec;
  const object = world.subnets.peek(subnet);
  const pod = world.pods.peek(`${namespace}/${podName}`);
  if (deletionTimestamp !== undefined || object === undefined || !isInEffect(object)) return [];
  if (pod === undefined || annotations[kilnAnnotation.podUid] !== pod.metadata.uid) return [];
  const { phase, conditions = [] } = pod.status ?? {};
  const isReported = conditions.some(({ type, status }) => type === POD_CONDITION && status !== 'True');
  if (isReported || pod.metadata.deletionTimestamp !== undefined || phase === 'Succeeded' || phase === 'Failed') return [];
  const set = pod.metadata.ownerReferences?.find(({ kind, controller }) => kind === 'StatefulSet' && controller === true);
  const both = [v4IpAddress, v6IpAddress].filter((text) => text !== '').join(',');
  return [
    ...(finalizers.includes(FINALIZER) ? [] : ['finalizer is not there, and its pod runs']),
    ...(both === ipAddress ? [] : [`spec.ipAddress is ${ipAddress}, and the fields of its families have ${both}`]),
    ...(nodeName === (pod.spec.nodeName ?? '') ? [] : [`spec.nodeName is "${nodeName}", and its pod is on "${pod.spec.nodeName ?? ''}"`]),
    ...(isLabelValue(nodeName) || metadata.labels?.[labelKey.nodeName] === undefined
      ? []
      : [`label ${labelKey.nodeName} is there, and the name of its node is no label value`]),
    ...labelFaults(metadata, {
      [labelKey.subnet]: subnet,
      [subnet]: '',
      ...(nodeName !== '' && isLabelValue(nodeName) && { [labelKey.nodeName]: nodeName }),
    }),
    ...(set === undefined || !/-\d+$/.test(podName)
      ? []
      : [
          ...(podType === 'StatefulSet' ? [] : [`spec.podType is "${podType}", and its pod is of StatefulSet ${set.name}`]),
          ...(annotations[kilnAnnotation.ownerUid] === set.uid
            ? []
            : [`uid of its StatefulSet is ${annotations[kilnAnnotation.ownerUid] ?? 'none'}`]),
        ]),
  ];
}

/** The annotations by which the node's agent sets up its interface. */
function nodeFaults(world: World, { metadata }: Node): readonly string[] {
  const join = world.subnets.peek(JOIN_SUBNET);
  const { name, deletionTimestamp, annotations = {} } = metadata;
  if (deletionTimestamp !== undefined || ovnAnnotation({ metadata }, 'allocated') !== 'true' || join === undefined || !isInEffect(join))
    return [];
  if (annotations[kilnAnnotation.conditions]?.includes(POD_CONDITION) === true) return [];
  if (best(world, 'Logical_Switch_Port', nodePortName(name)) === undefined) return [];
  const network = { cidr: join.spec.cidrBlock ?? '', gateway: join.spec.gateway ?? '', logical_switch: JOIN_SUBNET } as const;
  const owner = world.ips.peek(nodePortName(name))?.metadata.ownerReferences?.find(({ kind }) => kind === 'Node');
  const expected = Object.entries(network) as readonly [keyof typeof network, string][];
  return [
    ...expected.flatMap(([suffix, value]) =>
      sorted(ovnAnnotation({ metadata }, suffix)) === sorted(value)
        ? []
        : [`${suffix} in its annotations is ${ovnAnnotation({ metadata }, suffix)}, and not ${value}`],
    ),
    // The garbage collector deletes an IP object whose owner reference names a deleted node.
    ...(owner === undefined || owner.uid === metadata.uid ? [] : ['IP object is of an older node of its name']),
    ...(annotations[annotationKey.portName] === nodePortName(name)
      ? []
      : [`port in its annotations is ${annotations[annotationKey.portName] ?? 'none'}`]),
  ];
}

function vpcFaults(name: string, { metadata, spec, status }: Vpc): readonly string[] {
  if (
    metadata.deletionTimestamp !== undefined ||
    !isTrue(status?.conditions, 'Ready') ||
    metadata.labels?.[labelKey.vpcExternal] === 'true'
  )
    return [];
  const own = name === DEFAULT_VPC ? DEFAULT_SUBNET : (spec.defaultSubnet ?? '');
  const peers = (spec.vpcPeerings ?? []).map(({ remoteVpc = '' }) => remoteVpc).join();
  return [
    ...(status?.router === name && status.standby === true ? [] : [`status.router is "${status?.router ?? ''}", and it is Ready`]),
    ...((status?.defaultLogicalSwitch ?? '') === own ? [] : [`status.defaultLogicalSwitch is "${status?.defaultLogicalSwitch ?? ''}"`]),
    ...((status?.vpcPeerings ?? []).join() === peers
      ? []
      : [`status.vpcPeerings is ${(status?.vpcPeerings ?? []).join()}, and not ${peers}`]),
  ];
}

/** A link works when both Vpcs name each other; a condition reports one that only one of them names. */
function peeredFaults(world: World, name: string, { metadata, spec, status }: Vpc): readonly string[] {
  const peers = (spec.vpcPeerings ?? []).map(({ remoteVpc = '' }) => remoteVpc);
  if (metadata.deletionTimestamp !== undefined || !isTrue(status?.conditions, 'Ready') || peers.includes('') || peers.includes(name))
    return [];
  const lonely = peers.filter((peer) => !(world.vpcs.peek(peer)?.spec.vpcPeerings ?? []).some(({ remoteVpc }) => remoteVpc === name));
  return lonely.length > 0 && isTrue(status?.conditions, 'Peered')
    ? [`condition Peered is True, and Vpc ${lonely.join()} does not name it`]
    : [];
}

/** The annotations name the Subnets and IPPools that name the Namespace, in declared order. */
function namespaceFaults(world: World, name: string): readonly string[] {
  const metadata = world.namespaces.peek(name)?.metadata;
  if (metadata === undefined || metadata.deletionTimestamp !== undefined) return [];
  const declared = declaredSubnets(world, name)?.filter((subnet) => world.subnets.has(subnet));
  const listedSubnets = splitList(ovnAnnotation({ metadata }, 'logical_switch'));
  const pools = [...world.ipPools.entries()].filter(([, { spec }]) => (spec.namespaces ?? []).includes(name)).map(([pool]) => pool);
  const listed = metadata.annotations?.[podAnnotation('ovn', 'ip_pool')] ?? '';
  return [
    ...(declared === undefined || listedSubnets.join() === declared.join()
      ? []
      : [`Subnets in its annotations are ${listedSubnets.join() || 'none'}, and those that name it ${declared.join() || 'none'}`]),
    ...(listed === pools.toSorted().join()
      ? []
      : [`IPPools in its annotations are ${listed || 'none'}, and those that name it ${pools.toSorted().join() || 'none'}`]),
  ];
}

interface Texts {
  readonly v4: string;
  readonly v6: string;
}

/** Spec, status and labels of a Vip or an EIP are the same. */
function addressFaults(metadata: ObjectMeta, { subnet, v4, v6 }: Texts & { readonly subnet: string }, has: Texts): readonly string[] {
  return [
    ...(v4 === has.v4 && v6 === has.v6 ? [] : [`status has ${has.v4} ${has.v6}, and its spec ${v4} ${v6}`]),
    ...(subnet === '' ? [] : labelFaults(metadata, { [labelKey.subnet]: subnet })),
  ];
}
