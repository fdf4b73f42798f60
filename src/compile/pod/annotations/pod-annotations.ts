/**
 * A pod's annotations about its interfaces, which node agents read: the addresses when the port is observed with them, `routed` when the
 * port is also in its port groups. They follow from the observed row, so they are never written before the row. Also the condition of a pod
 * that waits.
 */
import { POD_EVENTS } from '../../../api/kube-ovn-events.ts';
import type { Reason } from '../../../api/reasons.ts';
import { podPortFindings } from '../../../api/pod/pod-network-validation.ts';
import { switchToRouterPort } from '../../../api/names.ts';
import { podAnnotation, POD_CONDITION } from '../../../api/well-known.ts';
import type { WrittenPodAnnotation } from '../../../api/annotations.ts';
import { ownerText } from '../../../nb/ownership.ts';
import { identityOf, rowId } from '../../../nb/row-id.ts';
import type { World } from '../../../world/world.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { addressesOfIp, ipText, sameAddresses } from '../../ip/ip-object.ts';
import { primaryPodOf } from '../interface/machine.ts';
import { misboundOf, misboundOutputs } from '../address/misbound.ts';
import { nodeExists } from '../../node/node-view.ts';
import type { EventOutput, Output, PatchOutput } from '../../output.ts';
import { findingsText } from '../../findings-text.ts';
import { withNext } from '../../next-command.ts';
import { podMessage } from '../address/requested-values.ts';
import { writeRejection } from '../../write-rejection.ts';
import { bindingOf } from '../address/pod-binding.ts';
import type { Binding } from '../address/pod-binding.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf, isAllocated } from '../interface/pod-interface.ts';
import { interfacesOf } from '../interface/pod-interfaces.ts';
import type { PodInterfaces } from '../interface/pod-interfaces.ts';
import { addressMismatch, correctedAnnotations, reservedIpMismatch } from '../report/annotation-mismatch.ts';
import { masksInEffect } from './interface-masks.ts';
import { portGroupsOf, portAddressText } from '../port/pod-port.ts';
import { podOwner } from '../view/pod-view.ts';
import { outsideTenancy } from '../report/tenancy-report.ts';
import type { PodView } from '../view/pod-view.ts';
import { isConnected } from '../../subnet/rows/subnet-interconnection.ts';
import { routerPortId } from '../../subnet/rows/subnet-switch.ts';
import { localnetMissing, subnetUnderlay } from '../../subnet/validity/underlay.ts';
import type { SubnetView } from '../../subnet/validity/subnet-view.ts';
import { isWithin, subnetNetworks, subnetOwner, switchId } from '../../subnet/validity/subnet-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';
import { commandText } from '../../../text/command-text.ts';

/**
 * All interfaces in one patch: none is written before each has its addresses, except for those that were written before. An interface that
 * is attached later does not remove the annotations of the others.
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
  return [allocated, ...reported.filter((binding) => isRouted(world, binding)).map((binding) => routedOutput(pod, binding))];
}

/** For an interface that is in use already, with Kube-OVN's Event: its node, or the group of that, came later. */
function routedOutput(pod: PodView, { nic, durable }: Binding): PatchOutput {
  const annotations = { [podAnnotation(nic.provider, 'routed')]: 'true' };
  if (!isAllocated(nic) || durable === undefined) return { ...patchOf(pod), annotations };
  return {
    ...patchOf(pod),
    annotations,
    event: { type: 'Normal', reason: 'PodNetworkUpdated', message: sentenceOf(nic, durable.addresses) },
  };
}

/** After an edit of the annotations, the Event reports the correction and no new addresses. */
function allocationEvent(pod: PodView, reported: readonly Binding[]): EventOutput {
  const corrected = reported.flatMap(correctedAnnotations);
  if (corrected.length > 0)
    return {
      type: 'Warning',
      reason: 'FieldCorrected',
      message: withNext(findingsText(corrected), commandText`kiln explain pod ${pod.name} -n ${pod.namespace}`),
    };
  const message = reported.map(({ nic, durable }) => (durable === undefined ? '' : sentenceOf(nic, durable.addresses))).join('; ');
  return { type: 'Normal', reason: 'PodNetworkAllocated', message };
}

function sentenceOf({ provider, port }: PodInterface, addresses: Addresses): string {
  return `provider=${provider} subnet=${addresses.subnet} ip=${ipText(addresses)} mac=${addresses.mac} logicalSwitchPort=${port}`;
}

/** Only a pod that waits or is misbound gets the condition; it becomes true if it exists. */
export function conditionOutputs(
  world: World,
  pod: PodView,
  bindings: readonly Binding[],
  problem: PodInterfaces['problem'],
): readonly Output[] {
  const inUse = bindings.filter(({ nic }) => isAllocated(nic));
  const coming = bindings.filter(({ nic }) => !isAllocated(nic));
  // Interfaces in use come before new ones.
  const ofUsed = inUse.flatMap((binding) => obstacleOf(world, binding) ?? []);
  const [obstacle]: readonly Obstacle[] = [
    ...ofUsed,
    ...(problem === undefined || pod.terminating ? [] : [problem]),
    ...coming.flatMap((binding) => obstacleOf(world, binding) ?? []),
    ...rejectedWriteOf(world, pod, bindings),
  ];
  if (obstacle !== undefined) {
    const { reason, inProgress } = obstacle;
    return [
      {
        ...patchOf(pod),
        conditions: [
          {
            ...{ type: POD_CONDITION, status: 'False', reason, message: withNextCommand(pod, obstacle) },
            ...(inProgress !== true && { event: 'Warning' }),
            // Kube-OVN's Events are about interfaces that come into use.
            ...(ofUsed.length === 0 && POD_EVENTS[reason] !== undefined && { eventReason: POD_EVENTS[reason] }),
          },
        ],
      },
    ];
  }
  if (!bindings.every((binding) => binding.durable?.subnet !== undefined && isPortObserved(world, binding))) return [];
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
  if (pod.boundCondition === undefined) return [];
  return [
    {
      ...patchOf(pod),
      conditions: [
        { type: POD_CONDITION, status: 'True', reason: 'Bound', message: 'all interfaces have their addresses', event: 'Normal' },
      ],
    },
  ];
}

/** An unreadable annotation about the port of a running pod: the pod keeps its network, and the annotation is not in effect. */
function portFinding({ namespace, name, annotations }: PodView): Obstacle | undefined {
  const [finding] = podPortFindings({ kind: 'Pod', namespace, name }, annotations);
  return finding === undefined
    ? undefined
    : { reason: 'InvalidAnnotation', message: `${finding.message}. All interfaces have their addresses, and this is not in effect` };
}

/** The API server rejects the annotations from which the node reads the addresses. */
function rejectedWriteOf(world: World, pod: PodView, bindings: readonly Binding[]): readonly Obstacle[] {
  if (bindings.every(({ nic }) => isAllocated(nic))) return [];
  const rejection = writeRejection(world, 'pods', pod.key, 'object', pod.uid);
  if (rejection === undefined) return [];
  const { cause, next } = rejection;
  return [{ reason: 'WriteRefused', message: `Pod ${pod.key} cannot get its addresses, ${cause}; ${next}` }];
}

/** Adds the next command: edit the pod for a fault in the pod, else `kiln explain`. */
function withNextCommand({ namespace, name }: PodView, { reason, message }: { readonly reason: Reason; readonly message: string }): string {
  return withNext(
    message,
    POD_REASONS.has(reason) ? commandText`kubectl edit pod -n ${namespace} ${name}` : commandText`kiln explain pod ${name} -n ${namespace}`,
  );
}

const POD_REASONS: ReadonlySet<Reason> = new Set<Reason>(['InvalidAnnotation', 'PortNotAllowed', 'AddressOutOfRange', 'InvalidIPFamily']);

/**
 * Whether the port is observed as this pod's with these addresses; for an interface without a port, whether its IP object has them. A pod
 * whose Subnet was removed by force keeps its annotations.
 */
function isPortObserved(world: World, { nic, durable, port, ownRow }: Binding): boolean {
  if (durable === undefined || (durable.subnet === undefined && !isAllocated(nic))) return false;
  if (!nic.isOvn) return true;
  if (port === undefined || !ownRow) return false;
  const portAddresses = world.rows.column(nic.row, 'addresses');
  return portAddresses instanceof Set && portAddresses.has(portAddressText(port.addresses));
}

/**
 * Whether the addresses were removed from the annotations while the port cannot exist (another program has the switch): the IP object still
 * has them.
 */
function areAnnotationsRemoved({ nic, ip, durable }: Binding): boolean {
  if (durable?.subnet === undefined || ip === undefined || !isAllocated(nic) || annotationOf(nic, 'ip_address') !== '') return false;
  return sameAddresses(addressesOfIp(ip), durable.addresses);
}

function isRouted(world: World, binding: Binding): boolean {
  const { nic } = binding;
  if (bareSwitchOf(world, binding) !== undefined) return false;
  if (!nic.isOvn || binding.durable?.subnet === undefined || nic.pod.node === '' || !world.ask(nodeExists, nic.pod.node)) return false;
  return portGroupsOf(binding).every((group) => world.rows.hasMember(group, 'ports', nic.row));
}

/** Kube-OVN's keys in its order. An interface with addresses only has no annotations about a port. */
function allocatedAnnotations(world: World, { nic, durable }: Binding): Readonly<Record<string, string | null>> {
  if (durable === undefined) return {};
  const { addresses, subnet } = durable;
  const key = (suffix: WrittenPodAnnotation): string => podAnnotation(nic.provider, suffix);
  return {
    [key('ip_address')]: ipText(addresses),
    [key('mac_address')]: addresses.mac === '' ? null : addresses.mac,
    // If the Subnet was recreated with another network, these stay: the pod's address is of the old network.
    ...(subnet !== undefined &&
      isWithin(subnet, addresses) && {
        [key('cidr')]: isAllocated(nic) ? masksInEffect(subnet, addresses, nic.pod.masks[key('cidr')]) : subnet.cidr,
        [key('gateway')]: subnet.gateway,
      }),
    [key('logical_switch')]: nic.isOvn ? addresses.subnet : null,
    ...(nic.isOvn
      ? annotationOf(nic, 'pod_nic_type') === '' && { [key('pod_nic_type')]: world.settings.podNicType }
      : { [key('pod_nic_type')]: null }),
    [key('allocated')]: 'true',
    ...(nic.isOvn && (subnet?.routed === true || subnet?.interconnected === true) && { [key('logical_router')]: subnet.vpc }),
    ...(nic.isOvn && subnet !== undefined && underlayAnnotations(world, nic, subnet)),
    ...(nic.pod.machine !== undefined && { [key('virtualmachine')]: nic.pod.machine.name }),
  };
}

/** Node agents and tools of Kube-OVN read them. */
function underlayAnnotations(world: World, { provider }: PodInterface, { name }: SubnetView): Readonly<Record<string, string>> {
  const underlay = world.ask(subnetUnderlay, name);
  if (underlay.kind !== 'connected') return {};
  return {
    [podAnnotation(provider, 'vlan_id')]: String(underlay.tag),
    [podAnnotation(provider, 'provider_network')]: underlay.providerNetwork,
  };
}

function leavesOut(world: World, subnet: string): boolean {
  return world.ask(subnetNetworks, subnet).outside.length > 0;
}

interface Obstacle {
  readonly reason: Reason;
  readonly message: string;
  /** It ends with a write that Kiln is about to make: it is in the condition, and needs no Event. */
  readonly inProgress?: true;
}

function obstacleOf(world: World, binding: Binding): Obstacle | undefined {
  const { nic, claimant, requestState, reservation, durable } = binding;
  if (requestState.kind === 'none' || requestState.kind === 'pending') return undefined;
  if (requestState.kind === 'waiting') {
    const { reason, message, inProgress } = requestState;
    return inProgress === true ? { reason, message, inProgress } : { reason, message };
  }
  // The Subnet keeps its network for addresses in use that its spec leaves out. The Subnet reports that.
  const stays = (): boolean =>
    durable?.subnet !== undefined && isWithin(durable.subnet, durable.addresses) && leavesOut(world, durable.subnet.name);
  const failure =
    reservation?.kind === 'failed' && !(NETWORK_REASONS.has(reservation.code) && stays())
      ? {
          reason: reservation.code,
          message: withoutAddressMessage(binding, reservation.code, failureMessage(world, binding, reservation.message)),
        }
      : undefined;
  const others = world.addressConflicts.get(claimant) ?? [];
  // A conflict is reported first.
  if (failure !== undefined && (others.length === 0 || failure.reason === 'AddressConflict')) return failure;
  const conflict = world.rowConflicts.get(nic.row);
  if (conflict?.owners.includes(ownerText(podOwner(primaryPodOf(world, nic)))) === true)
    return { reason: 'RowConflict', message: conflict.message };
  if (others.length === 0)
    return (
      networkMissing(world, binding) ??
      routerMissing(world, binding) ??
      groupMissing(world, binding) ??
      underlayMissing(world, binding) ??
      waitingForPrimary(world, binding)
    );
  const shared = `an address of port ${nic.port} is also held by ${others.join(', ')}; delete the pod or the object that should not have it`;
  return { reason: 'AddressConflict', message: failure === undefined ? shared : `${shared}; ${failure.message}` };
}

/** The failure of what requested the address: the pod, or the IP object that a user reserved for it. */
function failureMessage(world: World, binding: Binding, message: string): string {
  const { nic } = binding;
  const ip = reservedIpMismatch(world, binding);
  if (ip === undefined) return podMessage(nic, 'address', message);
  return `Pod ${nic.pod.key}: IP ${ip}, which is reserved for this pod and has precedence over its annotations: ${message}; fix it, or ${commandText`kubectl delete ip ${ip}`}`;
}

/** Failures of addresses outside of a network. */
const NETWORK_REASONS: ReadonlySet<Reason> = new Set<Reason>(['AddressOutOfRange', 'InvalidIPFamily']);

/** A running pod with an address of a former network of its Subnet cannot get another one; no edit changes that. */
function withoutAddressMessage({ nic, durable }: Binding, code: Reason, message: string): string {
  if (!NETWORK_REASONS.has(code) || !isAllocated(nic)) return message;
  const { namespace, name } = nic.pod;
  // The pod had finished and was released, and its status was then edited to running.
  const meanwhile = durable === undefined ? 'it no longer has a port' : 'it keeps that one while it runs';
  return `${message}; ${meanwhile}, and the next pod gets another one; ${commandText`kubectl delete pod -n ${namespace} ${name}`}`;
}

/** The second pod of a migrating virtual machine waits for what the primary pod waits for. */
function waitingForPrimary(world: World, { nic, isPrimary, reservation, durable }: Binding): Obstacle | undefined {
  if (isPrimary || reservation !== undefined || durable !== undefined) return undefined;
  const primary = primaryPodOf(world, nic);
  const { interfaces, problem } = interfacesOf(world, primary);
  const own = interfaces.map((one) => bindingOf(world, one)).filter((one) => one.isPrimary);
  const why = problem ?? own.flatMap((one) => obstacleOf(world, one) ?? [])[0];
  if (why === undefined) return undefined;
  return {
    reason: why.reason,
    message: `Pod ${primary.key}, which runs the same virtual machine and is its primary pod, waits: ${why.message}`,
  };
}

/** It has its address but can have no port: the switch of its Subnet is another program's row. */
function networkMissing(world: World, binding: Binding): Obstacle | undefined {
  const subnet = binding.nic.isOvn ? binding.durable?.subnet?.name : undefined;
  const conflict = subnet === undefined ? undefined : world.rowConflicts.get(switchId(subnet));
  if (conflict === undefined || isPortObserved(world, binding)) return undefined;
  return { reason: 'WaitingForSubnet', message: podMessage(binding.nic, 'subnet', `Subnet ${subnet}: ${conflict.message}`) };
}

/** It has its port, in a switch without its router: another program or object has a row that connects the two. */
function routerMissing(world: World, { nic, durable }: Binding): Obstacle | undefined {
  const subnet = durable?.subnet;
  if (!nic.isOvn || subnet === undefined || !(subnet.routed || isConnected(subnet))) return undefined;
  const rows = [routerPortId(subnet), rowId('Logical_Switch_Port', switchToRouterPort(subnet.name, subnet.vpc))];
  const lacking = rows.find((id) => !isOurs(world, id, subnetOwner(subnet)) && world.rowConflicts.get(id) !== undefined);
  const conflict = lacking === undefined ? undefined : world.rowConflicts.get(lacking);
  if (conflict === undefined) return undefined;
  const message = `port ${nic.port} reaches its own Subnet alone: Subnet ${subnet.name} has no port at the router of Vpc ${subnet.vpc}: ${conflict.message}`;
  return { reason: 'RowConflict', message: withNext(message, commandText`kubectl describe subnet ${subnet.name}`) };
}

/**
 * It has its port, and no way out: a port group that the port must be in is another program's row, or an older object's, or cannot be
 * written.
 */
function groupMissing(world: World, binding: Binding): Obstacle | undefined {
  const { nic } = binding;
  for (const group of portGroupsOf(binding)) {
    const conflict = world.rows.hasMember(group, 'ports', nic.row) ? undefined : world.rowConflicts.get(group);
    if (conflict !== undefined)
      return {
        reason: 'RowConflict',
        message: `port ${nic.port} is not routed without port group ${identityOf(group)}: ${conflict.message}`,
      };
  }
  return undefined;
}

/** It has its port, in a switch that is connected to nothing. */
function underlayMissing(world: World, binding: Binding): Obstacle | undefined {
  const bare = bareSwitchOf(world, binding);
  return bare === undefined ? undefined : { reason: 'WaitingForSubnet', message: podMessage(binding.nic, 'subnet', bare) };
}

function bareSwitchOf(world: World, { nic, durable }: Binding): string | undefined {
  return nic.isOvn && durable?.subnet !== undefined ? world.ask(localnetMissing, durable.subnet.name) : undefined;
}

function patchOf(pod: PodView): Pick<PatchOutput, 'kind' | 'resource' | 'key' | 'uid'> {
  return { kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid };
}
