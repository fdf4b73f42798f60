/** One life of a simulated cluster: from its start through operations and faults, with all checks after each convergence. */
import { createHash } from 'node:crypto';
import type { Rule } from '../../../src/compile/rule.ts';
import { RULES } from '../../../src/compile/rules.ts';
import type { Tenancy } from '../../../src/world/settings.ts';
import { SimulatedCluster } from '../cluster/simulated-cluster.ts';
import { LifeDraw } from '../draw/life.ts';
import { node } from '../draw/objects.ts';
import type { Finding, Checks } from '../checks/check.ts';
import { checksOf } from '../checks/checks.ts';
import { convergeAndCheck } from '../checks/convergence.ts';
import { applyOperation, injectFault } from '../steps/apply-step.ts';
import type { History, Step } from '../steps/step.ts';

export interface LifeOptions {
  /** Called once for each process. */
  readonly rules?: () => readonly Rule[];
  readonly trace?: (line: string) => void;
  /** Processes get the API server's own objects, frozen: code that changes one throws. */
  readonly frozen?: boolean;
  /** The tenancy of its controllers; a replayed history has its own. */
  readonly tenancy?: Tenancy;
  /** Rows of other programs are in the database; a replayed history has its own. */
  readonly neighbours?: boolean;
}

export interface Life {
  readonly history: History;
  readonly operations: number;
  /** Empty if nothing was found. */
  readonly findings: readonly Finding[];
  /** Hash of everything that happened: the same for the same history. */
  readonly hash: string;
}

/** In characters. */
const HASHED_AT_ONCE = 65_536;

/** Draws a life from its seed. */
export async function draw(seed: number, operations: number, options: LifeOptions = {}): Promise<Life> {
  const drawn = new LifeDraw(seed, operations);
  return lived(seed, drawn.controllers, (cluster) => drawn.next(cluster), options);
}

/** Replays a history. */
export async function replay({ seed, controllers, steps, tenancy, neighbours }: History, options: LifeOptions = {}): Promise<Life> {
  let at = 0;
  return lived(seed, controllers, () => steps[at++], {
    ...options,
    ...(tenancy !== undefined && { tenancy }),
    ...(neighbours !== undefined && { neighbours }),
  });
}

async function lived(
  seed: number,
  controllers: number,
  next: (cluster: SimulatedCluster) => Step | undefined,
  { rules = () => RULES, trace, frozen = false, tenancy, neighbours }: LifeOptions,
): Promise<Life> {
  const hash = createHash('sha256');
  let unhashed = '';
  const steps: Step[] = [];
  let operations = 0;
  let over = false;
  const cluster = new SimulatedCluster({
    seed,
    rules,
    frozen,
    ...(tenancy !== undefined && { tenancy }),
    ...(neighbours !== undefined && { neighbours }),
    listsFromCache: seed % 4 === 3,
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
  const checks = checksOf(cluster);
  cluster.observe(checks);
  const ended = (findings: readonly Finding[]): Life => {
    for (const name of [...cluster.controllers.keys()]) cluster.kill(name);
    cluster.lab.stop();
    over = true;
    return {
      history: {
        version: 1,
        seed,
        controllers,
        ...(tenancy !== undefined && { tenancy }),
        ...(neighbours !== undefined && { neighbours }),
        steps,
      },
      operations,
      findings,
      hash: hash.update(unhashed).digest('hex').slice(0, 16),
    };
  };
  // A rejection or an error that nothing catches: a real process would end.
  const uncaught: unknown[] = [];
  const note = (error: unknown): void => void uncaught.push(error);
  process.on('uncaughtException', note).on('unhandledRejection', note);
  try {
    for (const name of ['n0', 'n1']) applyOperation(cluster, node(name));
    for (const name of ['a', 'b'].slice(0, controllers)) cluster.start(name);
    await cluster.time.runUntil(200);
    for (let step = next(cluster); step !== undefined; step = next(cluster)) {
      steps.push(step);
      trace?.(`${cluster.time.now.toFixed(3)} ${JSON.stringify(step)}`);
      if (step.kind === 'operation') operations++;
      const findings = await happen(cluster, checks, step);
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
async function happen(cluster: SimulatedCluster, checks: Checks, step: Step): Promise<readonly Finding[]> {
  switch (step.kind) {
    case 'operation':
      applyOperation(cluster, step);
      return [];
    case 'fault':
      injectFault(cluster, step);
      return [];
    case 'wait':
      await cluster.time.runUntil(cluster.time.now + step.ms);
      return [];
    case 'converge':
      return convergeStep(cluster, checks, step.lost === true);
  }
}

async function convergeStep(cluster: SimulatedCluster, checks: Checks, lost: boolean): Promise<readonly Finding[]> {
  // A leader with another date does not know which pods are over by the date of others: their kubelets are started to confirm it.
  const findings = await convergeAndCheck(cluster, checks, lost && !cluster.dateJumped);
  if (findings.length > 0) return findings;
  for (const check of checks.values()) check.baseline?.();
  cluster.quietly = false;
  return [];
}
