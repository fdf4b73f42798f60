/**
 * Under `npm start`, npm and a shell are the ancestors of this process. npm sends a signal to the shell only, which ends, and an ancestor
 * that is killed sends no signal at all. In both cases this process would continue to run.
 */
import { readFileSync } from 'node:fs';

const LOOK_MS = 500;

/** The parent and grandparent of a process; 0 if there is none or it is unknown. */
export type Ancestors = () => readonly [parent: number, grandparent: number];

export const ownAncestors: Ancestors = () => [process.ppid, parentOf(process.ppid)];

function parentOf(pid: number): number {
  try {
    const [, fields = ''] = /^\d+ \(.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(fields.split(' ')[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Calls `gone` once after npm, or the shell it started, has ended; never if npm did not start this process.
 * @returns a function that stops the watch
 */
export function watchAncestors(gone: () => void, env: NodeJS.ProcessEnv = process.env, ancestors: Ancestors = ownAncestors): () => void {
  if (env['npm_lifecycle_event'] !== 'start') return () => undefined;
  const [parent, grandparent] = ancestors();
  const timer = setInterval(() => {
    const now = ancestors();
    if (now[0] === parent && now[1] === grandparent) return;
    clearInterval(timer);
    gone();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
