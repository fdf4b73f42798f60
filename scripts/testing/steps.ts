import { globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Job } from './job.ts';
import { LONG_FILES } from './long-files.ts';
import { runCheck } from './program-check.ts';
import { runTestFile } from './test-file.ts';

const MINUTE_MS = 60_000;
const BIN = join(import.meta.dirname, '../../node_modules/.bin');
/** Steps of seconds a file. */
const QUICK: ReadonlySet<string> = new Set(['layering', 'unit']);

/**
 * Every job there is, in the order in which they are to begin: where a mistake is cheapest to find first, then what takes longest, so that
 * what is short fills the gaps in the end. New folders below `test/` become steps by themselves.
 */
export function allJobs(): readonly Job[] {
  const tests = [
    ...testJobs('layering', testFiles('test/*.test.ts')),
    ...testJobs('unit', [...testFiles('src/**/*.test.ts'), ...testFiles('scripts/**/*.test.ts')]),
    ...folders().flatMap((folder) => testJobs(folder, testFiles(`test/${folder}/**/*.test.ts`))),
  ];
  return [
    check('types', 'tsc', ['--noEmit', '-p', 'tsconfig.json']),
    check('lint', 'oxlint', ['--type-aware', '--deny-warnings', 'src', 'test', 'bench', 'scripts']),
    check('format', 'prettier', ['--log-level', 'warn', '--check', 'src', 'test', 'bench', 'scripts']),
    ...tests.filter(({ step }) => QUICK.has(step)),
    ...tests.filter(({ step }) => !QUICK.has(step)).toSorted((a, b) => b.seconds - a.seconds),
  ];
}

/**
 * The jobs that `wanted` names: names of steps, test files, or folders that hold test files. Nothing wanted means all.
 * Throws `RangeError` for a name that is none of these.
 */
export function selectJobs(wanted: readonly string[]): readonly Job[] {
  const all = allJobs();
  if (wanted.length === 0) return all;
  return wanted.flatMap((name): readonly Job[] => {
    const jobs = all.filter(({ step }) => step === name);
    if (jobs.length > 0) return jobs;
    const files = name.endsWith('.test.ts') ? testFiles(name) : testFiles(`${name}/**/*.test.ts`);
    if (files.length > 0) return testJobs(name, files);
    const steps = [...new Set(all.map(({ step }) => step))];
    throw new RangeError(`"${name}" is no step (${steps.join(', ')}), no test file and no folder of test files`);
  });
}

function check(name: string, program: string, args: readonly string[]): Job {
  return { step: name, name, cores: 1, run: (stop) => runCheck(name, join(BIN, program), args, stop) };
}

/** One for each file, or as many for a long one as it has parts. */
function testJobs(step: string, files: readonly string[]): readonly (Job & { readonly seconds: number })[] {
  return files.flatMap((file) => {
    const { minutes, seconds, cores, parts } = { minutes: QUICK.has(step) ? 40 : 60, seconds: 0, cores: 1, parts: 1, ...LONG_FILES[file] };
    return Array.from({ length: parts }, (_, at) => {
      const env: Record<string, string> = parts === 1 ? {} : { TEST_PART: `${at + 1}/${parts}` };
      return {
        step,
        name: parts === 1 ? file : `${file} (${at + 1} of ${parts})`,
        cores,
        seconds: seconds / parts,
        run: (stop: AbortSignal) => runTestFile(file, minutes * MINUTE_MS, { env, stop }),
      };
    });
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
