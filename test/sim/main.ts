/** `npm run sim`: runs the simulator; see docs/simulate.md. Exits 0 where all went well, 1 where a life failed, 2 for a wrong command line. */
import { mkdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { readHistory, writeHistory } from './history-file.ts';
import type { Draws } from './life.ts';
import type { LifeOrder, LifeReport } from './lives.ts';
import { drawLives } from './lives.ts';

const HELP = `npm run sim -- [OPTION]...

Draws lives of a simulated cluster from seeds, on all cores, and judges each whenever it rests.

  --seed N         first seed; each life takes the next (default: from the clock)
  --operations N   operations in all (default 100000)
  --minutes M      begin lives for so long instead; --hours H likewise. What is
                   found is made short for at most half a minute beyond that
  --life N         operations of one life (default 500)
  --workers N      lives at a time (default: as many as there are cores)
  --plain          only what draw.ts draws, without what came later (some pinned seeds)
  --broad          only that and what draw-broad.ts draws (likewise)
  --scenes         all but what draw-upkeep.ts, draw-fields.ts and draw-pointed.ts draw (likewise)
  --fields         all but what draw-pointed.ts, draw-seldom.ts, draw-settled.ts and
                   draw-crowd.ts draw (likewise)
  --pointed        all but what draw-seldom.ts, draw-settled.ts and draw-crowd.ts draw (likewise)
  --seldom         all but what draw-settled.ts and draw-crowd.ts draw (likewise)
  --settled        all but what draw-crowd.ts draws (likewise)
  --crowds         all but lives in a rush (likewise)
  --rush           all but scenes in these (likewise)
  --keep-going     do not end with the first life that fails
  --out DIR        where histories of failures go (default .kiln/sim)
  --no-shrink      keep a failing history as it is
  --replay FILE    do one history again
  --trace          print everything that happens; one life at a time
  --help

Each minute it says on standard error how far it is. Ctrl-C lets lives under way end and says what ran; once more ends it at once.

Exit codes: 0 all went well, 1 a life failed, 2 the command line is wrong.`;

interface Flags {
  readonly seed: number;
  readonly operations: number;
  /** Undefined: until the operations are done. */
  readonly forMs: number | undefined;
  readonly life: number;
  readonly workers: number;
  readonly only: Draws | undefined;
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
      minutes: { type: 'string' },
      life: { type: 'string' },
      workers: { type: 'string' },
      plain: { type: 'boolean' },
      broad: { type: 'boolean' },
      scenes: { type: 'boolean' },
      fields: { type: 'boolean' },
      pointed: { type: 'boolean' },
      seldom: { type: 'boolean' },
      settled: { type: 'boolean' },
      crowds: { type: 'boolean' },
      rush: { type: 'boolean' },
      'keep-going': { type: 'boolean' },
      out: { type: 'string' },
      'no-shrink': { type: 'boolean' },
      replay: { type: 'string' },
      trace: { type: 'boolean' },
      help: { type: 'boolean' },
    },
  });
  if (values.help === true) return 'help';
  const number = (name: 'seed' | 'operations' | 'hours' | 'minutes' | 'life' | 'workers', otherwise: number, least: number): number => {
    const text = values[name];
    if (text === undefined) return otherwise;
    const value = Number(text);
    if (!Number.isFinite(value) || value < least || (name !== 'hours' && name !== 'minutes' && !Number.isInteger(value)))
      throw new TypeError(`--${name} ${text} is not a number of at least ${least}; see npm run sim -- --help`);
    return value;
  };
  const timed = values.hours !== undefined || values.minutes !== undefined;
  return {
    seed: number('seed', Date.now() % 1_000_000_000, 0),
    operations: number('operations', 100_000, 1),
    forMs: timed ? number('hours', 0, 0) * 3_600_000 + number('minutes', 0, 0) * 60_000 : undefined,
    life: number('life', 500, 1),
    workers: values.trace === true ? 1 : number('workers', availableParallelism(), 1),
    only: (['plain', 'broad', 'scenes', 'fields', 'pointed', 'seldom', 'settled', 'crowds', 'rush'] as const).find(
      (draws) => values[draws] === true,
    ),
    keepGoing: values['keep-going'] === true,
    out: values.out ?? '.kiln/sim',
    shrink: values['no-shrink'] !== true,
    replay: values.replay,
    trace: values.trace === true,
  };
}

/** Replays at most to make a failure short. */
const SHRINK = 400;
/** After the time that was given. */
const SHRINK_BEYOND_MS = 30_000;
const SAID_EACH_MS = 60_000;

function tell({ order: { seed }, operations, messages, steps, history, tried, cut }: LifeReport, flags: Flags): void {
  console.log(`\nseed ${seed} failed${history === undefined ? '' : ` after ${operations} operations`}:`);
  for (const message of messages.slice(0, 5)) console.log(`  ${message}`);
  if (history === undefined) {
    const only = flags.only === undefined ? '' : ` --${flags.only}`;
    console.log(`\nnpm run sim -- --seed ${seed} --operations ${flags.life} --life ${flags.life}${only} --trace`);
    return;
  }
  mkdirSync(flags.out, { recursive: true });
  const file = join(flags.out, `${seed}.history`);
  writeHistory(file, history);
  const upTo = cut === true ? '; the time was up, so it may be made shorter yet' : '';
  console.log(`\n${history.steps.length} steps${flags.shrink ? ` (shortened from ${steps} in ${tried} replays${upTo})` : ''}:`);
  for (const step of history.steps.slice(0, 60)) console.log(`  ${JSON.stringify(step)}`);
  console.log(`\nnpm run sim -- --replay ${file}`);
}

async function replayOne(file: string, { trace, only }: Flags): Promise<number> {
  const { replay } = await import('./life.ts');
  const draws = only === undefined ? {} : { only };
  const life = await replay(readHistory(file), trace ? { ...draws, trace: (line) => console.log(line) } : draws);
  for (const { message } of life.findings) console.log(message);
  console.log(`${life.operations} operations, trace ${life.hash}: ${life.findings.length === 0 ? 'all well' : 'failed'}`);
  return life.findings.length === 0 ? 0 : 1;
}

async function run(flags: Flags): Promise<number> {
  const begun = performance.now();
  let ordered = 0;
  let operations = 0;
  let lives = 0;
  let failed = 0;
  const shrinkUntil = flags.forMs === undefined ? {} : { shrinkUntil: Date.now() + flags.forMs + SHRINK_BEYOND_MS };
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    console.error('no further life begins; those under way are lived to their end (once more: ended at once)');
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const said = setInterval(() => {
    console.error(`${Math.round((performance.now() - begun) / 60_000)} min: ${operations} operations in ${lives} lives, ${failed} failed`);
  }, SAID_EACH_MS);
  console.error(`lives from seed ${flags.seed}, ${flags.workers} at a time`);
  function* orders(): Generator<LifeOrder> {
    for (let { seed } = flags; flags.forMs === undefined ? ordered < flags.operations : performance.now() - begun < flags.forMs; seed++) {
      if (stopped || (failed > 0 && !flags.keepGoing)) return;
      ordered += flags.life;
      yield { seed, operations: flags.life, ...(flags.only && { only: flags.only }), shrink: flags.shrink ? SHRINK : 0, ...shrinkUntil };
    }
  }
  const take = (report: LifeReport): void => {
    operations += report.operations;
    lives++;
    if (report.messages.length === 0) return;
    failed++;
    tell(report, flags);
  };
  if (flags.trace) {
    const { drawnLife } = await import('./drawn-life.ts');
    for (const order of orders()) take(await drawnLife(order, (line) => console.log(line)));
  } else await drawLives(orders(), take, flags.workers);
  clearInterval(said);
  const seconds = (performance.now() - begun) / 1000;
  const { user, system } = process.cpuUsage();
  console.log(
    `${operations} operations in ${lives} lives from seed ${flags.seed}: ${failed} failed; ` +
      `${Math.round(operations / seconds)} operations a second, ${((user + system) / 1_000 / Math.max(1, operations)).toFixed(2)} ms of CPU each`,
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
