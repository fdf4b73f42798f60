/**
 * What must hold when all is quiet: the invariants, and that everything which can finish has finished.
 */
import { FINALIZER, kilnAnnotation, POD_CONDITION, podAnnotation } from '../../src/api/well-known.ts';
import type { Violation } from '../../src/invariants/violation.ts';
import { checkInvariants } from '../../src/invariants/check-invariants.ts';
import { isRequest } from '../../src/world/claimants.ts';
import type { World } from '../../src/world/world.ts';
import { notAsWanted } from './as-wanted.ts';
import { builtInsServe } from './built-ins.ts';
import { carriedOut } from './carried-out.ts';
import { withoutFinalizer } from './finalizers.ts';
import { eipsCarriedOut } from './eip-fields.ts';
import { RESTORED } from './draw-broad.ts';
import { unsaid } from './events.ts';
import { heldAsSaid } from './held-as-said.ts';
import { holdsBothWays } from './holds-both-ways.ts';
import { keptInVain } from './kept-in-vain.ts';
import { astray } from './link-owners.ts';
import { objectsSaid } from './object-fields.ts';
import { liesBelieved } from './lies-believed.ts';
import { metricsAtRest } from './metrics-at-rest.ts';
import { namesBorne } from './names-borne.ts';
import { networksApart } from './networks-apart.ts';
import { poolsApart } from './pools-apart.ts';
import { ownedRow } from './reading.ts';
import { refusedInVain } from './refused-in-vain.ts';
import { rowMarks } from './row-marks.ts';
import type { SimulatedCluster } from './simulated-cluster.ts';
import { saidStill } from './said-still.ts';
import { fieldsCarriedOut } from './spec-fields.ts';
import type { SimulatedController } from './simulated-controller.ts';
import { EPOCH } from './virtual-time.ts';

/** Virtual time in which everything must come to rest: longer than any pause in the product. */
const PATIENCE_MS = 400_000;
/** Who writes so often after the last change goes round in circles. */
const MOST_WRITES = 4_000;
const LOOK_MS = 50;
const CALM_MS = 300;
/** A row that was refused, or fought over, is tried again within half a minute; one that is refused each time is waited for so long. */
const RESTING_MS = 65_000;
/** Longer than judging takes: a lease that ends so soon is waited for. */
const SOON_MS = 2_000;

export interface Finding {
  /** Stable between runs and while a history is shortened: what is wrong, not with whom. */
  readonly kind: string;
  readonly message: string;
}

/** Lets everything come to rest. @param lost lost nodes stay lost. @returns what did not come to rest, or nothing */
export async function rest(cluster: SimulatedCluster, lost = false): Promise<readonly Finding[]> {
  const { time } = cluster;
  cluster.quietly = true;
  cluster.ovn.start();
  if (!lost) cluster.workloads.startNodes();
  for (const { clock } of cluster.controllers.values()) if (clock.stopped) clock.continue();
  cluster.api.bookmarks();
  const until = time.now + PATIENCE_MS;
  let calmSince: number | undefined;
  let step = LOOK_MS;
  let revision = -1;
  const begun = cluster.lab.store.revision;
  const begunAt = time.now;
  while (time.now < until && cluster.lab.store.revision - begun < MOST_WRITES) {
    await time.runUntil(time.now + step);
    for (const { name, controller } of cluster.controllers.values()) cluster.promptness.look(name, controller);
    const calm = isCalm(cluster, time.now - begunAt < RESTING_MS) && cluster.lab.store.revision === revision;
    revision = cluster.lab.store.revision;
    if (!calm) calmSince = undefined;
    else calmSince ??= time.now;
    if (calmSince !== undefined && time.now - calmSince >= CALM_MS) return [];
    if (!calm) step = Math.min(step * 1.5, 2_000);
    else step = LOOK_MS * 2;
  }
  const states = [...cluster.controllers.values()].map(({ name, controller }) => `${name}: ${JSON.stringify(controller.status)}`);
  return [
    {
      kind: 'never quiet',
      message: `after ${Math.round((time.now - until + PATIENCE_MS) / 1000)} s without a fault and ${cluster.lab.store.revision - begun} writes still not quiet: ${states.join('; ')}`,
    },
  ];
}

/** @param restless whether what rests, to be tried again, is waited for */
function isCalm(cluster: SimulatedCluster, restless: boolean): boolean {
  for (const { caughtUp } of cluster.controllers.values()) if (!caughtUp) return false;
  const { leaders } = cluster;
  return leaders.length > 0 && leaders.every((leader) => leader.controller.quiet && !isDueSoon(leader, restless));
}

/** Something happens by itself in a moment: a lease ends, a row is tried again, an Event is sent. */
function isDueSoon({ controller, clock }: SimulatedController, restless: boolean): boolean {
  const { next } = controller.world.deadlines;
  const { resting, eventsWaiting } = controller.status;
  return (restless && resting + eventsWaiting > 0) || (next !== undefined && next - clock.steadyDate <= SOON_MS);
}

/** @param lost lost nodes stay lost */
export async function judge(cluster: SimulatedCluster, lost = false): Promise<readonly Finding[]> {
  const unrest = await rest(cluster, lost);
  if (unrest.length > 0) return unrest;
  const judging = cluster.judge();
  const { controller } = judging;
  try {
    for (let tries = 0; !derived(); tries++) {
      if (tries > 3_000)
        return [{ kind: 'judge', message: `a fresh controller does not come to rest: ${JSON.stringify(controller.status)}` }];
      await cluster.time.runUntil(cluster.time.now + 1);
    }
    const { world } = controller;
    const plan = controller.plan();
    const violations = checkInvariants({
      world,
      plan,
      foreign: { before: cluster.foreign.before, after: cluster.foreign.now() },
      log: cluster.log,
    });
    return [
      ...cluster.alarms.map((message): Finding => ({ kind: 'alarm', message })),
      ...violations.filter((one) => !isRestoredAndTold(cluster, world, one) && !isWithoutSwitch(cluster, world, one)).map(found),
      ...unfinished(cluster, world, lost),
      ...silentRequests(world),
      ...cluster.memory.judge(cluster.dateJumped ? undefined : EPOCH + cluster.time.now),
      ...carriedOut(world),
      ...fieldsCarriedOut(world),
      ...saidStill(world),
      ...refusedInVain(world),
      ...networksApart(world),
      ...namesBorne(world),
      ...objectsSaid(world, cluster.linksTouched),
      ...poolsApart(world),
      ...keptInVain(world),
      ...rowMarks(world),
      ...eipsCarriedOut(world),
      ...withoutFinalizer(world),
      ...astray(world, (table) => cluster.ovn.database.rows(table).values()),
      ...holdsBothWays(world),
      ...heldAsSaid(cluster.lab.store, (uid, name, table) => ownedRow(cluster.ovn.database, uid, name, table) !== undefined),
      ...notAsWanted(world, controller.desired, cluster.lab.store, cluster.ovn.database.schema),
      ...metricsAtRest([...cluster.controllers.values()], controller, cluster.lab.store, lastTerm(cluster.log)),
      ...cluster.newcomers.judge().filter(({ message }) => !cluster.tenantsApart.isRefused(/Pod (\S+\/\S+)/.exec(message)?.[1] ?? '')),
      ...cluster.returners.judge(),
      ...cluster.keptMachines.judge(),
      ...cluster.takenPorts.judge(),
      ...cluster.toldInOrder.judge(),
      ...cluster.standing.judge(cluster.leaders[0]?.clock.steadyDate ?? EPOCH + cluster.time.now),
      ...cluster.gateways.judge(world),
      ...cluster.joinedNodes.judge(),
      ...builtInsServe(cluster.lab.store),
      ...cluster.handedOn.judge(),
      ...cluster.latecomers.judge(),
      ...cluster.othersKept.judge(),
      ...cluster.ownWords.judge(),
      ...cluster.setsKept.judge(),
      ...cluster.networksLeft.judge(),
      ...cluster.givenOnce.judge(),
      ...cluster.givenFree.judge(),
      ...liesBelieved(cluster.lab.store, cluster.ovn.database.rows('Logical_Switch_Port').values()),
      ...cluster.askedKept.judge(),
      ...cluster.served.judge(),
      ...(cluster.tenancy === 'open' ? [] : cluster.tenantsApart.judge(cluster.ovn.database.rows('Logical_Switch_Port').values())),
      ...cluster.promptness.judge(),
      ...cluster.driftTold.judge(cluster.terms, (uid, reason) => cluster.isLeftOut(uid, reason)),
      ...unsaid(cluster, controller.facts()),
      ...cluster.conditionChanges.restless(),
      ...cluster.conditionChanges.goneInSilence(cluster),
      // Who begins to lead says once more what was written lately, whether or not that was said.
      ...cluster.conditionChanges.repeated(cluster, cluster.terms - 1),
    ];
  } finally {
    judging.kill();
    cluster.alarms.length = 0;
  }

  function derived(): boolean {
    const { phase } = controller.status;
    return phase !== 'starting' && phase !== 'observing' && controller.quiet;
  }
}

/**
 * A pod whose annotations come from a backup never ran here, and of one that had ended and was set to run by hand Kiln has let go what it had:
 * that it is told why it does not run is enough.
 */
function isRestoredAndTold(cluster: SimulatedCluster, world: World, { invariant, subject }: Violation): boolean {
  const key = subject.replace(/^Pod /, '');
  const pod = cluster.lab.store.get('pods', key)?.metadata;
  if (invariant !== 'I7' || (pod?.labels?.[RESTORED] === undefined && !cluster.memory.hasEnded(pod?.uid))) return false;
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

/** Of the last transaction that a leader sent; who meets a newer one with its next takes another. */
function lastTerm(log: SimulatedCluster['log']): number {
  const last = log.findLast(({ comment }) => comment.startsWith('kiln: term '));
  return Number(/^kiln: term (\d+)/.exec(last?.comment ?? '')?.[1] ?? 0);
}

/** Of no Subnet at all, or of that one. */
const TOLD_OF_NO_SUBNET: ReadonlySet<string> = new Set(['NoSubnet', 'WaitingForSubnet', 'SubnetTerminating']);

function found({ invariant, subject, message }: Violation): Finding {
  return { kind: `${invariant} ${subject.split(' ')[0] ?? ''}`, message: `${invariant}: ${message}` };
}

/** Progress: what can finish has finished. @param lost pods of lost nodes stay, and so do their namespaces */
function unfinished(cluster: SimulatedCluster, world: World, lost: boolean): readonly Finding[] {
  const findings: Finding[] = [];
  for (const table of ['ippools.kubeovn.io', 'pods', 'namespaces', 'nodes']) {
    for (const { metadata } of cluster.lab.store.list(table)) {
      if (metadata.deletionTimestamp === undefined || (lost && (table === 'pods' || table === 'namespaces'))) continue;
      const ours = metadata.finalizers?.includes(FINALIZER) === true;
      if (table === 'ippools.kubeovn.io' ? !ours : table === 'pods' && (metadata.finalizers ?? []).length > 0 && !ours) continue;
      findings.push({
        kind: `progress ${table}`,
        message: `${table} ${metadata.namespace ?? ''}/${metadata.name} is being deleted since ${metadata.deletionTimestamp} and still there`,
      });
    }
  }
  for (const [key, pod] of world.pods.entries()) {
    const { annotations = {}, deletionTimestamp } = pod.metadata;
    if (deletionTimestamp !== undefined || pod.spec.hostNetwork === true || pod.spec.nodeName === undefined) continue;
    const phase = pod.status?.phase ?? 'Pending';
    if (phase === 'Succeeded' || phase === 'Failed' || annotations['ovn.kubernetes.io/allocated'] === 'true') continue;
    const bound = pod.status?.conditions?.find(({ type }) => type === 'kiln.io/NetworkBound');
    if (bound?.status !== 'False' || (bound.message ?? '') === '')
      findings.push({ kind: 'progress bind', message: `Pod ${key} has no address and is not told why: ${JSON.stringify(bound)}` });
    else findings.push(...baseless(world, key, bound.reason ?? '', bound.message ?? ''));
  }
  return findings;
}

/** A pod waits for a Subnet that is there and has addresses. */
function baseless(world: World, key: string, reason: string, message: string): readonly Finding[] {
  if (reason !== 'AddressUnavailable' && reason !== 'SubnetExhausted') return [];
  const name = /Subnet ([\w.-]+)/.exec(message)?.[1];
  const subnet = name === undefined ? undefined : world.subnets.peek(name);
  const free = Number(subnet?.status?.v4availableIPs ?? 0) + Number(subnet?.status?.v6availableIPs ?? 0);
  return free > 0 && subnet?.metadata.deletionTimestamp === undefined && /no free|exhausted|full/.test(message)
    ? [{ kind: 'progress full', message: `Pod ${key} waits (${message}), and Subnet ${name ?? ''} has ${free} free addresses` }]
    : [];
}

/** Who asks for an address to be kept gets it, or is told why not. */
function silentRequests(world: World): readonly Finding[] {
  return [...world.ips.entries()].flatMap(([name, ip]) => {
    const { v4IpAddress = '', v6IpAddress = '' } = ip.spec;
    const asks =
      isRequest(ip) &&
      v4IpAddress === '' &&
      v6IpAddress === '' &&
      ip.metadata.deletionTimestamp === undefined &&
      (ip.spec.subnet ?? '') !== '';
    if (!asks || ip.metadata.annotations?.[kilnAnnotation.conditions]?.includes('"status":"False"') === true) return [];
    return [{ kind: 'progress request', message: `IP ${name} asks for an address, has none, and is not told why` }];
  });
}
