import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Tally } from './tally.ts';

/** Runs a checker such as a compiler, which passes or fails as a whole and prints why itself. */
export async function runCheck(name: string, program: string, args: readonly string[], stop: AbortSignal): Promise<Tally> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const end = (): void => void child.kill('SIGKILL');
  stop.addEventListener('abort', end);
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  stop.removeEventListener('abort', end);
  const output = chunks.join('').trimEnd();
  if (code === 0) return { passed: 1, failures: [], skips: [] };
  return { passed: 0, failures: [{ name, detail: output }], skips: [] };
}
