import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Tally } from './tally.ts';

/** Runs a checker such as a compiler, which passes or fails as a whole and says why itself. */
export async function runCheck(name: string, program: string, args: readonly string[]): Promise<Tally> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] });
  const chunks: string[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => chunks.push(text));
  const [code] = (await once(child, 'close')) as [number | null];
  const output = chunks.join('').trimEnd();
  if (code === 0) {
    console.log(`✔ ${name}`);
    return { passed: 1, failures: [], skips: [] };
  }
  console.log(`✖ ${name}`);
  return { passed: 0, failures: [{ name, detail: output }], skips: [] };
}
