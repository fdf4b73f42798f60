import { globSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { runCheck } from './program-check.ts';
import { runNodeTests } from './node-tests.ts';
import type { Tally } from './tally.ts';

/** A part of the whole, in the order in which a mistake is cheapest to find. */
export interface Step {
  readonly name: string;
  readonly run: () => Promise<Tally>;
}

const MINUTE = 60_000;
const BIN = join(import.meta.dirname, '../../node_modules/.bin');
/** Cheap ones first; folders of `test/` that are not named here run after these, and `e2e` last. */
const FOLDER_ORDER = ['conformance'];
const LAST_FOLDER = 'e2e';

/** Every step there is. New folders below `test/` become steps by themselves. */
export function allSteps(): readonly Step[] {
  return [
    { name: 'types', run: () => runCheck('types', join(BIN, 'tsc'), ['--noEmit', '-p', 'tsconfig.json']) },
    {
      name: 'lint',
      run: () => runCheck('lint', join(BIN, 'oxlint'), ['--type-aware', '--deny-warnings', 'src', 'test', 'bench', 'scripts']),
    },
    {
      name: 'format',
      run: () => runCheck('format', join(BIN, 'prettier'), ['--log-level', 'warn', '--check', 'src', 'test', 'bench', 'scripts']),
    },
    testStep('layering', testFiles('test/*.test.ts'), 1),
    testStep('unit', [...testFiles('src/**/*.test.ts'), ...testFiles('scripts/**/*.test.ts')], 2),
    // Scenarios mostly wait: those of two servers side by side take little more than those of one.
    ...folders().map((folder) => testStep(folder, testFiles(`test/${folder}/**/*.test.ts`), folder === LAST_FOLDER ? 2 : 1)),
  ];
}

/**
 * The steps that `wanted` names: names of steps, test files, or folders that hold test files. Nothing wanted means all.
 * Throws `RangeError` for a name that is none of these.
 */
export function selectSteps(wanted: readonly string[]): readonly Step[] {
  const steps = allSteps();
  if (wanted.length === 0) return steps;
  return wanted.map((name) => {
    const step = steps.find((candidate) => candidate.name === name);
    if (step !== undefined) return step;
    const files = name.endsWith('.test.ts') ? testFiles(name) : testFiles(`${name}/**/*.test.ts`);
    if (files.length > 0) return testStep(name, files, 1);
    throw new RangeError(`"${name}" is no step (${steps.map((each) => each.name).join(', ')}), no test file and no folder of test files`);
  });
}

function testStep(name: string, files: readonly string[], concurrency: number): Step {
  const timeoutMs = (name === 'unit' || name === 'layering' ? 3 : name === LAST_FOLDER ? 25 : 10) * MINUTE;
  return { name, run: () => runNodeTests(files, { concurrency, timeoutMs }) };
}

function testFiles(pattern: string): string[] {
  return globSync(pattern).sort();
}

function folders(): string[] {
  const rank = (name: string): number => (name === LAST_FOLDER ? 2 : FOLDER_ORDER.includes(name) ? 0 : 1);
  return readdirSync('test', { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && testFiles(`test/${entry.name}/**/*.test.ts`).length > 0)
    .map(({ name }) => name)
    .sort((a, b) => rank(a) - rank(b) || a.localeCompare(b));
}
