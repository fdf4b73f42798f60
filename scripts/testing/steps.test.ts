import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { test } from 'node:test';
import { LONG_FILES } from './long-files.ts';
import { allJobs, selectJobs } from './steps.ts';

const names = (wanted: readonly string[]): readonly string[] => selectJobs(wanted).map(({ name }) => name);

for (const long of [false, true]) {
  test(`every file is a job once, or each of its parts; a long file that is named is there (long: ${long})`, () => {
    const all = allJobs(long).map(({ name }) => name);
    assert.equal(new Set(all).size, all.length);
    for (const [file, known] of Object.entries(LONG_FILES)) {
      assert.ok(existsSync(file), file);
      const { parts = 1, onlyLong, onBoth } = { ...known, ...(long ? known.long : {}) };
      const jobs = all.filter((name) => name === file || name.startsWith(`${file} (`));
      assert.equal(jobs.length, !long && onlyLong === true ? 0 : parts * (long && onBoth === true ? 2 : 1), file);
    }
  });
}

test('a long run has all files of a short one; its further files can be named', () => {
  const long = new Set(allJobs(true).map(({ step, name }) => `${step} ${name.replace(/ \(.*/, '')}`));
  for (const { step, name } of allJobs()) assert.ok(long.has(`${step} ${name.replace(/ \(.*/, '')}`), name);
  assert.ok(!allJobs().some(({ step }) => step === 'chaos'));
  assert.deepEqual(names(['chaos']), ['test/chaos/chaos.test.ts']);
  assert.deepEqual(names(['test/sim/known-faults.test.ts']), ['test/sim/known-faults.test.ts']);
});

test('what is cheap begins first, beside the scenarios, then what takes longest', () => {
  const jobs = allJobs();
  const steps = [...new Set(jobs.map(({ step }) => step))];
  assert.deepEqual(steps.slice(0, 7), ['types', 'lint', 'format', 'layering', 'e2e', 'unit', 'lab']);
  const before = jobs.slice(
    0,
    jobs.findIndex(({ name }) => name.startsWith('src/')),
  );
  assert.deepEqual(
    before.filter(({ step }) => step === 'e2e').map(({ name }) => name),
    [
      ...['1', '2'].map((part) => `test/e2e/real.test.ts (${part} of 2)`),
      ...['1', '2'].map((part) => `test/e2e/lab.test.ts (${part} of 3)`),
    ],
  );
  // A quick file has room beside the first two.
  const quick = jobs.find(({ name }) => name === 'src/runtime/json-log.test.ts');
  assert.ok(
    before
      .filter(({ step }) => step === 'e2e')
      .slice(0, 2)
      .reduce((sum, { cores }) => sum + cores, quick?.cores ?? 2) <= 2,
  );
});

test('a step, a folder and a file can be named, and nothing else', () => {
  const cores = (wanted: string): unknown => selectJobs([wanted])[0]?.cores;
  assert.deepEqual([cores('src/net'), cores('src/net/net.test.ts')], [0.4, 0.4]);
  assert.deepEqual(names(['lint', 'src/runtime/json-log.test.ts']), ['lint', 'src/runtime/json-log.test.ts']);
  assert.deepEqual(
    names(['test/e2e/real.test.ts']),
    names(['e2e']).filter((name) => name.includes('real')),
  );
  assert.ok(names(['src/net']).includes('src/net/net.test.ts'));
  assert.throws(() => selectJobs(['src/nowhere']), /^RangeError: "src\/nowhere" is no step \(types, lint, .*\), no test file/);
});
