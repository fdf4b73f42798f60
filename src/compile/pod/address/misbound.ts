/**
 * Misbound pods: bound to another Subnet than their namespace has now, or outside of its IPPools, since a Subnet claimed the namespace
 * later or pools were bound to it. They keep running and report it. A policy of the cluster, which a namespace can override, decides
 * whether Kiln evicts them.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import type { Finding } from '../../../api/validation/finding.ts';
import { shown } from '../../../api/validation/finding.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import type { Address } from '../../../net/address.ts';
import { parseAddress } from '../../../net/address.ts';
import { heldTexts, isReserved } from '../../../world/claimants.ts';
import { isMisboundPolicy, MISBOUND_POLICIES } from '../../../world/settings.ts';
import type { MisboundPolicy } from '../../../world/settings.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import { ipPoolAddresses, ipPoolSubnet, ipPoolTerminates } from '../../ip/ip-pool-subnet.ts';
import { namespaceBinding } from '../../namespace/namespace-binding.ts';
import type { ConditionOutput, Output } from '../../output.ts';
import type { PodView } from '../view/pod-view.ts';
import { POD_CONDITION } from '../../../api/well-known.ts';
import { subnetReady } from '../../subnet/validity/subnet-ready.ts';
import { subnetView } from '../../subnet/validity/subnet-view.ts';

/** The policy in a namespace's annotation; undefined if it has none. */
const annotatedPolicy: Query<string | undefined> = defineQuery('misbound-policy-annotation', (world, name) =>
  world.namespaces.get(name)?.metadata.annotations?.[kilnAnnotation.misbound]?.trim(),
);

/** The policy in effect in a namespace: its own, else the cluster's. */
export function misboundPolicy(world: World, namespace: string): MisboundPolicy {
  const text = world.ask(annotatedPolicy, namespace);
  return text !== undefined && isMisboundPolicy(text) ? text : world.settings.misbound;
}

/** The finding about a policy that is none; the cluster's is in effect then. Keyed by namespace. */
export const misboundPolicyFinding: Query<Finding | undefined> = defineQuery('misbound-policy-finding', (world, name) => {
  const text = world.ask(annotatedPolicy, name);
  if (text === undefined || isMisboundPolicy(text)) return undefined;
  const rule = `it is one of ${MISBOUND_POLICIES.join(', ')}; ${world.settings.misbound} is in effect`;
  const message = `Namespace ${name}: annotation ${kilnAnnotation.misbound} "${shown(text)}" is none of ${MISBOUND_POLICIES.join(', ')}; ${world.settings.misbound} is in effect`;
  return { code: 'InvalidAnnotation', field: `metadata.annotations[${kilnAnnotation.misbound}]`, value: shown(text), rule, message };
});

export interface Misbound {
  /** The pod's Subnet. */
  readonly subnet: string;
  /** The Subnets of a new pod, in order of preference. */
  readonly desired: readonly string[];
  /** IPPools of a new pod; empty if there are none. */
  readonly pools: readonly string[];
  readonly policy: MisboundPolicy;
}

/**
 * Only a pod whose Subnet was decided by its namespace, as its IP object records, can be misbound; never a pod that requests its Subnet,
 * pool or address, nor one with an address that a user reserved.
 */
export function misboundOf(world: World, pod: PodView, ip: IP | undefined): Misbound | undefined {
  if (ip === undefined || pod.terminating || !decidedByNamespace(ip)) return undefined;
  const { subnet = '' } = ip.spec;
  const { undecided, subnets, poolsInUse } = world.ask(namespaceBinding, pod.namespace);
  const [first] = subnets;
  // Pods get no address of the join Subnet: a new pod would wait.
  if (undecided !== undefined || first === undefined || world.ask(subnetView, first)?.isJoin === true) return undefined;
  if (subnets.includes(subnet) && !isOutsidePools(world, poolsInUse, ip)) return undefined;
  const desired = poolsInUse.length === 0 ? subnets : [...new Set(poolsInUse.map((pool) => world.ask(ipPoolSubnet, pool)))];
  return { subnet, desired, pools: poolsInUse, policy: misboundPolicy(world, pod.namespace) };
}

/** Whether the next pod of a StatefulSet or machine gives up an address outside of the IPPools that its namespace has now. */
export function movesToPool(world: World, namespace: string, ip: IP): boolean {
  if (!decidedByNamespace(ip) || misboundPolicy(world, namespace) === 'report') return false;
  return isOutsidePools(world, world.ask(namespaceBinding, namespace).poolsInUse, ip);
}

function decidedByNamespace(ip: IP): boolean {
  return !isReserved(ip) && ip.metadata.annotations?.[kilnAnnotation.subnetFrom] === FROM_NAMESPACE;
}

/** Each family may be in another pool. A family that no pool has is ignored. */
export function isOutsidePools(world: World, pools: readonly string[], ip: IP): boolean {
  const there = pools.filter((pool) => !world.ask(ipPoolTerminates, pool)).map((pool) => world.ask(ipPoolAddresses, pool));
  const within = (pool: (typeof there)[number], { family, value }: Address): boolean => pool[family].contains(value);
  return heldTexts(ip).some((text) => {
    const address = parseAddress(text);
    return address !== undefined && there.some((pool) => !pool[address.family].isEmpty) && !there.some((pool) => within(pool, address));
  });
}

/** Value of the annotation on an IP object. */
export const FROM_NAMESPACE = 'namespace';

/**
 * The condition, and with policy `evict` the eviction: only if a controller creates the pod again and the new pod can be bound.
 */
export function misboundOutputs(world: World, pod: PodView, { subnet, desired, pools, policy }: Misbound): readonly Output[] {
  const patch = { kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid } as const;
  const now = pools.length === 0 ? `belongs to ${desired.join(', ')}` : `takes its addresses from IPPool ${pools.join(', ')}`;
  const where = `Pod ${pod.key} has its address from Subnet ${subnet}, and Namespace ${pod.namespace} ${now} since`;
  const condition = (remedy: string): Output => {
    const report: ConditionOutput = {
      type: POD_CONDITION,
      status: 'True',
      reason: 'Misbound',
      message: `${where}; ${remedy}`,
      event: 'Warning',
    };
    return { ...patch, conditions: [report] };
  };
  const byHand = 'a new pod is bound there: delete this one to move it';
  if (policy === 'report')
    return [
      condition(
        pod.statefulSet === undefined
          ? byHand
          : `its StatefulSet's pod keeps the address: annotate the Namespace with ${kilnAnnotation.misbound}=rebind, then delete the pod to move it`,
      ),
    ];
  if (policy === 'rebind')
    return [condition(pod.managed ? 'the next pod of its owner is bound there: delete this one to move it' : byHand)];
  if (!pod.managed) return [condition('it is not evicted, since no controller would create it again')];
  const [first] = desired;
  const readiness = first === undefined ? undefined : world.ask(subnetReady, first);
  if (readiness?.ready !== true) return [condition(`it is evicted when that is ready: ${readiness?.message ?? ''}`)];
  if (pools.length > 0 && !pools.some((pool) => hasRoom(world, pool))) return [condition('it is evicted when a pool of them has room')];
  return [
    condition('it is evicted as soon as its disruption budgets allow'),
    {
      kind: 'evict',
      resource: 'pods',
      key: pod.key,
      uid: pod.uid,
      event: { type: 'Normal', reason: 'MisboundEvicted', message: `${where}; it was evicted so that its owner creates one there` },
    },
  ];
}

/** Whether a pool has a free address: without one, no pod gives up its address for it. */
function hasRoom(world: World, pool: string): boolean {
  const usage = world.poolUsage.get(pool);
  return usage !== undefined && (usage.v4.available > 0n || usage.v6.available > 0n);
}
