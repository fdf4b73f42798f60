/** The invariants of docs/architecture.md, on the World of a fresh process: it would write nothing, and what it observes is consistent. */
import { POD_CONDITION, podAnnotation } from '../../../src/api/well-known.ts';
import { checkInvariants } from '../../../src/invariants/check-invariants.ts';
import type { Violation } from '../../../src/invariants/violation.ts';
import type { World } from '../../../src/world/world.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { RESTORED } from '../draw/addresses.ts';
import { FORGED_LABEL } from '../draw/forged-annotations.ts';
import type { Finding, ConvergedCluster } from './check.ts';
import { ownedRow } from './observed-state.ts';

/** @param hasEnded whether the containers of the pod with this uid have ended for good at some time */
export function invariants(
  { cluster, fresh, world }: ConvergedCluster,
  hasEnded: (uid: string | undefined) => boolean,
): readonly Finding[] {
  const violations = checkInvariants({
    world,
    plan: fresh.plan(),
    foreign: { before: cluster.foreign.before, after: cluster.foreign.now() },
    log: cluster.log,
  });
  const unproven = unprovenPods(cluster, world, hasEnded);
  return violations.filter((one) => !isOf(unproven, one) && !lostItsSwitch(cluster, world, one)).map(found);
}

/**
 * Pods whose annotations come from a backup or are forged, and pods that had ended and were set to run by hand: their annotations are no
 * proof. For these it is enough that a condition reports why they do not run.
 */
function unprovenPods(
  cluster: SimulatedCluster,
  world: World,
  hasEnded: (uid: string | undefined) => boolean,
): ReadonlyMap<string, readonly string[]> {
  return new Map(
    [...world.pods.entries()].flatMap(([key, { metadata, status }]) => {
      const { uid, annotations = {} } = metadata;
      // The World has no labels of pods.
      const labels = cluster.lab.store.get('pods', key)?.metadata.labels ?? {};
      const reported = status?.conditions?.some(
        ({ type, status: is, message = '' }) => type === POD_CONDITION && is === 'False' && message !== '',
      );
      // A known gap: a waiting pod with an IP object keeps forged annotations. One that got a port, or has neither, was believed.
      const hasIp = world.ips.peek(`${metadata.name}.${metadata.namespace ?? ''}`) !== undefined;
      const isForged = labels[FORGED_LABEL] !== undefined && hasIp && ownedRow(cluster.ovn.database, uid) === undefined;
      const isUnproven = labels[RESTORED] !== undefined || isForged || hasEnded(uid);
      const subnets = Object.keys(annotations).flatMap((name) => (name.endsWith('/logical_switch') ? (annotations[name] ?? '') : []));
      return reported === true && isUnproven ? [[key, subnets] as const] : [];
    }),
  );
}

/** Whether the violation is about such a pod, or about the counts of a Subnet that it names. */
function isOf(pods: ReadonlyMap<string, readonly string[]>, { invariant, subject, message }: Violation): boolean {
  return [...pods].some(([key, subnets]) => {
    const isPod = subject === `Pod ${key}` || new RegExp(`\\bPod ${key}\\b`).test(message);
    return (
      (['I6', 'I7'].includes(invariant) && isPod) || (['I1', 'I2'].includes(invariant) && subnets.includes(subject.replace(/^Subnet /, '')))
    );
  });
}

/**
 * A user deleted the Subnet of a pod, or made its spec invalid, and deleted the switch too: no network is left that the pod could run on,
 * and a condition reports it.
 */
function lostItsSwitch({ deletedSwitches }: SimulatedCluster, world: World, { invariant, subject, message }: Violation): boolean {
  const { metadata, status } = world.pods.peek(subject.replace(/^Pod /, '')) ?? {};
  // With the IP object deleted too, only the pod's own annotation names its Subnet.
  const own = / there is no IP [^.]+\.[^.]+ /.test(message) ? metadata?.annotations?.[podAnnotation('ovn', 'logical_switch')] : undefined;
  const subnet = /its Subnet (\S+) does not exist, and its network does not run/.exec(message)?.[1] ?? own ?? '';
  if (invariant !== 'I7' || !deletedSwitches.has(subnet)) return false;
  const conditions = status?.conditions ?? [];
  return conditions.some(({ type, status, reason }) => type === POD_CONDITION && status === 'False' && WITHOUT_SUBNET.has(reason ?? ''));
}

/** Reasons about no Subnet at all, or about that one. */
const WITHOUT_SUBNET: ReadonlySet<string> = new Set(['NoSubnet', 'WaitingForSubnet', 'SubnetTerminating']);

function found({ invariant, subject, message }: Violation): Finding {
  return { kind: `${invariant} ${subject.split(' ')[0] ?? ''}`, message: `${invariant}: ${message}` };
}
