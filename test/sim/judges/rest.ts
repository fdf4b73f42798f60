/** Ends faults, lets everything come to rest, and asks every judge. */
import type { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { SimulatedController } from '../cluster/simulated-controller.ts';
import type { Finding, Judges } from './judge.ts';

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

/** Lets everything come to rest. @param lost lost nodes stay lost. @returns what did not come to rest, or nothing */
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
