/** Ends all faults, waits until everything has converged, and runs every judge: a *rest*. */
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { SimulatedController } from '../cluster/simulated-controller.ts';
import type { Finding, Judges } from './judge.ts';

/** Virtual time in which everything must converge: longer than any pause in the product. */
const PATIENCE_MS = 400_000;
/** More writes than this after the last change mean an endless loop. */
const MOST_WRITES = 4_000;
const LOOK_MS = 50;
const CALM_MS = 300;
/**
 * A row that failed, or that another program keeps changing, is retried within half a minute. The longest wait for one that fails each
 * time.
 */
const RESTING_MS = 65_000;
/** Longer than the judges take: a lease that ends within this time ends before they run. */
const SOON_MS = 2_000;

/** @param lost lost nodes stay lost. @returns what is wrong */
export async function judgeAtRest(cluster: SimulatedCluster, judges: Judges, lost = false): Promise<readonly Finding[]> {
  const unrest = await comeToRest(cluster, judges, lost);
  if (unrest.length > 0) return unrest;
  const fresh = cluster.freshController();
  const { controller } = fresh;
  try {
    for (let tries = 0; controller.status.phase === 'starting' || controller.status.phase === 'observing' || !controller.quiet; tries++) {
      if (tries > 3_000)
        return [{ kind: 'never derived', message: `a fresh controller does not come to rest: ${JSON.stringify(controller.status)}` }];
      await cluster.time.runUntil(cluster.time.now + 1);
    }
    const rest = { cluster, fresh: controller, world: controller.world, lost };
    const findings = [...judges].flatMap(([judge, one]) => (one.atRest?.(rest) ?? []).map((finding): Finding => ({ ...finding, judge })));
    return [...cluster.alarms, ...findings];
  } finally {
    fresh.kill();
    cluster.alarms.length = 0;
  }
}

/** Waits until everything has converged. @param lost lost nodes stay lost. @returns what has not converged, or nothing */
async function comeToRest(cluster: SimulatedCluster, judges: Judges, lost: boolean): Promise<readonly Finding[]> {
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
    for (const { name, controller } of cluster.controllers.values()) for (const judge of judges.values()) judge.look?.(name, controller);
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

/** Whether everything has converged. @param restless whether to wait for rows that will be retried */
function isCalm(cluster: SimulatedCluster, restless: boolean): boolean {
  for (const { caughtUp } of cluster.controllers.values()) if (!caughtUp) return false;
  const { leaders } = cluster;
  return leaders.length > 0 && leaders.every((leader) => leader.controller.quiet && !isDueSoon(leader, restless));
}

/** Something is due soon without a further event: a lease ends, a row is retried, an Event is sent. */
function isDueSoon({ controller, clock }: SimulatedController, restless: boolean): boolean {
  const { next } = controller.world.deadlines;
  const { resting, eventsWaiting } = controller.status;
  return (restless && resting + eventsWaiting > 0) || (next !== undefined && next - clock.steadyDate <= SOON_MS);
}
