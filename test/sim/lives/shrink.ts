/**
 * Makes a failing history as short as possible: leaves out steps in ever smaller pieces as long as it still fails in the same way (after
 * delta debugging, Zeller and Hildebrandt 2002), in the end single ones until none can be left out.
 */
import type { Finding } from '../checks/check.ts';
import type { LifeOptions } from './life.ts';
import { replay } from './life.ts';
import type { History, Step } from '../steps/step.ts';

export interface Shrunk {
  readonly history: History;
  readonly findings: readonly Finding[];
  readonly tried: number;
  /** Time ran out before it was as short as possible. */
  readonly cut: boolean;
}

export interface ShrinkLimits {
  /** The most replays. */
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
  /** @returns whether it still fails in the same way */
  const fails = async (steps: readonly Step[], controllers = best.history.controllers): Promise<boolean> => {
    if (over()) return false;
    count.tried++;
    const life = await replay({ ...history, controllers, steps: endingConverged(steps) }, options);
    if (!life.findings.some(({ kind }) => kinds.has(kind))) return false;
    best = { history: { ...life.history }, findings: life.findings };
    return true;
  };
  await fails(history.steps.filter(({ kind }) => kind !== 'converge'));
  await fails(best.history.steps.filter(({ kind }) => kind !== 'fault'));
  if (best.history.controllers > 1) await fails(best.history.steps, 1);
  await shortened(best.history.steps, async (steps) => ((await fails(steps)) ? best.history.steps : undefined), { over });
  return { ...best, tried: count.tried, cut: Date.now() > until };
}

/**
 * Leaves out steps in ever smaller pieces, in the end single ones until none can be left out.
 *
 * @param fails replays these steps. @returns the steps of the failing life, which may end earlier; undefined if it does not fail
 * @param limits `most` replays, or until `over`
 */
export async function shortened<S>(
  steps: readonly S[],
  fails: (steps: readonly S[]) => Promise<readonly S[] | undefined>,
  { most = Infinity, over = () => false }: { readonly most?: number; readonly over?: () => boolean },
): Promise<readonly S[]> {
  let best = steps;
  let left = most;
  const isOver = (): boolean => over() || left <= 0;
  for (let size = Math.ceil(best.length / 2); !isOver();) {
    const before = best.length;
    // Pieces tried before one that was left out are not tried again in this round: of a history of thousands of steps that is most of it.
    for (let at = 0; at < best.length && !isOver();) {
      const tried = best;
      left--;
      best = (await fails([...tried.slice(0, at), ...tried.slice(at + size)])) ?? tried;
      // A convergence left out at the end was appended again.
      if (best === tried || best.length >= tried.length) at += size;
    }
    if (size === 1 && best.length === before) break;
    size = Math.max(1, Math.min(size >> 1, best.length >> 1));
  }
  return best;
}

/** A history must end with a convergence: then the checks run. */
function endingConverged(steps: readonly Step[]): readonly Step[] {
  return steps.at(-1)?.kind === 'converge' ? steps : [...steps, { kind: 'converge' }];
}
