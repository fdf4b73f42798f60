/**
 * The user of an IP object: what its address is for. An IP object without a user is released.
 */
import type { IP } from '../../api/kinds/ip.ts';
import type { Labels } from '../../api/kubernetes/meta.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { isUsedBySubnet } from '../../kinds/subnet/dependencies/interconnection.ts';
import { ipUser } from '../../kinds/ip/dependencies/ip-user.ts';
import { isOfSubnet, isRequest, isReserved } from '../../world/claimants.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { heldBy } from '../pod/address/held-addresses.ts';
import { launchersOf, machinePlan } from '../pod/interface/machine.ts';
import { isIpOfNode, nodeView } from '../node/node-view.ts';
import { isAllocated, isIpOfPod } from '../pod/interface/pod-interface.ts';
import { interfaceOfPort, selectionsOf } from '../pod/interface/pod-interfaces.ts';
import { ordinalIn } from '../pod/view/pod-life.ts';
import { keepsIp } from '../pod/address/pod-subnet.ts';
import type { PodView } from '../pod/view/pod-view.ts';
import { podView } from '../pod/view/pod-view.ts';
import type { NextPod } from '../pod/address/retention.ts';
import { isStillUseful } from '../pod/address/retention.ts';
import { commandText } from '../../text/command-text.ts';
import { infrastructureWithPort } from '../../kinds/pod/rules/infrastructure-ports.ts';

export type IpHolder =
  /** A live pod with this interface. */
  | { readonly kind: 'pod'; readonly pod: string }
  | { readonly kind: 'node'; readonly node: string }
  /** No pod now, but a StatefulSet that will create one for this ordinal. */
  | { readonly kind: 'statefulset'; readonly statefulSet: string; readonly next: NextPod }
  /** No pod now, but a virtual machine that can start again. */
  | { readonly kind: 'machine'; readonly machine: string; readonly next: NextPod }
  /** A user reserves it, or requests it, with or without a pod. */
  | { readonly kind: 'reservation' }
  /** The Subnet itself: the IP object is deleted with the Subnet. */
  | { readonly kind: 'subnet' }
  | { readonly kind: 'none' };

const NO_USER: IpHolder = { kind: 'none' };

export function holderOf(world: World, ip: IP): IpHolder {
  if (isOfSubnet(ip)) return isUsedBySubnet(world, ip.metadata.name, ip.spec.subnet ?? '') ? { kind: 'subnet' } : NO_USER;
  if (isOfNode(ip)) return holdingNode(world, ip);
  // The name is that of a node's or router's port, which has precedence over pods.
  if (!isReserved(ip) && !isRequest(ip) && infrastructureWithPort(world, ip.metadata.name) !== undefined) return NO_USER;
  const users = usersOf(world, ip);
  const user = users.find(({ keeps }) => keeps);
  if (user !== undefined) return { kind: 'pod', pod: user.pod };
  if (isReserved(ip) || isRequest(ip)) return { kind: 'reservation' };
  // Its pod exists and needs another IP object of this name.
  if (users.length > 0) return NO_USER;
  return ip.spec.podType === 'VirtualMachine' ? retainingMachine(world, ip) : retainingStatefulSet(world, ip);
}

ipUser.define((world, name) => {
  const ip = world.ips.get(name);
  const holder = ip === undefined ? NO_USER : holderOf(world, ip);
  if (holder.kind === 'pod') return { resource: 'pods', key: holder.pod };
  return holder.kind === 'node' ? { resource: 'nodes', key: holder.node } : undefined;
});

export function isOfNode(ip: IP): boolean {
  return (
    ip.metadata.ownerReferences?.some(({ kind }) => kind === 'Node') === true ||
    (ip.spec.namespace === '' && ip.metadata.name === `node-${ip.spec.podName}`)
  );
}

function holdingNode(world: World, ip: IP): IpHolder {
  const node = world.ask(nodeView, ip.spec.podName ?? '');
  return node !== undefined && isIpOfNode(ip, node) ? { kind: 'node', node: node.name } : NO_USER;
}

/** Live pods with this interface; only the pod of its name if that keeps it. */
function usersOf(world: World, ip: IP): readonly { readonly pod: string; readonly keeps: boolean }[] {
  const key = `${ip.spec.namespace}/${ip.spec.podName}`;
  const pod = world.ask(podView, key);
  const own = pod?.alive === true ? useOf(world, ip, pod) : undefined;
  // This runs for each IP object, and nearly each belongs to the pod of its name.
  if (own?.keeps === true) return [own];
  const others = launchersOf(world, key).flatMap((one) => useOf(world, ip, one) ?? []);
  return own === undefined ? others : [own, ...others];
}

function useOf(world: World, ip: IP, pod: PodView): { readonly pod: string; readonly keeps: boolean } | undefined {
  const nic = isIpOfPod(ip, pod) ? interfaceOfPort(world, pod, ip.metadata.name) : undefined;
  if (nic === undefined) return undefined;
  // An allocated interface is bound, whatever else is observed.
  return { pod: pod.key, keeps: isAllocated(nic) || keepsIp(world, nic, heldBy(world, nic)) };
}

function retainingStatefulSet(world: World, ip: IP): IpHolder {
  if (ip.spec.podType !== 'StatefulSet') return NO_USER;
  const { podName = '', namespace = '' } = ip.spec;
  const ordinal = ordinalIn(podName);
  if (ordinal === undefined) return NO_USER;
  const name = podName.slice(0, podName.lastIndexOf('-'));
  const key = `${namespace}/${name}`;
  const plan = world.ask(statefulSetPlan, key);
  const uid = ip.metadata.annotations?.[kilnAnnotation.ownerUid];
  if (plan === undefined || (uid !== undefined && uid !== plan.uid) || ordinal < plan.first || ordinal >= plan.end) return NO_USER;
  const selected = selectionsOf({ key, namespace, annotations: plan.annotations });
  const next = {
    key: `${namespace}/${podName}`,
    statefulSet: { statefulSet: name, statefulSetUid: plan.uid, ordinal },
    annotations: plan.annotations,
    networks: selected.ok ? selected.selections : [],
  };
  return isStillUseful(world, ip, next) ? { kind: 'statefulset', statefulSet: key, next } : NO_USER;
}

function retainingMachine(world: World, ip: IP): IpHolder {
  const { podName = '', namespace = '' } = ip.spec;
  const key = `${namespace}/${podName}`;
  const plan = world.settings.keepVmIp ? world.ask(machinePlan, key) : undefined;
  if (plan === undefined) return NO_USER;
  const uid = ip.metadata.annotations?.[kilnAnnotation.ownerUid];
  if (uid !== undefined && plan.uid !== undefined && uid !== plan.uid) return NO_USER;
  const selected = selectionsOf({ key, namespace, annotations: plan.annotations });
  const networks = [...plan.networks, ...(selected.ok ? selected.selections : [])];
  const next = { key, statefulSet: undefined, annotations: plan.annotations, networks };
  return isStillUseful(world, ip, next) ? { kind: 'machine', machine: key, next } : NO_USER;
}

interface StatefulSetPlan {
  readonly uid: string;
  /** Desired ordinals: from `first` to before `end`. */
  readonly first: number;
  readonly end: number;
  /** Annotations of the pod template. */
  readonly annotations: Labels;
}

/** Undefined if there is none, or it is being deleted. */
const statefulSetPlan: Query<StatefulSetPlan | undefined> = defineQuery('statefulset-plan', (world, key) => {
  const set = world.statefulSets.get(key);
  if (set === undefined || set.metadata.deletionTimestamp !== undefined) return undefined;
  const first = set.spec.ordinals?.start ?? 0;
  return {
    uid: set.metadata.uid,
    first,
    end: first + (set.spec.replicas ?? 1),
    annotations: set.spec.template?.metadata?.annotations ?? {},
  };
});

/** The message for an interface that needs an IP object of this name: what the object is for. Undefined if it has no user. */
export function ipOfAnother(world: World, ip: IP): string | undefined {
  const { name } = ip.metadata;
  const user = userOf(ip, holderOf(world, ip));
  return user === undefined
    ? undefined
    : `IP ${name}, which has the name of its port, is for ${user}; ${commandText`kubectl describe ip ${name}`}`;
}

function userOf({ spec }: IP, holder: IpHolder): string | undefined {
  switch (holder.kind) {
    case 'pod':
      return `Pod ${holder.pod}`;
    case 'node':
      return `Node ${holder.node}`;
    case 'statefulset':
      return `StatefulSet ${holder.statefulSet}`;
    case 'machine':
      return `virtual machine ${holder.machine}`;
    case 'reservation':
      return `Pod ${spec.namespace}/${spec.podName}, by its spec.namespace and spec.podName`;
    case 'subnet':
      return `Subnet ${spec.subnet}`;
    case 'none':
      return undefined;
  }
}
