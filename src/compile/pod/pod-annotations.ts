/**
 * What a pod is told of its interfaces, and node agents read: its addresses when the port is observed with them, `routed` when it is also
 * in its port groups. Derived from the observed row, so that it never comes before the row. And the condition of a pod that waits.
 */
import type { Reason } from '../../api/reasons.ts';
import { podPortFindings } from '../../api/pod/pod-network-validation.ts';
import { podAnnotation, POD_CONDITION } from '../../api/well-known.ts';
import type { WrittenPodAnnotation } from '../../api/annotations.ts';
import { ownerText } from '../../nb/ownership.ts';
import type { World } from '../../world/world.ts';
import type { Addresses } from '../ip/ip-object.ts';
import { addressesOfIp, ipText, sameAddresses } from '../ip/ip-object.ts';
import { primaryPodOf } from './machine.ts';
import { misboundOf, misboundOutputs } from './misbound.ts';
import { nodeExists } from '../node/node-view.ts';
import type { EventOutput, Output, PatchOutput } from '../output.ts';
import { findingsText } from '../left-out.ts';
import { withNext } from '../next-command.ts';
import { podMessage } from './requested-values.ts';
import { writeRefusal } from '../write-refusal.ts';
import { bindingOf } from './pod-binding.ts';
import type { Binding } from './pod-binding.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, isAllocated } from './pod-interface.ts';
import { interfacesOf } from './pod-interfaces.ts';
import type { PodInterfaces } from './pod-interfaces.ts';
import { addressMismatch, correctedAnnotations, reservedIpMismatch } from './annotation-mismatch.ts';
import { portGroupsOf, stationText } from './pod-port.ts';
import { podOwner } from './pod-view.ts';
import { outsideTenancy } from './tenancy-report.ts';
import type { PodView } from './pod-view.ts';
import { isWithin, subnetNetworks, switchId } from '../subnet/judging/subnet-view.ts';
import { commandText } from '../../text/command-text.ts';

/**
 * All interfaces in one patch: none is told before each has what it asks for, but for those that were told before. An interface that a
 * pod is given later does not take the others' word back.
 */
export function annotationOutputs(
  world: World,
  pod: PodView,
  bindings: readonly Binding[],
  problem: PodInterfaces['problem'],
): readonly Output[] {
  const observed = bindings.filter((binding) => isPortObserved(world, binding));
  const complete = problem === undefined && observed.length === bindings.length;
  const reported = bindings.filter((binding) =>
    observed.includes(binding) ? complete || isAllocated(binding.nic) : areAnnotationsRemoved(binding),
  );
  if (reported.length === 0) return [];
  const allocated: PatchOutput = {
    ...patchOf(pod),
    annotations: Object.assign({}, ...reported.map((binding) => allocatedAnnotations(world, binding))) as Record<string, string | null>,
    event: allocationEvent(pod, reported),
  };
  const routed = reported.filter((binding) => isRouted(world, binding)).map(({ nic }) => [podAnnotation(nic.provider, 'routed'), 'true']);
  if (routed.length === 0) return [allocated];
  return [allocated, { ...patchOf(pod), annotations: Object.fromEntries(routed) as Record<string, string> }];
}

/** Of what somebody edited in the annotations it is said that it was put right: the addresses are not new. */
function allocationEvent(pod: PodView, reported: readonly Binding[]): EventOutput {
  const corrected = reported.flatMap(correctedAnnotations);
  if (corrected.length > 0)
    return {
      type: 'Warning',
      reason: 'FieldCorrected',
      message: withNext(findingsText(corrected), commandText`kiln explain pod ${pod.name} -n ${pod.namespace}`),
    };
  const message = reported.map(({ nic, bound }) => (bound === undefined ? '' : sentenceOf(nic, bound.addresses))).join('; ');
  return { type: 'Normal', reason: 'PodNetworkAllocated', message };
}

function sentenceOf({ provider, port }: PodInterface, addresses: Addresses): string {
  return `provider=${provider} subnet=${addresses.subnet} ip=${ipText(addresses)} mac=${addresses.mac} logicalSwitchPort=${port}`;
}

/** Only a pod that waits or is misbound has the condition; it turns true where it is there. */
export function conditionOutputs(
  world: World,
  pod: PodView,
  bindings: readonly Binding[],
  problem: PodInterfaces['problem'],
): readonly Output[] {
  const inUse = bindings.filter(({ nic }) => isAllocated(nic));
  const coming = bindings.filter(({ nic }) => !isAllocated(nic));
  // What it runs with before what it is to have yet.
  const [obstacle] = [
    ...inUse.flatMap((binding) => obstacleOf(world, binding) ?? []),
    ...(problem === undefined || pod.terminating ? [] : [problem]),
    ...coming.flatMap((binding) => obstacleOf(world, binding) ?? []),
    ...rejectedWriteOf(world, pod, bindings),
  ];
  if (obstacle !== undefined)
    return [
      {
        ...patchOf(pod),
        conditions: [{ type: POD_CONDITION, status: 'False', ...obstacle, message: withNextCommand(pod, obstacle), event: 'Warning' }],
      },
    ];
  if (!bindings.every((binding) => binding.bound?.subnet !== undefined && isPortObserved(world, binding))) return [];
  for (const { ip } of bindings) {
    const misbound = misboundOf(world, pod, ip);
    if (misbound !== undefined) return misboundOutputs(world, pod, misbound);
  }
  const unread = outsideTenancy(world, bindings) ?? portFinding(pod) ?? addressMismatch(world, bindings);
  if (unread !== undefined)
    return [
      {
        ...patchOf(pod),
        conditions: [{ type: POD_CONDITION, status: 'True', ...unread, message: withNextCommand(pod, unread), event: 'Warning' }],
      },
    ];
  if (pod.bound === undefined) return [];
  return [
    {
      ...patchOf(pod),
      conditions: [
        { type: POD_CONDITION, status: 'True', reason: 'Bound', message: 'all interfaces have their addresses', event: 'Normal' },
      ],
    },
  ];
}

/** An annotation about a port of a pod that runs, edited to what nobody can read: the pod keeps its network, and that is not in effect. */
function portFinding({ namespace, name, annotations }: PodView): Obstacle | undefined {
  const [finding] = podPortFindings({ kind: 'Pod', namespace, name }, annotations);
  return finding === undefined
    ? undefined
    : { reason: 'InvalidAnnotation', message: `${finding.message}. All interfaces have their addresses, and this is not in effect` };
}

/** Its node reads its addresses from annotations that the API server does not let it have. */
function rejectedWriteOf(world: World, pod: PodView, bindings: readonly Binding[]): readonly Obstacle[] {
  if (bindings.every(({ nic }) => isAllocated(nic))) return [];
  const refusal = writeRefusal(world, 'pods', pod.key, 'object', pod.uid);
  if (refusal === undefined) return [];
  const { said, next } = refusal;
  return [{ reason: 'WriteRefused', message: `Pod ${pod.key} cannot be told its addresses, ${said}; ${next}` }];
}

/** What lies in the pod is mended there; of all else `kiln explain` shows what stands in the way. */
function withNextCommand({ namespace, name }: PodView, { reason, message }: { readonly reason: Reason; readonly message: string }): string {
  return withNext(
    message,
    POD_REASONS.has(reason) ? commandText`kubectl edit pod -n ${namespace} ${name}` : commandText`kiln explain pod ${name} -n ${namespace}`,
  );
}

const POD_REASONS: ReadonlySet<Reason> = new Set<Reason>(['InvalidAnnotation', 'PortNotAllowed', 'AddressOutOfRange', 'InvalidIPFamily']);

/**
 * Whether the port is observed, as this pod's, with these addresses; of an interface without a port, whether its IP object says so. Who was
 * told before its Subnet was torn out is told the same again.
 */
function isPortObserved(world: World, { nic, bound, port, ownRow }: Binding): boolean {
  if (bound === undefined || (bound.subnet === undefined && !isAllocated(nic))) return false;
  if (!nic.isOvn) return true;
  if (port === undefined || !ownRow) return false;
  const stations = world.rows.column(nic.row, 'addresses');
  return stations instanceof Set && stations.has(stationText(port.addresses));
}

/**
 * Somebody took away the addresses that the pod had been told, while its port cannot be there (another program has the switch): its IP object
 * still says them.
 */
function areAnnotationsRemoved({ nic, ip, bound }: Binding): boolean {
  if (bound?.subnet === undefined || ip === undefined || !isAllocated(nic) || annotationOf(nic, 'ip_address') !== '') return false;
  return sameAddresses(addressesOfIp(ip), bound.addresses);
}

function isRouted(world: World, binding: Binding): boolean {
  const { nic } = binding;
  if (!nic.isOvn || binding.bound?.subnet === undefined || nic.pod.node === '' || !world.ask(nodeExists, nic.pod.node)) return false;
  return portGroupsOf(binding).every((group) => world.rows.hasMember(group, 'ports', nic.row));
}

/** Kube-OVN's keys, in its order. Of an interface for addresses only, what speaks of a port is taken away. */
function allocatedAnnotations(world: World, { nic, bound }: Binding): Readonly<Record<string, string | null>> {
  if (bound === undefined) return {};
  const { addresses, subnet } = bound;
  const key = (suffix: WrittenPodAnnotation): string => podAnnotation(nic.provider, suffix);
  return {
    [key('ip_address')]: ipText(addresses),
    [key('mac_address')]: addresses.mac === '' ? null : addresses.mac,
    // Of a Subnet that was made again with another network, they stay what they were: the pod's address is of that one.
    ...(subnet !== undefined && isWithin(subnet, addresses) && { [key('cidr')]: subnet.cidr, [key('gateway')]: subnet.gateway }),
    [key('logical_switch')]: nic.isOvn ? addresses.subnet : null,
    ...(nic.isOvn
      ? annotationOf(nic, 'pod_nic_type') === '' && { [key('pod_nic_type')]: world.settings.podNicType }
      : { [key('pod_nic_type')]: null }),
    [key('allocated')]: 'true',
    ...(nic.isOvn && subnet?.routed === true && { [key('logical_router')]: subnet.vpc }),
    ...(nic.pod.machine !== undefined && { [key('virtualmachine')]: nic.pod.machine.name }),
  };
}

function leavesOut(world: World, subnet: string): boolean {
  return world.ask(subnetNetworks, subnet).outside.length > 0;
}

interface Obstacle {
  readonly reason: Reason;
  readonly message: string;
}

function obstacleOf(world: World, binding: Binding): Obstacle | undefined {
  const { nic, claimant, requestState, reservation, bound } = binding;
  if (requestState.kind === 'none' || requestState.kind === 'pending') return undefined;
  if (requestState.kind === 'waiting') return { reason: requestState.reason, message: requestState.message };
  // Its Subnet's network stays in effect for who is in it while the spec leaves addresses in use out: that is told on the Subnet.
  const stays = (): boolean =>
    bound?.subnet !== undefined && isWithin(bound.subnet, bound.addresses) && leavesOut(world, bound.subnet.name);
  const refused =
    reservation?.kind === 'failed' && !(NETWORK_REASONS.has(reservation.code) && stays())
      ? {
          reason: reservation.code,
          message: withoutAddressMessage(binding, reservation.code, failureMessage(world, binding, reservation.message)),
        }
      : undefined;
  const others = world.addressConflicts.get(claimant) ?? [];
  // Who has an address with others is told of them first, whatever else is wrong.
  if (refused !== undefined && (others.length === 0 || refused.reason === 'AddressConflict')) return refused;
  const conflict = world.rowConflicts.get(nic.row);
  if (conflict?.owners.includes(ownerText(podOwner(primaryPodOf(world, nic)))) === true)
    return { reason: 'RowConflict', message: conflict.message };
  if (others.length === 0) return networkMissing(world, binding) ?? waitingForPrimary(world, binding);
  const shared = `an address of port ${nic.port} is also held by ${others.join(', ')}; delete the pod or the object that should not have it`;
  return { reason: 'AddressConflict', message: refused === undefined ? shared : `${shared}; ${refused.message}` };
}

/** In the words of what is refused: the pod's, or those of the IP object that is there for it. */
function failureMessage(world: World, binding: Binding, message: string): string {
  const { nic } = binding;
  const ip = reservedIpMismatch(world, binding);
  if (ip === undefined) return podMessage(nic, 'address', message);
  return `Pod ${nic.pod.key}: IP ${ip}, which is there for this pod and comes before its annotations: ${message}; mend it, or ${commandText`kubectl delete ip ${ip}`}`;
}

/** What a network says of addresses that are not its own. */
const NETWORK_REASONS: ReadonlySet<Reason> = new Set<Reason>(['AddressOutOfRange', 'InvalidIPFamily']);

/** Who was given an address of a network that its Subnet has no more cannot be given another one as it runs: no edit mends that. */
function withoutAddressMessage({ nic, bound }: Binding, code: Reason, message: string): string {
  if (!NETWORK_REASONS.has(code) || !isAllocated(nic)) return message;
  const { namespace, name } = nic.pod;
  // Somebody said that a pod runs which was over: it was let go.
  const meanwhile = bound === undefined ? 'it has no port any more' : 'it keeps that one as long as it runs';
  return `${message}; ${meanwhile}, and the pod after it is given another; ${commandText`kubectl delete pod -n ${namespace} ${name}`}`;
}

/** The second pod of a virtual machine that moves has what the first one is given: what that waits for keeps this one as well. */
function waitingForPrimary(world: World, { nic, isPrimary, reservation, bound }: Binding): Obstacle | undefined {
  if (isPrimary || reservation !== undefined || bound !== undefined) return undefined;
  const lead = primaryPodOf(world, nic);
  const { interfaces, problem } = interfacesOf(world, lead);
  const own = interfaces.map((one) => bindingOf(world, one)).filter((one) => one.isPrimary);
  const why = problem ?? own.flatMap((one) => obstacleOf(world, one) ?? [])[0];
  if (why === undefined) return undefined;
  return { reason: why.reason, message: `Pod ${lead.key}, which runs the same virtual machine and was there first, waits: ${why.message}` };
}

/** It has its address and no port, and can have none: the switch of its Subnet is another program's row. */
function networkMissing(world: World, binding: Binding): Obstacle | undefined {
  const subnet = binding.nic.isOvn ? binding.bound?.subnet?.name : undefined;
  const conflict = subnet === undefined ? undefined : world.rowConflicts.get(switchId(subnet));
  if (conflict === undefined || isPortObserved(world, binding)) return undefined;
  return { reason: 'WaitingForSubnet', message: podMessage(binding.nic, 'subnet', `Subnet ${subnet}: ${conflict.message}`) };
}

function patchOf(pod: PodView): Pick<PatchOutput, 'kind' | 'resource' | 'key' | 'uid'> {
  return { kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid };
}
