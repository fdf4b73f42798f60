/** Ends all faults, waits until everything has converged, and runs every check. */
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { SimulatedController } from '../cluster/simulated-controller.ts';
import type { Checks, Finding } from './check.ts';

/** Virtual time in which everything must converge: longer than any pause in the product. */
const CONVERGENCE_MS = 400_000;
/** More writes than this after the last change mean an endless loop. */
const MOST_WRITES = 4_000;
const POLL_MS = 50;
/** For so long nothing may change before the cluster counts as converged. */
const STABLE_MS = 300;
/**
 * A row that failed, or that another program keeps changing, is retried within half a minute. The longest wait for one that fails each
 * time.
 */
const RETRY_MS = 65_000;
/** Longer than the checks take: a lease that ends within this time ends before they run. */
const SOON_MS = 2_000;

/** @param lost lost nodes stay lost. @returns what is wrong */
export async function convergeAndCheck(cluster: SimulatedCluster, checks: Checks, lost = false): Promise<readonly Finding[]> {
  const notConverged = await converge(cluster, checks, lost);
  if (notConverged.length > 0) return notConverged;
  const fresh = cluster.freshController();
  const { controller } = fresh;
  try {
    for (let tries = 0; controller.status.phase === 'starting' || controller.status.phase === 'observing' || !controller.quiet; tries++) {
      if (tries > 3_000)
        return [{ kind: 'never derived', message: `a fresh controller does not converge: ${JSON.stringify(controller.status)}` }];
      await cluster.time.runUntil(cluster.time.now + 1);
    }
    const converged = { cluster, fresh: controller, world: controller.world, lost };
    const findings = [...checks].flatMap(([name, check]) =>
      (check.whenConverged?.(converged) ?? []).map((finding): Finding => ({ ...finding, check: name })),
    );
    return [...cluster.alarms, ...findings];
  } finally {
    fresh.kill();
    cluster.alarms.length = 0;
  }
}

/** Waits until everything has converged. @param lost lost nodes stay lost. @returns what has not converged, or nothing */
async function converge(cluster: SimulatedCluster, checks: Checks, lost: boolean): Promise<readonly Finding[]> {
  const { time } = cluster;
  cluster.quietly = true;
  cluster.ovn.start();
  if (!lost) cluster.workloads.startNodes();
  for (const { clock } of cluster.controllers.values()) if (clock.stopped) clock.continue();
  cluster.api.bookmarks();
  const until = time.now + CONVERGENCE_MS;
  let convergedSince: number | undefined;
  let step = POLL_MS;
  let revision = -1;
  const begun = cluster.lab.store.revision;
  const begunAt = time.now;
  while (time.now < until && cluster.lab.store.revision - begun < MOST_WRITES) {
    await time.runUntil(time.now + step);
    for (const { name, controller } of cluster.controllers.values()) for (const check of checks.values()) check.poll?.(name, controller);
    const converged = isConverged(cluster, time.now - begunAt < RETRY_MS) && cluster.lab.store.revision === revision;
    revision = cluster.lab.store.revision;
    if (!converged) convergedSince = undefined;
    else convergedSince ??= time.now;
    if (convergedSince !== undefined && time.now - convergedSince >= STABLE_MS) return [];
    if (!converged) step = Math.min(step * 1.5, 2_000);
    else step = POLL_MS * 2;
  }
  const states = [...cluster.controllers.values()].map(({ name, controller }) => `${name}: ${JSON.stringify(controller.status)}`);
  return [
    {
      kind: 'never converged',
      message: `after ${Math.round((time.now - until + CONVERGENCE_MS) / 1000)} s without a fault and ${cluster.lab.store.revision - begun} writes not converged: ${states.join('; ')}`,
    },
  ];
}

/** Whether everything has converged. @param retries whether to wait for rows that will be retried */
function isConverged(cluster: SimulatedCluster, retries: boolean): boolean {
  for (const { caughtUp } of cluster.controllers.values()) if (!caughtUp) return false;
  const { leaders } = cluster;
  return leaders.length > 0 && leaders.every((leader) => leader.controller.quiet && !isDueSoon(leader, retries));
}

/** Something is due soon without a further event: a lease ends, a row is retried, an Event is sent. */
function isDueSoon({ controller, clock }: SimulatedController, retries: boolean): boolean {
  const { next } = controller.world.deadlines;
  const { rowsInBackoff, eventsWaiting } = controller.status;
  return (retries && rowsInBackoff + eventsWaiting > 0) || (next !== undefined && next - clock.steadyDate <= SOON_MS);
}
