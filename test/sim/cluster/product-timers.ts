/**
 * What a controller changes because of a timer, and rightly: all other timers make up for a failure, watch over something, or end what was
 * waited for in vain, and nothing is to come about by them alone.
 */

/** By file of `src` and function. */
interface TimerSite {
  readonly file: string;
  readonly function: string;
}

/** Up to a second, so that what comes together goes together: what is done then is done because of what came. */
const MOST_GATHERED_MS = 1_000;
export const GATHER: readonly TimerSite[] = [
  // Between two transactions.
  { file: 'src/commit/send-pause.ts', function: '#pause' },
  // A row that another program changes as often as it is put right.
  { file: 'src/commit/row-retries.ts', function: '#rest' },
  // A term that another program writes over as often as it is put right.
  { file: 'src/commit/term-repair.ts', function: '#rest' },
  // Counts of a Subnet that has just told some.
  { file: 'src/controller/controller.ts', function: '#publishUsage' },
  // Between two writes of a Subnet's status.
  { file: 'src/commit/status-pace.ts', function: 'waits' },
  // Behind writes that pods wait for.
  { file: 'src/kube/kube-writer.ts', function: '#awaitHeld' },
  // Pods that a leader which listed from a cache of the API server waits for.
  { file: 'src/controller/leadership/catch-up.ts', function: '#awaitPods' },
];

export const BY_TIME: readonly TimerSite[] = [
  // A moment that an object names: the end of a lease, or of a pod's time to end. Rules know no other.
  { file: 'src/controller/time/deadline-timer.ts', function: 'set' },
  // An object that was written too often lately.
  { file: 'src/kube/kube-writer.ts', function: '#schedule' },
  // A pod that was asked to leave may be kept by its disruption budget, which nobody follows.
  { file: 'src/commit/write-delays.ts', function: '#evictionTurn' },
  // An answer to a write was ahead of the watch for so long: the kind is listed again.
  { file: 'src/controller/reading/answers-ahead.ts', function: 'met' },
  // What a list lacks, and nobody saw go, is looked for a second time after this.
  { file: 'src/kube/full-list.ts', function: '#confirmAbsences' },
  { file: 'src/controller/start/first-lists.ts', function: 'look' },
  // Somebody wrote the row of the term in the same moment.
  { file: 'src/controller/leadership/leadership.ts', function: '#raiseLater' },
  // Another process took a newer term and does not lead: that is known when this one's Lease has lasted its whole time since.
  { file: 'src/controller/leadership/leadership.ts', function: 'depose' },
  // The wait after a failure, cut short because the server has answered somebody else: what is told just then is nothing that failed.
  { file: 'src/kube/retry-delay.ts', function: '#comeBack' },
  // A connection to the database ended.
  { file: 'src/ovsdb/session.ts', function: '#down' },
];

/** Frames enough to leave the simulation's own (this function, and how a `ProcessClock` sets it) and those that pass on (`sleep` is three of them). */
const FRAMES = 6;

/** Which function sets a timer just now, also where the stacks of errors are left out. @returns to be asked later: most timers nobody asks */
export function siteHere(): () => string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const here = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  let site: string | undefined;
  return () => (site ??= siteOf(here));
}

/** Read frame by frame: a stack in words takes longer than all else that a timer does. */
function siteOf(here: Error): string {
  const stacks: { prepareStackTrace?: unknown } = Error;
  const words = stacks.prepareStackTrace;
  let site = '';
  stacks.prepareStackTrace = (_here: Error, frames: readonly NodeJS.CallSite[]): void => {
    site = innermost(frames);
  };
  void here.stack;
  stacks.prepareStackTrace = words;
  return site;
}

/** The innermost of the product's own functions, behind those that only pass a timer on. @returns `<file> <function>` */
function innermost(frames: readonly NodeJS.CallSite[]): string {
  for (const frame of frames) {
    const file = inProduct(frame.getFileName() ?? '');
    if (file !== '' && !PASS_ON.has(file)) return `${file} ${frame.getFunctionName() ?? ''}`;
  }
  return 'somewhere';
}

const inProductOf = new Map<string, string>();

/** @returns `src/…` or `lab/…`, or nothing for a file of the simulation */
function inProduct(url: string): string {
  let file = inProductOf.get(url);
  if (file === undefined) inProductOf.set(url, (file = /^file:.*\/((?:src|lab)\/[^:]+)$/.exec(url)?.[1] ?? ''));
  return file;
}

const PASS_ON: ReadonlySet<string> = new Set(['src/timing/clock.ts', 'src/controller/time/timers.ts']);

/** What is done then is done because of what set the timer. */
export function gathers(site: () => string, ms: number): boolean {
  return ms <= MOST_GATHERED_MS && GATHER.some((one) => `${one.file} ${one.function}` === site());
}

/** It is the time that something waited for. */
export function isTimely(site: string): boolean {
  return BY_TIME.some((one) => `${one.file} ${one.function}` === site);
}
