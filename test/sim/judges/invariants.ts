/** The invariants of docs/architecture.md, on a world that a fresh process has derived: it would write nothing, and what it sees fits together. */
import { POD_CONDITION, podAnnotation } from '../../../src/api/well-known.ts';
import { checkInvariants } from '../../../src/invariants/check-invariants.ts';
import type { Violation } from '../../../src/invariants/violation.ts';
import type { World } from '../../../src/world/world.ts';
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { RESTORED } from '../draw/addresses.ts';
import { LIES } from '../draw/forged-annotations.ts';
import type { Finding, Rest } from './judge.ts';

/** @param hasEnded whether the containers of the pod with this uid have ended for good at some time */
export function invariants({ cluster, fresh, world }: Rest, hasEnded: (uid: string | undefined) => boolean): readonly Finding[] {
  const violations = checkInvariants({
    world,
    plan: fresh.plan(),
    foreign: { before: cluster.foreign.before, after: cluster.foreign.now() },
    log: cluster.log,
  });
  return violations
    .filter((one) => !isRestoredAndTold(cluster, world, one, hasEnded) && !isWithoutSwitch(cluster, world, one) && !isForged(world, one))
    .map(found);
}

/**
 * A pod whose annotations come from a backup never ran here, and of one that had ended and was set to run by hand Kiln has let go what it had:
 * that it is told why it does not run is enough.
 */
function isRestoredAndTold(
  cluster: SimulatedCluster,
  world: World,
  { invariant, subject }: Violation,
  hasEnded: (uid: string | undefined) => boolean,
): boolean {
  const key = subject.replace(/^Pod /, '');
  const pod = cluster.lab.store.get('pods', key)?.metadata;
  if (invariant !== 'I7' || (pod?.labels?.[RESTORED] === undefined && !hasEnded(pod?.uid))) return false;
  const conditions = world.pods.peek(key)?.status?.conditions ?? [];
  return conditions.some(({ type, status, message = '' }) => type === POD_CONDITION && status === 'False' && message !== '');
}

/**
 * Somebody took away the Subnet of a pod, or edited it so that it is refused, and took the switch away as well: there is nothing left that
 * could run on, and the pod is told.
 */
function isWithoutSwitch({ switchesTaken }: SimulatedCluster, world: World, { invariant, subject, message }: Violation): boolean {
  const { metadata, status } = world.pods.peek(subject.replace(/^Pod /, '')) ?? {};
  // With the IP object taken away too, nothing but the pod's own annotation says where it was.
  const own = / there is no IP [^.]+\.[^.]+ /.test(message) ? metadata?.annotations?.[podAnnotation('ovn', 'logical_switch')] : undefined;
  const subnet = /its Subnet (\S+) does not exist, and its network does not run/.exec(message)?.[1] ?? own ?? '';
  if (invariant !== 'I7' || !switchesTaken.has(subnet)) return false;
  const conditions = status?.conditions ?? [];
  return conditions.some(({ type, status, reason }) => type === POD_CONDITION && status === 'False' && TOLD_OF_NO_SUBNET.has(reason ?? ''));
}

/** Open (docs/simulator-record.md): a pod that has an IP object and waits for its switch keeps forged annotations until the switch is there; it has no port meanwhile. */
function isForged(world: World, { invariant, subject, message }: Violation): boolean {
  const { metadata, status } = world.pods.peek(subject.replace(/^Pod /, '')) ?? {};
  const isReported = status?.conditions?.some(({ type, status: is }) => type === POD_CONDITION && is === 'False') === true;
  return invariant === 'I7' && metadata?.labels?.[LIES] === 'true' && isReported && /it says .*, and IP .* says/.test(message);
}

/** Of no Subnet at all, or of that one. */
const TOLD_OF_NO_SUBNET: ReadonlySet<string> = new Set(['NoSubnet', 'WaitingForSubnet', 'SubnetTerminating']);

function found({ invariant, subject, message }: Violation): Finding {
  return { kind: `${invariant} ${subject.split(' ')[0] ?? ''}`, message: `${invariant}: ${message}` };
}
