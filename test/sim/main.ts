/** `npm run sim`: runs the simulator; see docs/simulate.md. Exit code 0: nothing was found, 1: a life failed, 2: a wrong command line. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Flags } from './command-line.ts';
import { flagsOf, HELP } from './command-line.ts';
import { readHistory, writeHistory } from './steps/history-file.ts';
import type { LifeOrder, LifeReport } from './lives/lives.ts';
import { drawLives } from './lives/lives.ts';

/** The most replays to shorten a failing history. */
const SHRINK = 400;
/** How long shortening may go on after the given time. */
const SHRINK_BEYOND_MS = 30_000;
/** The time for drawing one life and shortening it. */
const SHRINK_MS = 180_000;
const PROGRESS_MS = 60_000;

function printFailure({ order: { seed }, operations, messages, steps, history, tried, cut }: LifeReport, flags: Flags): void {
  console.log(`\nseed ${seed} failed${history === undefined ? '' : ` after ${operations} operations`}:`);
  for (const message of messages.slice(0, 5)) console.log(`  ${message}`);
  if (history === undefined) {
    const tenancy = `${flags.namespaced ? ' --namespaced' : ''}${flags.neighbours ? ' --neighbours' : ''}`;
    console.log(`\nnpm run sim -- --seed ${seed} --operations ${flags.life} --life ${flags.life}${tenancy} --trace`);
    return;
  }
  mkdirSync(flags.out, { recursive: true });
  const file = join(flags.out, `${seed}.history`);
  writeHistory(file, history);
  const upTo = cut === true ? '; the time was up: it may not be as short as possible' : '';
  console.log(`\n${history.steps.length} steps${flags.shrink ? ` (shortened from ${steps} in ${tried} replays${upTo})` : ''}:`);
  for (const step of history.steps.slice(0, 60)) console.log(`  ${JSON.stringify(step)}`);
  console.log(`\nnpm run sim -- --replay ${file}`);
}

async function replayOne(file: string, { trace }: Flags): Promise<number> {
  const { replay } = await import('./lives/life.ts');
  const life = await replay(readHistory(file), trace ? { trace: (line) => console.log(line) } : {});
  for (const { message } of life.findings) console.log(message);
  console.log(`${life.operations} operations, trace ${life.hash}: ${life.findings.length === 0 ? 'no finding' : 'failed'}`);
  return life.findings.length === 0 ? 0 : 1;
}

async function run(flags: Flags): Promise<number> {
  const startedAt = performance.now();
  let ordered = 0;
  let operations = 0;
  let lives = 0;
  let failed = 0;
  const shrinkUntil = flags.forMs === undefined ? Infinity : Date.now() + flags.forMs + SHRINK_BEYOND_MS;
  let stopped = false;
  const stop = (): void => {
    stopped = true;
    console.error('no further life begins; those under way run to their end (once more: all end at once)');
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, stop);
  const progress = setInterval(() => {
    console.error(
      `${Math.round((performance.now() - startedAt) / 60_000)} min: ${operations} operations in ${lives} lives, ${failed} failed`,
    );
  }, PROGRESS_MS);
  console.error(`lives from seed ${flags.seed}, ${flags.workers} at a time`);
  function* orders(): Generator<LifeOrder> {
    const isTime = (): boolean =>
      flags.forMs === undefined ? ordered < flags.operations : ordered === 0 || performance.now() - startedAt < flags.forMs;
    for (let { seed } = flags; isTime(); seed++) {
      if (stopped || (failed > 0 && !flags.keepGoing)) return;
      ordered += flags.life;
      yield {
        seed,
        operations: flags.life,
        ...(flags.namespaced && { tenancy: 'namespaced' as const }),
        ...((flags.neighbours || seed % 3 === 0) && { neighbours: true }),
        shrink: flags.shrink ? SHRINK : 0,
        shrinkUntil: Math.min(shrinkUntil, Date.now() + SHRINK_MS),
      };
    }
  }
  const take = (report: LifeReport): void => {
    operations += report.operations;
    lives++;
    if (report.messages.length === 0) return;
    failed++;
    printFailure(report, flags);
  };
  if (flags.trace) {
    const { drawnLife } = await import('./lives/ordered-life.ts');
    for (const order of orders()) take(await drawnLife(order, (line) => console.log(line)));
  } else await drawLives(orders(), take, flags.workers);
  clearInterval(progress);
  const seconds = (performance.now() - startedAt) / 1000;
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
