/**
 * Makes a history that fails as short as it can: steps are left out in ever smaller pieces as long as it still fails in the same
 * way (delta debugging, Zeller and Hildebrandt 2002).
 */
import type { Finding } from './judge.ts';
import type { LifeOptions } from './life.ts';
import { replay } from './life.ts';
import type { History, Step } from './step.ts';

export interface Shrunk {
  readonly history: History;
  readonly findings: readonly Finding[];
  readonly tried: number;
  /** The time was up before it was as short as it can be. */
  readonly cut: boolean;
}

export interface ShrinkLimits {
  /** Replays. */
  readonly most: number;
  /** Milliseconds since the epoch. */
  readonly until?: number;
}

export async function shrink(
  history: History,
  findings: readonly Finding[],
  options: LifeOptions,
  { most, until = Infinity }: ShrinkLimits,
): Promise<Shrunk> {
  const kinds = new Set(findings.map(({ kind }) => kind));
  const count = { tried: 0 };
  let best: Pick<Shrunk, 'history' | 'findings'> = { history, findings };
  const over = (): boolean => count.tried >= most || Date.now() > until;
  /** @returns whether it still fails so */
  const fails = async (steps: readonly Step[], controllers = best.history.controllers): Promise<boolean> => {
    if (over()) return false;
    count.tried++;
    const life = await replay({ ...history, controllers, steps: withRest(steps) }, options);
    if (!life.findings.some(({ kind }) => kinds.has(kind))) return false;
    best = { history: { ...life.history }, findings: life.findings };
    return true;
  };
  await fails(history.steps.filter(({ kind }) => kind !== 'rest'));
  await fails(best.history.steps.filter(({ kind }) => kind !== 'fault'));
  if (best.history.controllers > 1) await fails(best.history.steps, 1);
  for (let pieces = 2; !over();) {
    const { steps } = best.history;
    const size = Math.ceil(steps.length / pieces);
    let smaller = false;
    for (let at = 0; at < steps.length && !smaller; at += size) smaller = await fails([...steps.slice(0, at), ...steps.slice(at + size)]);
    if (smaller) pieces = Math.max(2, pieces - 1);
    else if (size <= 1) break;
    else pieces = Math.min(steps.length, pieces * 2);
  }
  return { ...best, tried: count.tried, cut: Date.now() > until };
}

/** It is judged at its end. */
function withRest(steps: readonly Step[]): readonly Step[] {
  return steps.at(-1)?.kind === 'rest' ? steps : [...steps, { kind: 'rest' }];
}
