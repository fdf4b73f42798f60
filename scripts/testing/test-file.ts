import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { compiledDirectory } from '../../src/runtime/cache-directory.ts';
import type { Place, ReportLine } from './report-lines.ts';
import type { Failure, Skip, Tally } from './tally.ts';

const REPORTER = new URL('./report-lines.ts', import.meta.url).href;
const IMPORT_FILES = join(import.meta.dirname, 'import-files.ts');
const OUTPUT_LIMIT = 16_000;
const OUTPUT_GRACE_MS = 2_000;

/** How test files are run. */
export interface TestFileOptions {
  /** Environment variables of its process, beside those of this one. */
  readonly env?: Readonly<Record<string, string>>;
  /** When aborted, the file is ended. */
  readonly stop?: AbortSignal;
}

/**
 * Runs one test file in a process of its own. It fails under its own name if it takes longer than `timeoutMs` (the message names the tests
 * under way), if it ends with an error outside any test, and if it ends before its tests did.
 */
export async function runTestFile(file: string, timeoutMs: number, options: TestFileOptions = {}): Promise<Tally> {
  return runTestFiles(file, [file], timeoutMs, options);
}

/** The same for files that share a process. What belongs to none of them fails under `name`. */
export async function runTestFiles(
  name: string,
  files: readonly string[],
  timeoutMs: number,
  options: TestFileOptions = {},
): Promise<Tally> {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-test-'));
  try {
    const report = join(folder, 'report');
    const flags = [`--test-reporter=${REPORTER}`, `--test-reporter-destination=${report}`];
    const started = files.length === 1 ? files : [IMPORT_FILES, ...files];
    const end = await runToItsEnd(['--test-timeout', String(timeoutMs), ...flags, ...started], timeoutMs, folder, options);
    return resultOf(name, files, parse(await readFile(report, 'utf8').catch(() => '')), end);
  } finally {
    // A process that the file started and did not end may write for a moment yet. A folder that cannot be deleted is no failure of this
    // test, nor of the next.
    await rm(folder, { recursive: true, force: true, maxRetries: 20, retryDelay: 100 }).catch(() => undefined);
  }
}

/** How a file's process ended, and what it printed last. */
export interface End {
  readonly ending: string;
  readonly failed: boolean;
  readonly output: string;
}

/**
 * Runs Node in a process group of its own, so that all its processes can be ended together, and with a folder of its own for temporary
 * files, which is deleted in the end.
 */
async function runToItsEnd(args: readonly string[], timeoutMs: number, temporary: string, options: TestFileOptions): Promise<End> {
  // Set in a test's own process; it would make the file report to a runner that does not exist.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env;
  // Each file and each process that it starts loads many of the sources: the compile cache saves time.
  const env = { NODE_COMPILE_CACHE: compiledDirectory(), ...inherited, ...options.env, TMPDIR: temporary };
  const child = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-OUTPUT_LIMIT);
    });
  }
  let hung = false;
  let stopped = false;
  const endGroup = (): void => {
    // A process that ended by a signal has no exit code.
    if (child.pid !== undefined && child.exitCode === null && child.signalCode === null) process.kill(-child.pid, 'SIGKILL');
  };
  const timer = setTimeout(() => {
    hung = true;
    endGroup();
  }, timeoutMs);
  const stopIt = (): void => {
    stopped = true;
    endGroup();
  };
  process.once('exit', endGroup);
  options.stop?.addEventListener('abort', stopIt);
  // A process that it started may keep its output open for ever.
  const closed = once(child, 'close');
  const [code, signal] = (await once(child, 'exit')) as [number | null, NodeJS.Signals | null];
  await Promise.race([closed, sleep(OUTPUT_GRACE_MS)]);
  clearTimeout(timer);
  process.off('exit', endGroup);
  options.stop?.removeEventListener('abort', stopIt);
  const ending = stopped ? 'it was interrupted' : hung ? `no end after ${timeoutMs / 1000} s` : `it ended with ${signal ?? code}`;
  return { ending, failed: hung || code !== 0, output };
}

function parse(report: string): ReportLine[] {
  return report
    .slice(0, report.lastIndexOf('\n') + 1)
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as ReportLine);
}

/** Combines the report of files that shared a process and the way it ended. */
export function resultOf(name: string, files: readonly string[], lines: readonly ReportLine[], { ending, failed, output }: End): Tally {
  const [first = name] = files;
  const title = (line: Place): string => {
    const file = files.find((one) => line.file !== undefined && resolve(one) === line.file) ?? first;
    return `${file} › ${line.name}`;
  };
  const failures: Failure[] = [];
  const skips: Skip[] = [];
  const running = new Set<string>();
  let passed = 0;
  const cpuSeconds = lines.reduce((last, line) => (line.kind === 'ended' ? line.cpuSeconds : last), 0);
  for (const line of lines) {
    if (line.kind === 'running') running.add(files.length === 1 ? line.name : title(line));
    else if (line.kind !== 'ended') running.delete(files.length === 1 ? line.name : title(line));
    if (line.kind === 'passed') passed += 1;
    if (line.kind === 'failed') failures.push({ name: title(line), detail: line.detail });
    if (line.kind === 'skipped') skips.push({ name: title(line), reason: line.reason });
  }
  const whole = lines.some(({ kind }) => kind === 'ended');
  if (!whole || (failed && failures.length === 0)) {
    failures.push({ name, detail: whole ? ending : `${ending}, ${where(running, lines)}` });
  }
  return { passed, failures: withOutput(failures, output.trimEnd()), skips, cpuSeconds };
}

function where(running: ReadonlySet<string>, lines: readonly ReportLine[]): string {
  if (running.size > 0) return `while it was at: ${[...running].join('; ')}`;
  return lines.length === 0 ? 'before any test' : 'after its tests: something they opened is still open';
}

function withOutput(failures: readonly Failure[], output: string): readonly Failure[] {
  const last = failures.at(-1);
  if (last === undefined || output === '') return failures;
  return [...failures.slice(0, -1), { ...last, detail: `${last.detail}\n--- the file printed ---\n${output}` }];
}
