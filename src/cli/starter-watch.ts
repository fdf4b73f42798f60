/**
 * Under `npm start` there are npm and a shell above this process. npm hands a signal to the shell alone, which dies of it, and one that is
 * killed says nothing at all: what they started would be left behind.
 */
import { readFileSync } from 'node:fs';

const LOOK_MS = 500;

/** The processes above one: its parent, and that one's; 0 where there is none or it cannot be known. */
export type Starters = () => readonly [parent: number, grandparent: number];

export const startersOfThis: Starters = () => [process.ppid, parentOf(process.ppid)];

function parentOf(pid: number): number {
  try {
    const [, fields = ''] = /^\d+ \(.*\) (.*)$/s.exec(readFileSync(`/proc/${pid}/stat`, 'utf8')) ?? [];
    return Number(fields.split(' ')[1] ?? 0);
  } catch {
    return 0;
  }
}

/**
 * Calls `gone` once when npm, or the shell it started, has ended; never where npm did not start this process.
 * @returns ends the watch
 */
export function watchStarters(gone: () => void, env: NodeJS.ProcessEnv = process.env, starters: Starters = startersOfThis): () => void {
  if (env['npm_lifecycle_event'] !== 'start') return () => undefined;
  const [parent, grandparent] = starters();
  const timer = setInterval(() => {
    const now = starters();
    if (now[0] === parent && now[1] === grandparent) return;
    clearInterval(timer);
    gone();
  }, LOOK_MS);
  timer.unref();
  return () => clearInterval(timer);
}
