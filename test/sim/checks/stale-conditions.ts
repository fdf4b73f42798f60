/**
 * What a condition reports against an object is still true: a conflict of addresses exists, an invalid object is still invalid, a waiting
 * object has nothing yet. Read from objects and rows, without a rule.
 */
import type { Condition } from '../../../src/api/kubernetes/meta.ts';
import { selectorMatches } from '../../../src/api/kubernetes/label-selector.ts';
import { nodePortName } from '../../../src/api/names.ts';
import type { Subnet } from '../../../src/api/kinds/subnet.ts';
import { FINALIZER, JOIN_SUBNET, labelKey, POD_CONDITION } from '../../../src/api/well-known.ts';
import type { HoldersBySubnet } from '../../../src/invariants/address-holders.ts';
import { addressHolders, addressObjects } from '../../../src/invariants/address-holders.ts';
import { rowId } from '../../../src/nb/row-id.ts';
import { parseAddress } from '../../../src/net/address.ts';
import { cidrContains, parseCidr } from '../../../src/net/cidr.ts';
import { splitList } from '../../../src/net/dual.ts';
import { heldTexts } from '../../../src/world/claimants.ts';
import { conditionsOf } from '../../../src/world/conditions.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';
import { best, foreignAddresses, isInEffect, ovnAnnotation } from './observed-state.ts';

/** Reasons of a pod that has no address yet. */
const WAITING: ReadonlySet<string> = new Set([
  'WaitingForSubnet',
  'SubnetTerminating',
  'WaitingForIPPool',
  'NoAvailableAddress',
  'SubnetExhausted',
]);

/** Reasons about an address, and not about the object that asks for it. */
const OF_ADDRESSES: ReadonlySet<string> = new Set([
  'AddressConflict',
  'AddressOutOfRange',
  'AddressUnavailable',
  'NoAvailableAddress',
  'InvalidIPFamily',
]);

export function staleConditions(world: World): readonly Finding[] {
  let known: HoldersBySubnet | undefined;
  const isShared = (subnet: string, addresses: readonly string[]): boolean => {
    known ??= addressHolders(world);
    // The gateway that the spec asks for counts too: an address equal to it conflicts.
    const gateways = splitList(world.subnets.peek(subnet)?.spec.gateway ?? '');
    if (addresses.some((address) => gateways.includes(address))) return true;
    // A switch without our ownership keys, and with none of a known program, may be the Subnet's again: the addresses of its foreign ports
    // stay excluded.
    const home = world.rows.best(rowId('Logical_Switch', subnet));
    const isForeign = home?.ownership.kind === 'foreign' && home.ownership.family !== 'unknown';
    const others = home === undefined || isForeign ? [] : foreignAddresses(world, home.row);
    if (addresses.some((address) => address !== '' && others.includes(address))) return true;
    return addresses.some((address) => new Set((known?.get(subnet)?.get(address) ?? []).map(({ port }) => port)).size > 1);
  };
  // Not a conflict of MACs, nor one about a pod that has another address: the message says so.
  const isAddress = (conflict: Partial<Condition> | undefined): conflict is Partial<Condition> =>
    conflict !== undefined && !/\(([0-9a-f]{2}:){5}|its pod has another address than/.test(conflict.message ?? '');
  const found: Finding[] = [];
  const stale = (kind: string, name: string, what: string): void =>
    void found.push({ kind: `I7 stale ${kind}`, message: `I7: ${kind} ${name} reports ${what}` });
  const has = (conditions: readonly Partial<Condition>[], type: string, status: string): Partial<Condition> | undefined =>
    conditions.find((one) => one.type === type && one.status === status);

  for (const object of addressObjects(world)) {
    const { kind, name, subnet, held, requested, requestedSubnet, type, typeInEffect, conditions, terminating } = object;
    if (held === undefined || terminating) continue;
    const conflict = has(conditions, 'AddressConflict', 'True');
    if (isAddress(conflict) && !isShared(subnet, [held.v4, held.v6]))
      stale(kind, name, `"${conflict.message ?? ''}", and no other object has it`);
    const invalid = has(conditions, 'Accepted', 'False');
    const same = [
      [requested.v4, held.v4],
      [requested.v6, held.v6],
      [requested.mac, held.mac],
      [requestedSubnet, subnet],
      [type, typeInEffect ?? type],
    ].every(([request = '', value = '']) => request === '' || request === value);
    if (invalid?.reason === 'Immutable' && same) stale(kind, name, `"${invalid.message ?? ''}", and its spec requests what it has`);
  }
  for (const [name, ip] of world.ips.entries()) {
    if (ip.metadata.deletionTimestamp !== undefined) continue;
    const conditions = conditionsOf('ips', ip);
    const { subnet = '', ipAddress = '', v4IpAddress = '', v6IpAddress = '' } = ip.spec;
    const conflict = has(conditions, 'AddressConflict', 'True');
    if (isAddress(conflict) && !isShared(subnet, heldTexts(ip)))
      stale('IP', name, `"${conflict.message ?? ''}", and no other object has it`);
    const invalid = has(conditions, 'Accepted', 'False');
    const pod = world.pods.peek(`${ip.spec.namespace ?? ''}/${ip.spec.podName ?? ''}`);
    const isOfPod =
      pod !== undefined && ip.metadata.labels?.[labelKey.ipReserved] !== 'true' && ovnAnnotation(pod, 'ip_address') === ipAddress;
    // Only a request can be invalid; an IP object that belongs to its pod alone was made for it.
    if (invalid !== undefined && isOfPod && ovnAnnotation(pod, 'allocated') === 'true')
      stale('IP', name, `"${invalid.message ?? ''}", and it is the IP object of its pod`);
    if (invalid === undefined || !OF_ADDRESSES.has(invalid.reason ?? '') || ip.metadata.labels?.[labelKey.ipReserved] !== 'true') continue;
    const isComplete = [v4IpAddress, v6IpAddress].filter((text) => text !== '').join(',') === ipAddress && ipAddress !== '';
    if (
      isComplete &&
      (ip.metadata.finalizers ?? []).includes(FINALIZER) &&
      isOf(world, subnet, heldTexts(ip)) &&
      !isShared(subnet, heldTexts(ip))
    )
      stale('IP', name, `"${invalid.message ?? ''}", and has ${ipAddress}`);
  }
  for (const [name, subnet] of world.subnets.entries()) {
    const none = has(subnet.status?.conditions ?? [], 'Ready', 'False');
    const [node] =
      none?.reason === 'NoActiveGatewayFound' && subnet.metadata.deletionTimestamp === undefined ? usableGateways(world, subnet) : [];
    if (node !== undefined) stale('Subnet', name, `"${none?.message ?? ''}", and node ${node} is ready for it`);
    const wrong = has(subnet.status?.conditions ?? [], 'Error', 'True');
    if (wrong !== undefined && has(subnet.status?.conditions ?? [], 'Accepted', 'True') !== undefined)
      stale('Subnet', name, `"${wrong.message ?? ''}", and that it is accepted`);
  }
  for (const [name, { metadata, status: { conditions = [] } = {} }] of world.ipPools.entries()) {
    const wrong = has(conditions, 'Error', 'True');
    const ready = conditions.find(({ type }) => type === 'Ready');
    if (metadata.deletionTimestamp === undefined && wrong !== undefined && ready?.reason !== wrong.reason)
      stale('IPPool', name, `"${wrong.message ?? ''}", and that it is ready, or waits`);
  }
  for (const [name, node] of world.nodes.entries()) {
    const bound = has(conditionsOf('nodes', node), POD_CONDITION, 'False');
    const ip = world.ips.peek(nodePortName(name));
    const addresses = splitList(ovnAnnotation(node, 'ip_address'));
    const isJoined = ovnAnnotation(node, 'allocated') === 'true' && best(world, 'Logical_Switch_Port', nodePortName(name)) !== undefined;
    if (
      bound === undefined ||
      !isJoined ||
      ip?.spec.ipAddress !== addresses.join() ||
      ovnAnnotation(node, 'mac_address') !== ip.spec.macAddress
    )
      continue;
    if (isAddress(bound) && isOf(world, JOIN_SUBNET, addresses) && !isShared(JOIN_SUBNET, addresses))
      stale('Node', name, `"${bound.message ?? ''}", and has joined`);
  }
  for (const [key, pod] of world.pods.entries()) {
    const bound = pod.status?.conditions?.find((one) => one.type === POD_CONDITION && one.status === 'False');
    const set = pod.metadata.ownerReferences?.find(({ kind, controller }) => kind === 'StatefulSet' && controller === true);
    if (set !== undefined && bound?.message?.includes(` is for StatefulSet ${pod.metadata.namespace}/${set.name};`) === true)
      stale('Pod', key, `"${bound.message}", and is a pod of that StatefulSet`);
    if (bound === undefined || !WAITING.has(bound.reason ?? '') || ovnAnnotation(pod, 'allocated') !== 'true') continue;
    if (pod.metadata.deletionTimestamp !== undefined || ovnAnnotation(pod, 'virtualmachine') !== '') continue;
    if (Object.keys(pod.metadata.annotations ?? {}).some((annotation) => /networks|default-network/.test(annotation))) continue;
    if (isOf(world, ovnAnnotation(pod, 'logical_switch'), splitList(ovnAnnotation(pod, 'ip_address'))))
      stale('Pod', key, `"${bound.message ?? ''}", and has its network`);
  }
  return found;
}

/** Gateway nodes that its spec names or selects by label: ready, and joined in one of the Subnet's families. */
function usableGateways(world: World, { spec }: Subnet): readonly string[] {
  const named = splitList(spec.gatewayNode ?? '').map((item) => item.split(':', 1)[0] ?? '');
  const families = splitList(spec.cidrBlock ?? '').map((cidr) => cidr.includes(':'));
  return [...world.nodes.entries()].flatMap(([name, node]) => {
    const isChosen =
      named.length > 0
        ? named.includes(name)
        : (spec.gatewayNodeSelectors ?? []).some((selector) => selectorMatches(selector, node.metadata.labels ?? {}));
    const isReady = node.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') === true;
    const hops = ovnAnnotation(node, 'allocated') === 'true' ? splitList(ovnAnnotation(node, 'ip_address')) : [];
    const isJoined =
      best(world, 'Logical_Switch_Port', nodePortName(name)) !== undefined && hops.some((hop) => families.includes(hop.includes(':')));
    return isChosen && isReady && isJoined && isNamedInEffect(world, JOIN_SUBNET) ? [name] : [];
  });
}

function isNamedInEffect(world: World, name: string): boolean {
  const subnet = world.subnets.peek(name);
  return subnet !== undefined && isInEffect(subnet);
}

/** Whether the addresses are in the networks of a Subnet in effect. */
function isOf(world: World, name: string, addresses: readonly string[]): boolean {
  const subnet = world.subnets.peek(name);
  if (subnet === undefined || !isInEffect(subnet)) return false;
  const cidrs = splitList(subnet.spec.cidrBlock ?? '').flatMap((text) => parseCidr(text) ?? []);
  return addresses.every((text) => {
    const address = parseAddress(text);
    return address !== undefined && cidrs.some((cidr) => cidr.family === address.family && cidrContains(cidr, address));
  });
}
