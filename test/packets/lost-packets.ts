import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import type { RunningPod } from './packet-cluster.ts';

/** Echo requests of a pod for as long as `meanwhile` takes. @returns how many got no answer */
export async function lostWhile(from: RunningPod, to: string, meanwhile: () => Promise<unknown>, periodMs = 50): Promise<number> {
  const [program, ...args] = from.sandbox.namespace.command('ping', '-n', '-q', '-i', String(periodMs / 1_000), to);
  const ping = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  let shown = '';
  ping.stdout.setEncoding('utf8').on('data', (text: string) => (shown += text));
  try {
    await meanwhile();
  } finally {
    ping.kill('SIGINT');
  }
  await once(ping, 'close');
  const [, sent = '', received = ''] = /(\d+) packets transmitted, (\d+) received/.exec(shown) ?? [];
  assert.ok(Number(sent) > 10, shown);
  // The last one may be under way.
  return Math.max(0, Number(sent) - Number(received) - 1);
}
