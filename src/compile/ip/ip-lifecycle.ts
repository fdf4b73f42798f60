/**
 * The lifecycle of an IP object. It stays while it has a user; then it is deleted, then its port, then its finalizer is removed, and the
 * address is free. An IP object that is deleted while its pod runs waits for the pod, and reports that.
 */
import type { ConditionType } from '../../api/condition-types.ts';
import type { IP } from '../../api/kinds/ip.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { canonicalAddress } from '../../net/address.ts';
import { splitList } from '../../net/dual.ts';
import { claimantOfIp, isReserved, onlyRequests } from '../../world/claimants.ts';
import { keysOf } from '../../engine/domain.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import { blockersOf } from '../../blockers/blockers.ts';
import { isLateForSubnet } from '../../kinds/ip/dependencies/ip-holds-address.ts';
import { DELETION_BLOCKED, deletionBlocked, unblocked } from '../deletion.ts';
import { adoptedRow } from '../retained-row.ts';
import { holderOf, isOfNode } from './ip-holder.ts';
import type { IpHolder } from './ip-holder.ts';
import { LEASE_CONDITIONS } from '../address-lease.ts';
import { ipLease } from './ip-lease.ts';
import type { ConditionOutput, Output, PatchOutput } from '../output.ts';
import { sharedSubject } from '../shared-address.ts';
import { isIpOfNode, nodeView } from '../node/node-view.ts';
import { isIpOfPod, portId } from '../pod/interface/pod-interface.ts';
import { podView } from '../pod/view/pod-view.ts';
import { commandText } from '../../text/command-text.ts';

const RULE = 'ip-lifecycle';

export const ipLifecycle: Rule = {
  name: RULE,
  over: (world) => keysOf(world.ips),
  early: (_, name) => name,
  run: (world, name) => {
    const ip = world.ips.get(name);
    if (ip === undefined) return [];
    if (ip.metadata.deletionTimestamp !== undefined) return leaving(world, ip);
    const holder = holderOf(world, ip);
    return holder.kind === 'subnet' ? sharing(world, ip) : retained(world, ip, holder);
  },
};

/** The address of a Subnet's own interface comes and goes with the Subnet; here it only says whether another one holds it too. */
function sharing(world: World, ip: IP): readonly Output[] {
  const conflict = conflictOf(world, ip);
  return [{ ...patchOf(ip), conditions: conflict === undefined ? NO_CONDITIONS : [conflict], withoutConditions: [CONFLICT] }];
}

function retained(world: World, ip: IP, holder: IpHolder): readonly Output[] {
  const { name, uid } = ip.metadata;
  if (holder.kind === 'none') return [portOfOlder(world, ip) ?? { kind: 'delete', resource: 'ips', key: name, uid, leftOf: userOf(ip) }];
  const lease = ipLease(world, ip, holder);
  if (lease.kind === 'expired') return [lease.deletion];
  const leaseConditions = lease.kind === 'reported' ? [lease.condition] : [];
  // A request has no finalizer until it has an address; this distinguishes it from an object that lost its user.
  if (holder.kind === 'reservation' && onlyRequests(ip))
    return leaseConditions.length === 0 ? [] : [{ ...patchOf(ip), conditions: leaseConditions, withoutConditions: LEASE_CONDITIONS }];
  const conflict = conflictOf(world, ip);
  const conditions =
    leaseConditions.length === 0 && conflict === undefined
      ? NO_CONDITIONS
      : [...leaseConditions, ...(conflict === undefined ? [] : [conflict])];
  // An IP object with an address (restored from a backup) holds it, and is in conflict even before it is complete.
  if (holder.kind === 'reservation' && (!isReserved(ip) || world.ask(isLateForSubnet, name)))
    return [{ ...patchOf(ip), conditions, withoutConditions: [CONFLICT, ...LEASE_CONDITIONS] }];
  const freed = holder.kind === 'reservation' && ip.metadata.annotations?.[kilnAnnotation.podUid] !== undefined;
  return [
    {
      ...patchOf(ip),
      finalizer: true,
      ...(freed && { annotations: { [kilnAnnotation.podUid]: null } }),
      conditions,
      withoutConditions: holder.kind === 'reservation' ? WITHOUT_OF_RESERVED : WITHOUT,
    },
  ];
}

/** Owner text of the node or pod that it names. */
function userOf(ip: IP): string {
  const { namespace = '', podName = '', nodeName = '' } = ip.spec;
  return isOfNode(ip) ? `node//${podName === '' ? nodeName : podName}` : `pod/${namespace}/${podName}`;
}

const CONFLICT = 'AddressConflict';
/** One shared list, since there are as many IP objects as interfaces. */
const WITHOUT_OF_RESERVED: readonly ConditionType[] = [DELETION_BLOCKED, CONFLICT, ...LEASE_CONDITIONS];
const WITHOUT: readonly ConditionType[] = [...WITHOUT_OF_RESERVED, 'Accepted'];
const NO_CONDITIONS: readonly ConditionOutput[] = [];

function conflictOf(world: World, ip: IP): ConditionOutput | undefined {
  const others = world.addressConflicts.get(claimantOfIp(ip));
  if (others === undefined || others.length === 0) return undefined;
  const { ipAddress = '', macAddress = '', subnet = '' } = ip.spec;
  const own = [...splitList(ipAddress).map((text) => canonicalAddress(text) ?? text), macAddress.toLowerCase()];
  const isOwn = own.some((text) => text !== '' && others.some((other) => other.includes(`(${text} of `)));
  // A pod from a backup may have another address than its IP object.
  const what = isOwn
    ? `${sharedSubject(ipAddress, macAddress, others)} of Subnet ${subnet}`
    : `its pod has another address than ${ipAddress} of Subnet ${subnet}, which`;
  const message = `IP ${ip.metadata.name}: ${what} is also held by ${others.join(', ')}; delete the one that should not have it; ${commandText`kubectl describe ips.kubeovn.io ${ip.metadata.name}`}`;
  return { type: CONFLICT, status: 'True', reason: 'HeldTwice', message, event: 'Warning' };
}

function leaving(world: World, ip: IP): readonly Output[] {
  const { name } = ip.metadata;
  const blockers = blockersOf(world, 'ips', name);
  if (blockers.count > 0) {
    // Its address is still in use, and may be another's as well.
    const conflict = conflictOf(world, ip);
    const conditions = [deletionBlocked(world, 'ips', name, blockers), ...(conflict === undefined ? [] : [conflict])];
    return [{ ...patchOf(ip), conditions, withoutConditions: [CONFLICT] }];
  }
  const older = portOfOlder(world, ip);
  if (older !== undefined) return [older];
  return [{ ...patchOf(ip), ...unblocked('ips', name), ...(!hasPort(world, ip) && { finalizer: false }) }];
}

/** Adopts its legacy port, so that it is collected with the object: rows that are not ours are never collected. */
function portOfOlder(world: World, ip: IP): Output | undefined {
  const { name, uid, creationTimestamp } = ip.metadata;
  const id = portId(name);
  if (world.rows.state(id)?.ownership.kind !== 'legacy') return undefined;
  const ids = world.rows.column(id, 'external_ids');
  if (!(ids instanceof Map) || ids.get('pod') !== `${ip.spec.namespace}/${ip.spec.podName}`) return undefined;
  return adoptedRow(world, id, { kind: 'ip', namespace: '', name, uid, created: creationTimestamp }, RULE);
}

/** Whether its port still exists. A port of a later pod of the same name is not its port. */
function hasPort(world: World, ip: IP): boolean {
  const ownership = world.rows.state(portId(ip.metadata.name))?.ownership;
  if (ownership?.kind !== 'ours' || isInUseOfAnother(world, ip, ownership)) return false;
  const madeFor = ip.metadata.annotations?.[kilnAnnotation.podUid];
  return madeFor === undefined || ownership.uid === madeFor || ownership.uid === ip.metadata.uid;
}

/**
 * Whether its port belongs to a live pod or node that this object is not for, since it was edited. It must not wait for that port. The pod
 * holds the address and gets an IP object of its own when this one is gone.
 */
function isInUseOfAnother(world: World, ip: IP, { owner, uid }: { readonly owner: string; readonly uid: string }): boolean {
  const [kind = '', namespace = '', name = ''] = owner.split('/');
  if (kind === 'node') {
    const node = world.ask(nodeView, name);
    return node?.uid === uid && !isIpOfNode(ip, node);
  }
  const pod = kind === 'pod' ? world.ask(podView, `${namespace}/${name}`) : undefined;
  return pod?.uid === uid && pod.alive && !isIpOfPod(ip, pod);
}

function patchOf(ip: IP): Pick<PatchOutput, 'kind' | 'resource' | 'key' | 'uid'> {
  return { kind: 'patch', resource: 'ips', key: ip.metadata.name, uid: ip.metadata.uid };
}
