/**
 * `npm run chaos -- [--seed N] [--runs N] [--minutes N] [--api real|lab]`. Exit code 0: every invariant held, 1: a history failed (printed
 * with its seed), 2: wrong usage.
 */
import { parseArgs } from 'node:util';
import { reportText, runChaos, seedsFrom } from '../test/chaos/run.ts';

function usage(message: string): never {
  console.error(`${message}\nusage: npm run chaos -- [--seed N] [--runs N] [--minutes N] [--api real|lab]`);
  process.exit(2);
}

function flags(): Readonly<Record<'seed' | 'runs' | 'minutes' | 'api', string | undefined>> {
  const text = { type: 'string' } as const;
  try {
    const { seed, runs, minutes, api } = parseArgs({ options: { seed: text, runs: text, minutes: text, api: text } }).values;
    return { seed, runs, minutes, api };
  } catch (error) {
    return usage(error instanceof Error ? error.message : String(error));
  }
}

function positive(name: string, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const number = Number(value);
  return Number.isFinite(number) && number > 0 ? number : usage(`--${name} "${value}" is not a positive number`);
}

const { seed, runs, minutes, api = 'real' } = flags();
if (api !== 'real' && api !== 'lab') usage(`--api "${api}" is neither real nor lab`);
const forMinutes = positive('minutes', minutes);
const first = Math.floor(positive('seed', seed) ?? Math.random() * 1_000_000_000);
console.log(`chaos from seed ${first} on ${api === 'real' ? 'a real kube-apiserver' : "the laboratory's API server"}`);
const report = await runChaos({
  api,
  seeds: seedsFrom(first),
  runs: Math.floor(positive('runs', runs) ?? (forMinutes === undefined ? 20 : Number.MAX_SAFE_INTEGER)),
  ...(forMinutes === undefined ? {} : { forMs: forMinutes * 60_000 }),
  say: (line) => console.log(line),
});
console.log(`\n${reportText(report)}`);
process.exitCode = report.failures.length === 0 ? 0 : 1;
