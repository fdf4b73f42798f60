/**
 * Pods that are bound to another Subnet than the one their namespace has now: a Subnet came later and claimed it. They run on where they
 * are and are told; what else is done about them is a policy of the cluster, which a namespace may change for itself.
 */
import type { IP } from '../../api/ip.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { isReserved } from '../../world/claimants.ts';
import { keysOf } from '../../world/domain.ts';
import { isMisboundPolicy, MISBOUND_POLICIES } from '../../world/settings.ts';
import type { MisboundPolicy } from '../../world/settings.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import { namespaceBinding } from '../namespace/namespace-binding.ts';
import type { ConditionOutput, Output } from '../output.ts';
import type { PodView } from './pod-view.ts';
import { POD_CONDITION } from '../../api/well-known.ts';
import { subnetReady } from '../subnet/subnet-ready.ts';

interface Said {
  readonly uid: string;
  readonly text: string;
}

/** What a namespace says about the policy; undefined where it says nothing. */
const policySaid: Query<Said | undefined> = defineQuery('misbound-policy-said', (world, name) => {
  const metadata = world.namespaces.get(name)?.metadata;
  const text = metadata?.annotations?.[kilnAnnotation.misbound]?.trim();
  return metadata === undefined || text === undefined ? undefined : { uid: metadata.uid, text };
});

/** In force in a namespace: its own word, else the cluster's. */
export function misboundPolicy(world: World, namespace: string): MisboundPolicy {
  const text = world.ask(policySaid, namespace)?.text;
  return text !== undefined && isMisboundPolicy(text) ? text : world.settings.misbound;
}

/** A word that is no policy is told on the namespace. */
export const misboundPolicyCheck: Rule = {
  name: 'misbound-policy',
  over: (world) => keysOf(world.namespaces, ({ metadata }) => metadata.annotations?.[kilnAnnotation.misbound] !== undefined),
  run: (world, name) => {
    const said = world.ask(policySaid, name);
    if (said === undefined || isMisboundPolicy(said.text)) return [];
    return [
      {
        kind: 'notice',
        resource: 'namespaces',
        key: name,
        uid: said.uid,
        type: 'Warning',
        reason: 'InvalidAnnotation',
        message: `Namespace ${name}: annotation ${kilnAnnotation.misbound} "${said.text}" is none of ${MISBOUND_POLICIES.join(', ')}; ${world.settings.misbound} is in force`,
      },
    ];
  },
};

export interface Misbound {
  /** Where the pod is. */
  readonly subnet: string;
  /** Where a new one would be, first choice first. */
  readonly wanted: readonly string[];
  readonly policy: MisboundPolicy;
}

/**
 * Only a pod whose Subnet its namespace decided can be misbound, which its IP object tells: never one that names its Subnet, nor one
 * whose address a user reserved.
 */
export function misboundOf(world: World, pod: PodView, ip: IP | undefined): Misbound | undefined {
  if (ip === undefined || pod.terminating || isReserved(ip)) return undefined;
  if (ip.metadata.annotations?.[kilnAnnotation.subnetFrom] !== FROM_NAMESPACE) return undefined;
  const { subnet = '' } = ip.spec;
  const binding = world.ask(namespaceBinding, pod.namespace);
  if (binding.undecided !== undefined || binding.subnets.length === 0 || binding.subnets.includes(subnet)) return undefined;
  return { subnet, wanted: binding.subnets, policy: misboundPolicy(world, pod.namespace) };
}

/** Value of the annotation on an IP object. */
export const FROM_NAMESPACE = 'namespace';

/**
 * The condition, and with the policy `evict` the eviction: only of a pod that something makes again, and only when the new one can be bound.
 */
export function misboundOutputs(world: World, pod: PodView, { subnet, wanted, policy }: Misbound): readonly Output[] {
  const patch = { kind: 'patch', resource: 'pods', key: pod.key, uid: pod.uid } as const;
  const where = `Pod ${pod.key} has its address from Subnet ${subnet}, and Namespace ${pod.namespace} belongs to ${wanted.join(', ')} since`;
  const condition = (remedy: string): Output => {
    const said: ConditionOutput = {
      type: POD_CONDITION,
      status: 'True',
      reason: 'Misbound',
      message: `${where}; ${remedy}`,
      event: 'Warning',
    };
    return { ...patch, conditions: [said] };
  };
  const byHand = 'a new pod is bound there: delete this one to have it moved';
  if (policy === 'report')
    return [
      condition(
        pod.statefulSet === undefined
          ? byHand
          : `its StatefulSet's pod keeps the address: annotate the Namespace with ${kilnAnnotation.misbound}=rebind, then delete the pod to have it moved`,
      ),
    ];
  if (policy === 'rebind')
    return [condition(pod.managed ? 'the next pod of its owner is bound there: delete this one to have it moved' : byHand)];
  if (!pod.managed) return [condition('it is not evicted, since nothing would make it again')];
  const [first] = wanted;
  const readiness = first === undefined ? undefined : world.ask(subnetReady, first);
  if (readiness?.ready !== true) return [condition(`it is evicted when that is ready: ${readiness?.message ?? ''}`)];
  return [
    condition('it is evicted as soon as its disruption budgets allow'),
    {
      kind: 'evict',
      resource: 'pods',
      key: pod.key,
      uid: pod.uid,
      event: { type: 'Normal', reason: 'MisboundEvicted', message: `${where}; it was evicted so that its owner makes one there` },
    },
  ];
}
