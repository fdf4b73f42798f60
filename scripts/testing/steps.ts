import { globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { KUBERNETES_BUILDS } from '../../lab/programs/kubernetes.ts';
import type { Job } from './job.ts';
import { LONG_FILES, type LongFile } from './long-files.ts';
import { runCheck } from './program-check.ts';
import { type Batch, batches } from './pure-files.ts';
import { runTestFile, runTestFiles } from './test-file.ts';

const MINUTE_MS = 60_000;
const BIN = join(import.meta.dirname, '../../node_modules/.bin');
/** Which API server a file runs on: the one that is found, or one by name. */
interface Run {
  readonly suffix: string;
  readonly env: Readonly<Record<string, string>>;
}
const NEWEST: Run = { suffix: '', env: {} };
const OLDEST: Run = { suffix: ` (Kubernetes ${KUBERNETES_BUILDS.oldest.version})`, env: { TEST_KUBERNETES: 'oldest' } };

/** Steps whose files take seconds: most start servers and wait for them. QUICK_CORES is the average over all of these files. */
const QUICK: ReadonlySet<string> = new Set(['layering', 'unit', 'lab']);
const QUICK_CORES = 0.4;
/**
 * How many of the longest jobs begin before the quick files, which have room beside them: a long job that began last would run alone in the
 * end. These are the scenarios, which mostly wait.
 */
const LONG_AT_FIRST = 4;

/**
 * All jobs, in the order in which they begin: first those that find a mistake most cheaply, beside them the longest, then by decreasing
 * duration, so that short jobs fill the gaps in the end. New folders below `test/` become steps by themselves.
 *
 * @param long adds what takes too long for every day, and all API servers
 */
export function allJobs(long = false): readonly Job[] {
  const wanted = (pattern: string): string[] => testFiles(pattern).filter((file) => long || LONG_FILES[file]?.onlyLong !== true);
  const tests = [
    ...testJobs('layering', wanted('test/*.test.ts'), long),
    ...unitJobs([...wanted('src/**/*.test.ts'), ...wanted('scripts/**/*.test.ts')], long),
    ...testJobs('lab', wanted('lab/**/*.test.ts'), long),
    ...folders().flatMap((folder) => testJobs(folder, wanted(`test/${folder}/**/*.test.ts`), long)),
  ];
  const others = longestFirst(tests.filter(({ step }) => !QUICK.has(step)));
  return [
    check('types', 'tsc', ['--noEmit', '-p', 'tsconfig.json']),
    check('lint', 'oxlint', ['--type-aware', '--deny-warnings', 'src', 'lab', 'test', 'bench', 'scripts']),
    check('format', 'prettier', ['--log-level', 'warn', '--check', 'src', 'lab', 'test', 'bench', 'scripts']),
    ...tests.filter(({ step }) => step === 'layering'),
    ...others.slice(0, LONG_AT_FIRST),
    ...longestFirst(tests.filter(({ step }) => QUICK.has(step) && step !== 'layering')),
    ...others.slice(LONG_AT_FIRST),
  ];
}

/**
 * The jobs that `wanted` names: steps, test files, or folders with test files. An empty list means all. A named file runs even if it is
 * part of a long run only. Throws `RangeError` for a name that is none of these.
 */
export function selectJobs(wanted: readonly string[], long = false): readonly Job[] {
  const all = allJobs(long);
  if (wanted.length === 0) return all;
  return wanted.flatMap((name): readonly Job[] => {
    const jobs = all.filter(({ step }) => step === name);
    if (jobs.length > 0) return jobs;
    if (folders().includes(name)) return testJobs(name, testFiles(`test/${name}/**/*.test.ts`), long);
    const files = name.endsWith('.test.ts') ? testFiles(name) : testFiles(`${name}/**/*.test.ts`);
    if (files.length > 0) return testJobs(name, files, long);
    const steps = [...new Set(allJobs(true).map(({ step }) => step))];
    throw new RangeError(`"${name}" is no step (${steps.join(', ')}), no test file and no folder of test files`);
  });
}

function unitJobs(files: readonly string[], long: boolean): readonly TestJob[] {
  const shared = batches(files, (file) => LONG_FILES[file] !== undefined);
  return shared.flatMap((batch) => (batch.files.length === 1 ? testJobs('unit', batch.files, long) : [batchJob(batch)]));
}

/** Pure files compute, and wait for nothing. */
function batchJob({ name, files }: Batch): TestJob {
  return {
    step: 'unit',
    name,
    cores: 1,
    seconds: files.length,
    run: (stop) => runTestFiles(name, files, 40 * MINUTE_MS, { stop }),
  };
}

function check(name: string, program: string, args: readonly string[]): Job {
  return { step: name, name, cores: 1, run: (stop) => runCheck(name, join(BIN, program), args, stop) };
}

interface TestJob extends Job {
  readonly seconds: number;
}

function longestFirst(jobs: readonly TestJob[]): readonly TestJob[] {
  return jobs.toSorted((a, b) => b.seconds - a.seconds);
}

/** One job for each file, or for each part of a long one; in a long run the same again on the oldest API server. */
function testJobs(step: string, files: readonly string[], long: boolean): readonly TestJob[] {
  return files.flatMap((file) => {
    const known: LongFile = LONG_FILES[file] ?? { seconds: 0 };
    // A file beside its code is a quick one, however it was asked for.
    const quick = QUICK.has(step) || !file.startsWith('test/');
    const { seconds, parts = 1, ...own } = { ...known, ...(long ? known.long : {}) };
    const { minutes = quick ? 40 : 60, cores = quick ? QUICK_CORES : 1 } = own;
    const runs: readonly Run[] = long && known.onBoth === true ? [NEWEST, OLDEST] : [NEWEST];
    return runs.flatMap(({ suffix, env }) =>
      Array.from({ length: parts }, (_, at) => ({
        step,
        name: `${file}${parts === 1 ? '' : ` (${at + 1} of ${parts})`}${suffix}`,
        cores,
        seconds: seconds / parts,
        run: (stop: AbortSignal) =>
          runTestFile(file, minutes * MINUTE_MS, {
            env: { ...(parts === 1 ? {} : { TEST_PART: `${at + 1}/${parts}` }), ...(long ? { TEST_LONG: '1' } : {}), ...env },
            stop,
          }),
      })),
    );
  });
}

function testFiles(pattern: string): string[] {
  return globSync(pattern).sort();
}

function folders(): string[] {
  return readdirSync('test', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && testFiles(`test/${entry.name}/**/*.test.ts`).length > 0)
    .map(({ name }) => name)
    .sort();
}
