/** One life of a simulated node: drawn from a seed, or replayed from its steps; ends when something is found. */
import { createHash } from 'node:crypto';
import { type AgentSeams } from '../../../src/agent/agent.ts';
import { nodeRules } from '../../../src/agent/rules/rules.ts';
import type { Finding } from '../cluster/observer.ts';
import { Random } from '../cluster/random.ts';
import { shortened } from '../lives/shrink.ts';
import { NodeJudge } from './judge.ts';
import { SETTINGS } from './simulated-agent.ts';
import { SimulatedNode } from './simulated-node.ts';
import { drawNetworkStep } from './underlay.ts';
import { apply, begin, drawStep, type NodeStep } from './step.ts';

export interface NodeLifeOptions {
  /** Called once for each process. Default: the agent's. */
  readonly rules?: () => AgentSeams['rules'];
  readonly trace?: (line: string) => void;
  /** Draws steps of a ProviderNetwork as well. Default: yes. */
  readonly networks?: boolean;
}

export interface NodeLife {
  readonly seed: number;
  readonly steps: readonly NodeStep[];
  /** Empty if nothing was found. */
  readonly findings: readonly Finding[];
  /** Commands that the simulated node does not know. */
  readonly unknown: readonly string[];
  /** Hash of everything that happened. */
  readonly hash: string;
}

/** Steps between two convergences. */
const PACE = 40;
/** Of the steps that are drawn. */
const NETWORK_SHARE = 0.1;

/** Draws a life of so many steps, and ends it with a convergence without pods. */
export async function drawNode(seed: number, count: number, options: NodeLifeOptions = {}): Promise<NodeLife> {
  const random = new Random(seed);
  const ofNetwork = new Random(seed ^ 0x0e7);
  const draw = (): NodeStep =>
    options.networks !== false && ofNetwork.chance(NETWORK_SHARE) ? drawNetworkStep(ofNetwork) : drawStep(random);
  return lived(
    seed,
    (at) => (at === count ? EMPTY : at > count ? undefined : at % PACE === PACE - 1 ? { do: 'converge' } : draw()),
    options,
  );
}

export async function replayNode(seed: number, steps: readonly NodeStep[], options: NodeLifeOptions = {}): Promise<NodeLife> {
  return lived(seed, (at) => steps[at], options);
}

/** The same finding with as few steps as possible. @param most replays at most */
export async function shrinkNode({ seed, steps, findings }: NodeLife, options: NodeLifeOptions, most: number): Promise<NodeLife> {
  const kinds = new Set(findings.map(({ kind }) => kind));
  let best: NodeLife | undefined;
  await shortened(
    steps,
    async (fewer) => {
      const life = await replayNode(seed, fewer.at(-1)?.do === 'converge' ? fewer : [...fewer, EMPTY], options);
      if (!life.findings.some(({ kind }) => kinds.has(kind))) return undefined;
      best = life;
      return life.steps;
    },
    { most },
  );
  return best ?? (await replayNode(seed, steps, options));
}

const EMPTY: NodeStep = { do: 'converge', empty: true };

async function lived(
  seed: number,
  next: (at: number) => NodeStep | undefined,
  { rules = () => nodeRules(SETTINGS), trace }: NodeLifeOptions,
): Promise<NodeLife> {
  const hash = createHash('sha256');
  const steps: NodeStep[] = [];
  let over = false;
  const node = new SimulatedNode({
    seed,
    rules,
    trace: (line) => {
      if (over) return;
      hash.update(line);
      trace?.(line);
    },
  });
  const judge = new NodeJudge(node);
  const ended = (findings: readonly Finding[]): NodeLife => {
    over = true;
    node.agent?.kill();
    node.lab.stop();
    return { seed, steps, findings, unknown: [...node.programs.unknown], hash: hash.digest('hex').slice(0, 16) };
  };
  const uncaught: Finding[] = [];
  const note = (error: unknown): void =>
    void uncaught.push({ kind: 'thrown', message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
  process.on('uncaughtException', note).on('unhandledRejection', note);
  try {
    node.byHand('node', () => begin(node));
    node.startAgent();
    await node.time.runUntil(500);
    for (let step = next(0); step !== undefined; step = next(steps.length)) {
      steps.push(step);
      trace?.(`${node.time.now.toFixed(3)} ${JSON.stringify(step)}`);
      apply(node, step);
      if (step.do === 'wait') await node.time.runUntil(node.time.now + step.ms);
      const findings = [...(step.do === 'converge' ? await judge.converge(step.empty === true) : judge.take()), ...uncaught];
      if (findings.length > 0) return ended(findings);
    }
    return ended([]);
  } finally {
    process.off('uncaughtException', note).off('unhandledRejection', note);
  }
}
