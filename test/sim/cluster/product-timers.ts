/**
 * The timers by which a controller may change something. All other timers retry after a failure, watch over something, or end a wait
 * without an answer: nothing may change because of one of these alone.
 */

/** By file of `src` and function. */
interface TimerSite {
  readonly file: string;
  readonly function: string;
}

/** Up to a second, to batch changes that come together: the cause of a batch is the change that set the timer. */
const MOST_GATHERED_MS = 1_000;
export const GATHER: readonly TimerSite[] = [
  // Between two transactions.
  { file: 'src/commit/send-pause.ts', function: '#pause' },
  // A row that another program changes each time it is repaired.
  { file: 'src/commit/row-retries.ts', function: '#backOff' },
  // A term that another program overwrites each time it is repaired.
  { file: 'src/commit/term-repair.ts', function: '#recheckLater' },
  // Counts of a Subnet whose status was written lately.
  { file: 'src/controller/controller.ts', function: '#publishUsage' },
  // Between two writes of a Subnet's status.
  { file: 'src/commit/status-pace.ts', function: 'waits' },
  // Writes that are delayed behind those that pods wait for.
  { file: 'src/kube/write/kube-writer.ts', function: '#awaitHeld' },
  // A leader that listed from the API server's cache waits for the pods that the list lacks.
  { file: 'src/controller/leadership/catch-up.ts', function: '#awaitPods' },
];

export const BY_TIME: readonly TimerSite[] = [
  // A deadline that an object names: the end of a lease or of a pod's grace period. Rules know no other deadlines.
  { file: 'src/controller/time/deadline-timer.ts', function: 'set' },
  // An object that was written too often lately.
  { file: 'src/kube/write/kube-writer.ts', function: '#schedule' },
  // A pod whose eviction was requested may be kept by its disruption budget, which Kiln does not watch.
  { file: 'src/commit/write-delays.ts', function: '#evictionTurn' },
  // The answer to a write was ahead of the watch for too long: the kind is listed again.
  { file: 'src/controller/reading/answers-ahead.ts', function: 'met' },
  // An unconfirmed object, missing in a list without a deletion event, is looked up by name after this.
  { file: 'src/kube/cache/full-list.ts', function: '#confirmAbsences' },
  { file: 'src/controller/start/first-lists.ts', function: 'check' },
  // Another writer wrote the row of the term at the same time.
  { file: 'src/controller/leadership/leadership.ts', function: '#raiseLater' },
  // Another process took a newer term and does not lead: this process knows that once a whole Lease duration of its own has passed.
  { file: 'src/controller/leadership/leadership.ts', function: 'depose' },
  // The wait after a failure, cut short because the server answered another request: what is sent then is no retry of a failed request.
  { file: 'src/kube/cache/retry-delay.ts', function: '#comeBack' },
  // A connection to the database ended.
  { file: 'src/ovsdb/session.ts', function: '#down' },
];

/**
 * Enough frames for the simulation's own (this function, and how a `ProcessClock` sets a timer) and those that only pass on (`sleep` is
 * three of them).
 */
const FRAMES = 6;

/**
 * Which function sets a timer now, also where error stacks are switched off. @returns a function to ask later: most timers are never asked
 * about
 */
export function siteHere(): () => string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = FRAMES;
  const here = new Error();
  Error.stackTraceLimit = stackTraceLimit;
  let site: string | undefined;
  return () => (site ??= siteOf(here));
}

/** Reads frame by frame: formatting a stack takes longer than everything else that a timer does. */
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

/** The innermost of the product's own functions, without those that only pass a timer on. @returns `<file> <function>` */
function innermost(frames: readonly NodeJS.CallSite[]): string {
  for (const frame of frames) {
    const file = inProduct(frame.getFileName() ?? '');
    if (file !== '' && !PASS_ON.has(file)) return `${file} ${frame.getFunctionName() ?? ''}`;
  }
  return 'somewhere';
}

const inProductOf = new Map<string, string>();

/** @returns `src/…` or `lab/…`; empty for a file of the simulation */
function inProduct(url: string): string {
  let file = inProductOf.get(url);
  if (file === undefined) inProductOf.set(url, (file = /^file:.*\/((?:src|lab)\/[^:]+)$/.exec(url)?.[1] ?? ''));
  return file;
}

const PASS_ON: ReadonlySet<string> = new Set(['src/timing/clock.ts', 'src/controller/time/timers.ts']);

/** Whether the timer only batches: then the cause of what it does is the event that set it. */
export function gathers(site: () => string, ms: number): boolean {
  return ms <= MOST_GATHERED_MS && GATHER.some((one) => `${one.file} ${one.function}` === site());
}

/** Whether the timer ends at a point in time that something waited for. */
export function isTimely(site: string): boolean {
  return BY_TIME.some((one) => `${one.file} ${one.function}` === site);
}
