/** `npm run sim`: runs the simulator; see docs/simulate.md. Exits 0 where all went well, 1 where a life failed, 2 for a wrong command line. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readHistory, writeHistory } from './history-file.ts';
import type { Life } from './life.ts';
import { draw, replay } from './life.ts';
import { shrink } from './shrink.ts';

const HELP = `npm run sim -- [OPTION]...

Draws lives of a simulated cluster from seeds, and judges each whenever it rests.

  --seed N         first seed; each life takes the next (default: from the clock)
  --operations N   operations in all (default 20000)
  --hours H        go on for so long instead
  --life N         operations of one life (default 500)
  --keep-going     do not end with the first life that fails
  --out DIR        where histories of failures go (default .kiln/sim)
  --no-shrink      keep a failing history as it is
  --replay FILE    do one history again
  --trace          print everything that happens
  --help

Exit codes: 0 all went well, 1 a life failed, 2 the command line is wrong.`;

interface Flags {
  readonly seed: number;
  readonly operations: number;
  readonly hours: number | undefined;
  readonly life: number;
  readonly keepGoing: boolean;
  readonly out: string;
  readonly shrink: boolean;
  readonly replay: string | undefined;
  readonly trace: boolean;
}

function flagsOf(args: readonly string[]): Flags | 'help' {
  const { values } = parseArgs({
    args: [...args],
    options: {
      seed: { type: 'string' },
      operations: { type: 'string' },
      hours: { type: 'string' },
      life: { type: 'string' },
      'keep-going': { type: 'boolean' },
      out: { type: 'string' },
      'no-shrink': { type: 'boolean' },
      replay: { type: 'string' },
      trace: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'help';
  const number = (name: 'seed' | 'operations' | 'hours' | 'life', otherwise: number, least: number): number => {
    const text = values[name];
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (!Number.isFinite(value) || value < least || (name !== 'hours' && !Number.isInteger(value)))
      throw new TypeError(`--${name} ${text} is not a number of at least ${least}; see npm run sim -- --help`);
    return value;
  };
  return {
    seed: number('seed', Date.now() % 1_000_000_000, 0),
    operations: number('operations', 20_000, 1),
    hours: values.hours === undefined ? undefined : number('hours', 1, 0),
    life: number('life', 500, 1),
    keepGoing: values['keep-going'] === true,
    out: values.out ?? '.kiln/sim',
    shrink: values['no-shrink'] !== true,
    replay: values.replay,
    trace: values.trace === true,
  };
}

async function report(life: Life, flags: Flags): Promise<void> {
  const { seed } = life.history;
  console.log(`\nseed ${seed} failed after ${life.operations} operations:`);
  const shown = flags.shrink ? await shrink(life.history, life.findings) : { history: life.history, findings: life.findings, tried: 0 };
  for (const { message } of shown.findings.slice(0, 5)) console.log(`  ${message}`);
  mkdirSync(flags.out, { recursive: true });
  const file = join(flags.out, `${seed}.history`);
  writeHistory(file, shown.history);
  console.log(
    `\n${shown.history.steps.length} steps${flags.shrink ? ` (shortened from ${life.history.steps.length} in ${shown.tried} replays)` : ''}:`,
  );
  for (const step of shown.history.steps.slice(0, 60)) console.log(`  ${JSON.stringify(step)}`);
  console.log(`\nnpm run sim -- --replay ${file}`);
}

async function replayOne(file: string, { trace }: Flags): Promise<number> {
  const life = await replay(readHistory(file), trace ? { trace: (line) => console.log(line) } : {});
  for (const { message } of life.findings) console.log(message);
  console.log(`${life.operations} operations, trace ${life.hash}: ${life.findings.length === 0 ? 'all well' : 'failed'}`);
  return life.findings.length === 0 ? 0 : 1;
}

async function run(flags: Flags): Promise<number> {
  const begun = performance.now();
  const until = flags.hours === undefined ? Infinity : begun + flags.hours * 3_600_000;
  let operations = 0;
  let lives = 0;
  let failed = 0;
  for (let seed = flags.seed; performance.now() < until && (flags.hours !== undefined || operations < flags.operations); seed++) {
    const life = await draw(seed, flags.life, flags.trace ? { trace: (line) => console.log(line) } : {});
    operations += life.operations;
    lives++;
    if (life.findings.length === 0) continue;
    failed++;
    await report(life, flags);
    if (!flags.keepGoing) break;
  }
  const seconds = (performance.now() - begun) / 1000;
  console.log(
    `${operations} operations in ${lives} lives from seed ${flags.seed}: ${failed} failed; ${Math.round(operations / seconds)} operations a second`,
  );
  return failed === 0 ? 0 : 1;
}

try {
  const flags = flagsOf(process.argv.slice(2));
  if (flags === 'help') console.log(HELP);
  else process.exitCode = flags.replay === undefined ? await run(flags) : await replayOne(flags.replay, flags);
} catch (error) {
  if (!(error instanceof TypeError) && !(error instanceof Error && 'code' in error)) throw error;
  console.error(error.message);
  process.exitCode = 2;
}
