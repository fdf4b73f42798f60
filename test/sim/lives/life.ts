/** One life of a simulated cluster: from its birth through operations and faults, judged whenever it rests. */
import { createHash } from 'node:crypto';
import type { Rule } from '../../../src/compile/compiler.ts';
import { RULES } from '../../../src/compile/rules.ts';
import { carryOut, inflict } from '../steps/apply-step.ts';
import { drawAnew } from '../draw/scenes/anew-lives.ts';
import { drawBroadFault, drawBroadOperation } from '../draw/more-operations.ts';
import { drawCloseCall } from '../draw/close-calls.ts';
import { drawCrowd } from '../draw/crowds.ts';
import { drawFields } from '../draw/scenes/fields.ts';
import { drawFault } from '../draw/faults.ts';
import { drawGap } from '../draw/scenes/gaps.ts';
import { drawLie } from '../draw/forged-annotations.ts';
import { drawAfterRest, drawBeforeRest } from '../draw/scenes/pointed.ts';
import { drawDrift } from '../draw/scenes/drift.ts';
import { drawDeployment, drawScene } from '../draw/scenes/incidents.ts';
import { drawSeldom } from '../draw/scenes/rare.ts';
import { drawSettled } from '../draw/scenes/settled.ts';
import { drawUpkeep } from '../draw/scenes/upkeep.ts';
import { drawOperation, node } from '../draw/operations.ts';
import { drawHeld } from '../draw/scenes/held-lives.ts';
import { drawOverlooked } from '../draw/scenes/overlooked-lives.ts';
import type { Tenancy } from '../../../src/world/settings.ts';
import type { Finding } from '../judges/judge.ts';
import { judgeAtRest } from '../judges/rest.ts';
import { Random } from '../draw/random.ts';
import { isRushed, operationsOf } from '../draw/rush.ts';
import { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import type { History, Step } from '../steps/step.ts';

export type Draws = 'plain' | 'broad' | 'scenes' | 'fields' | 'pointed' | 'seldom' | 'settled' | 'crowds' | 'rush' | 'staged' | 'honest';

export interface LifeOptions {
  /** Only what `draw.ts` draws; that and what `draw-broad.ts` draws; all but what `draw-upkeep.ts` and `draw-fields.ts` draw, all but `draw-pointed.ts` and what came after it, all but `draw-seldom.ts` and that, all but `draw-settled.ts` and that, all but `draw-crowd.ts`, all but lives in a rush, all but the scenes of those, these as they were before they were dense, or all but what `draw-lies.ts` draws. */
  readonly only?: Draws;
  /** Asked for each process. */
  readonly rules?: () => readonly Rule[];
  readonly trace?: (line: string) => void;
  /** Whoever changes what the API server holds fails: processes are given its objects as they are. */
  readonly frozen?: boolean;
  /** Of its controllers; of a history that is done again its own counts. */
  readonly tenancy?: Tenancy;
}

export interface Life {
  readonly history: History;
  readonly operations: number;
  /** Empty where all went well. */
  readonly findings: readonly Finding[];
  /** Of everything that happened: the same for the same history. */
  readonly hash: string;
}

/** Operations between two rests. */
const EPISODE = 150;
const EPISODE_OF_CROWDS = 250;
/** A rest costs as much as some hundred operations of a life in a rush. */
const EPISODE_IN_A_RUSH = { staged: 500, dense: 2_000 } as const;

/** Lives in which most comes in crowds. */
const CROWDED = 1 / 3;
/** Of what else is drawn in those. */
const THIN = 1 / 4;
/** That a step of theirs begins a crowd: one of a tenant's objects, or just the next operations with nothing between. */
const GATHERING = 0.3;

const GATHERING_IN_A_RUSH = { staged: 0.7, dense: 0.9 } as const;
/** Scenes that they play one after the other, before each rest. */
const SCENES_IN_A_RUSH = { staged: 3, dense: 12 } as const;
/** Of what kind: hardly anything else draws fields, upkeep and what is seldom in a life in a rush. */
const STAGE = {
  staged: { settled: 7, held: 4, anew: 4, overlooked: 3, seldom: 2, upkeep: 1, fields: 1, scene: 1 },
  dense: { settled: 7, held: 4, anew: 4, overlooked: 3, seldom: 4, upkeep: 3, fields: 8, scene: 2 },
} as const;
/** The next operations that come with nothing between: five and fewer than so many more. */
const TOGETHER = 30;
const TOGETHER_IN_A_RUSH = [30, 90, 200] as const;

/** Draws of which one life in four has controllers that read their first lists from the API server's cache; all kinds do. */
const FROM_CACHE: ReadonlySet<Draws> = new Set(['settled', 'crowds', 'rush', 'staged', 'honest']);

/** Characters. */
const HASHED_AT_ONCE = 65_536;

/** Draws a life from its seed. */
export async function draw(seed: number, operations: number, options: LifeOptions = {}): Promise<Life> {
  const random = new Random(seed);
  const broad = new Random(seed ^ 0xb20ad);
  const close = new Random(seed ^ 0xc105e);
  const breadth = options.only === 'plain' || broad.chance(0.1) ? 0 : 0.1 + broad.next() * 0.3;
  const controllers = random.chance(0.35) ? 2 : 1;
  const faulty = random.chance(0.8) ? 0.05 + random.next() * 0.2 : 0;
  const scenic = new Random(seed ^ 0x5ce4e);
  const lies = options.only === undefined;
  const dense = lies || options.only === 'honest';
  const pace = dense ? 'dense' : 'staged';
  const stages = dense || options.only === 'staged';
  const rush = stages || options.only === 'rush';
  const crowds = rush || options.only === 'crowds';
  const late = crowds || options.only === 'settled';
  const rare = late || options.only === 'seldom';
  const points = rare || options.only === 'pointed';
  const fields = points || options.only === 'fields';
  const scenes = fields || options.only === 'scenes';
  const scenery = !scenes || scenic.chance(0.15) ? 0 : 0.01 + scenic.next() * 0.03;
  const closeness = !scenes || close.chance(0.3) ? 0 : 0.02 + close.next() * 0.08;
  const keeper = new Random(seed ^ 0x6ee9e2);
  const upkeep = !fields || keeper.chance(0.3) ? 0 : 0.003 + keeper.next() * 0.006;
  const tuner = new Random(seed ^ 0x70e5);
  const tuning = !fields || tuner.chance(0.3) ? 0 : 0.008 + tuner.next() * 0.02;
  const pointer = new Random(seed ^ 0x9017ed);
  const pointed = points && !pointer.chance(0.3) ? 0.9 : 0;
  const seldom = new Random(seed ^ 0x5e1d0);
  const rarely = rare && !seldom.chance(0.3) ? 0.008 + seldom.next() * 0.02 : 0;
  const settler = new Random(seed ^ 0x5e771ed);
  const settled = late && !settler.chance(0.2) ? 0.009 + settler.next() * 0.012 : 0;
  const crowd = new Random(seed ^ 0xc20d5);
  const gathers = crowds && crowd.chance(CROWDED);
  const rushed = rush && isRushed(seed, pace);
  const crowded = gathers || rushed;
  const stage = new Random(seed ^ 0x57a6e);
  const liar = new Random(seed ^ 0x11e5);
  const lying = lies && liar.chance(0.6) ? 0.01 + liar.next() * 0.03 : 0;
  const thin = rushed ? 0 : crowded ? THIN : 1;
  const drifter = new Random(seed ^ 0xd21f7);
  /** At the end of the life, when all has come to rest. */
  let drifting = rush && drifter.chance(0.8);
  const gapper = new Random(seed ^ 0x6a9);
  const gaps = stages && gapper.chance(0.8);
  const episode = rushed && stages ? EPISODE_IN_A_RUSH[pace] : crowded || dense ? EPISODE_OF_CROWDS : EPISODE;
  /** Operations that come with nothing between. */
  let together = 0;
  let left = operationsOf(seed, operations, options.only);
  let untilRest = episode;
  /** A pointed scene was played before the rest that is due. */
  let sharpened = false;
  /** Scenes of a life in a rush that are still to be played before the rest that is due. */
  let staged = stages && rushed ? SCENES_IN_A_RUSH[pace] : 0;
  const scenesBeforeRest = staged;
  let scene: readonly Step[] = [];
  function next(cluster: SimulatedCluster): Step | undefined {
    const [coming, ...rest] = scene;
    if (coming !== undefined) {
      scene = rest;
      if (coming.kind === 'operation') {
        left = Math.max(0, left - 1);
        if (crowded) untilRest = Math.max(0, untilRest - 1);
      }
      if (coming.kind === 'rest') untilRest = episode;
      return coming;
    }
    if (left === 0 && untilRest === episode) {
      if (!drifting) return undefined;
      drifting = false;
      scene = [...drawDrift(drifter), ...(gaps ? drawGap(gapper, cluster) : []), { kind: 'rest' }];
      return next(cluster);
    }
    if (staged > 0 && (left === 0 || untilRest === 0)) {
      staged--;
      scene = drawAny(cluster);
      return next(cluster);
    }
    if ((left === 0 || untilRest === 0) && !sharpened && pointer.chance(pointed)) {
      sharpened = true;
      scene = [...drawBeforeRest(pointer), ...drawBeforeRest(pointer)];
      return next(cluster);
    }
    if (left === 0 || untilRest === 0) {
      untilRest = episode;
      sharpened = false;
      staged = scenesBeforeRest;
      if (left > 0 && scenery > 0 && scenic.chance(0.6)) scene = drawDeployment(scenic);
      if (left > 0 && pointer.chance(pointed / 3)) scene = [...scene, ...drawAfterRest(pointer)];
      if (left > 0 && gaps && gapper.chance(0.7)) scene = [...drawGap(gapper, cluster), ...scene];
      if (left > 0 && drifting && drifter.chance(0.7)) scene = [...drawDrift(drifter), ...scene];
      return { kind: 'rest' };
    }
    if (lying > 0 && liar.chance(lying)) {
      const lie = drawLie(liar, cluster);
      if (lie !== undefined) return { kind: 'operation', ...lie };
    }
    if (together === 0 && crowded && crowd.chance(rushed ? GATHERING_IN_A_RUSH[pace] : GATHERING)) {
      if (crowd.chance(0.5)) together = 5 + crowd.below(dense && rushed ? crowd.pick(TOGETHER_IN_A_RUSH) : TOGETHER);
      else scene = drawCrowd(crowd, cluster);
      if (scene.length > 0) return next(cluster);
    }
    if (together > 0) {
      together--;
      return drawn(cluster);
    }
    if (keeper.chance(upkeep * thin)) {
      scene = drawUpkeep(keeper, cluster);
      return next(cluster);
    }
    if (tuner.chance(tuning * thin)) {
      scene = drawFields(tuner, cluster);
      return next(cluster);
    }
    if (rarely > 0 && seldom.chance(rarely * thin)) {
      scene = drawSeldom(seldom, cluster);
      return next(cluster);
    }
    if (settled > 0 && settler.chance(settled * thin)) {
      scene = drawSettled(settler, cluster);
      return next(cluster);
    }
    if (scenic.chance(scenery * thin)) {
      scene = drawScene(scenic, cluster);
      if (scene.length > 0) return next(cluster);
    }
    if (close.chance(closeness))
      return close.chance(0.25) ? { kind: 'wait', ms: close.pick([2_000, 40_000]) } : { kind: 'fault', ...drawCloseCall(close) };
    if (random.chance(faulty)) return { kind: 'fault', ...(broad.chance(breadth / 2) ? drawBroadFault(broad) : drawFault(random)) };
    if (random.chance(0.15)) return { kind: 'wait', ms: random.pick([0.5, 2, 10, 10, 50, 300]) };
    return drawn(cluster);
  }
  function drawAny(cluster: SimulatedCluster): readonly Step[] {
    switch (stage.weighted(STAGE[pace])) {
      case 'settled':
        return drawSettled(stage, cluster);
      case 'held':
        return drawHeld(stage, cluster);
      case 'anew':
        return drawAnew(stage);
      case 'overlooked':
        return drawOverlooked(stage, cluster);
      case 'seldom':
        return drawSeldom(stage, cluster);
      case 'upkeep':
        return drawUpkeep(stage, cluster);
      case 'fields':
        return drawFields(stage, cluster);
      case 'scene':
        return drawScene(stage, cluster);
    }
  }
  function drawn(cluster: SimulatedCluster): Step {
    left--;
    untilRest--;
    return { kind: 'operation', ...(broad.chance(breadth) ? drawBroadOperation(broad, cluster) : drawOperation(random, cluster)) };
  }
  return lived(seed, controllers, next, options);
}

/** Does a history again. */
export async function replay({ seed, controllers, steps, tenancy }: History, options: LifeOptions = {}): Promise<Life> {
  let at = 0;
  return lived(seed, controllers, () => steps[at++], { ...options, ...(tenancy !== undefined && { tenancy }) });
}

async function lived(
  seed: number,
  controllers: number,
  next: (cluster: SimulatedCluster) => Step | undefined,
  { rules = () => RULES, trace, only, frozen = false, tenancy }: LifeOptions,
): Promise<Life> {
  const hash = createHash('sha256');
  let unhashed = '';
  const steps: Step[] = [];
  let operations = 0;
  let over = false;
  const cluster = new SimulatedCluster({
    seed,
    rules,
    statefulSets: only !== 'plain' && only !== 'broad',
    frozen,
    ...(tenancy !== undefined && { tenancy }),
    listsFromCache: (only === undefined || FROM_CACHE.has(only)) && seed % 4 === 3,
    trace: (line) => {
      if (over) return;
      unhashed += line;
      if (unhashed.length > HASHED_AT_ONCE) {
        hash.update(unhashed);
        unhashed = '';
      }
      trace?.(line);
    },
  });
  const ended = (findings: readonly Finding[]): Life => {
    for (const name of [...cluster.controllers.keys()]) cluster.kill(name);
    cluster.lab.stop();
    over = true;
    return {
      history: { version: 1, seed, controllers, ...(tenancy !== undefined && { tenancy }), steps },
      operations,
      findings,
      hash: hash.update(unhashed).digest('hex').slice(0, 16),
    };
  };
  // What nobody waited for, and was thrown where nobody catches it: a process would have ended by it.
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtException', note).on('unhandledRejection', note);
  try {
    for (const name of ['n0', 'n1']) carryOut(cluster, node(name));
    for (const name of ['a', 'b'].slice(0, controllers)) cluster.start(name);
    await cluster.time.runUntil(200);
    for (let step = next(cluster); step !== undefined; step = next(cluster)) {
      steps.push(step);
      trace?.(`${cluster.time.now.toFixed(3)} ${JSON.stringify(step)}`);
      if (step.kind === 'operation') operations++;
      const findings = await happen(cluster, step);
      if (uncaught.length > 0) return ended(uncaught.map(thrown));
      if (findings.length > 0) return ended(findings);
    }
    return ended([]);
  } catch (error) {
    return ended([thrown(error), ...uncaught.map(thrown)]);
  } finally {
    process.off('uncaughtException', note).off('unhandledRejection', note);
  }
}

function thrown(error: unknown): Finding {
  return { kind: 'thrown', message: `thrown: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}` };
}

/** @returns what is found wrong */
async function happen(cluster: SimulatedCluster, step: Step): Promise<readonly Finding[]> {
  switch (step.kind) {
    case 'operation':
      carryOut(cluster, step);
      return [];
    case 'fault':
      inflict(cluster, step);
      return [];
    case 'wait':
      await cluster.time.runUntil(cluster.time.now + step.ms);
      return [];
    case 'rest':
      return rest(cluster, step.lost === true);
  }
}

async function rest(cluster: SimulatedCluster, lost: boolean): Promise<readonly Finding[]> {
  // Who began to lead with another date does not know which pods were over by that of others: their kubelets say so.
  const findings = await judgeAtRest(cluster, lost && !cluster.dateJumped);
  if (findings.length > 0) return findings;
  for (const judge of cluster.judges.values()) judge.remember?.();
  cluster.quietly = false;
  return [];
}
