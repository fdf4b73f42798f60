import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { until } from '../../src/testing/until.ts';
import { forbidSkips, type Tally } from './tally.ts';
import { runTestFile, runTestFiles, type TestFileOptions } from './test-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-runner-'));
});
after(async () => {
  await rm(folder, { recursive: true });
});

async function runSource(
  source: string,
  { timeoutMs = 600_000, ...options }: TestFileOptions & { readonly timeoutMs?: number } = {},
): Promise<Tally & { readonly text: string }> {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.test.ts`);
  await writeFile(file, `import { describe, test } from 'node:test';\nimport assert from 'node:assert/strict';\n${source}`);
  const tally = await runTestFile(file, timeoutMs, options);
  return { ...tally, text: tally.failures.map(({ name, detail }) => `${name.replace(file, 'FILE')}: ${detail}`).join('\n') };
}

/** A source that hangs: it is ended after a second, or after as much longer as this host takes to start it. */
async function runHanging(
  source: string,
  cameSoFar: (tally: Awaited<ReturnType<typeof runSource>>) => boolean,
): ReturnType<typeof runSource> {
  for (let timeoutMs = 1_000; ; timeoutMs *= 4) {
    const tally = await runSource(source, { timeoutMs });
    if (cameSoFar(tally) || timeoutMs > 60_000) return tally;
  }
}

const untilWritten = (file: string): Promise<string> =>
  until(`${file} is written`, async () => (await readFile(file, 'utf8').catch(() => '')) || undefined);

/** A process that has ended but was not waited for yet counts as ended. */
const untilEnded = (pid: number): Promise<true> =>
  until(`process ${pid} has ended`, async () =>
    /^State:\s+[ZX]/m.test(await readFile(`/proc/${pid}/status`, 'utf8').catch(() => 'State: X')) ? true : undefined,
  );

test('leaves count, suites and failing parents do not', async () => {
  const { passed, failures, text } = await runSource(`
    describe('suite', () => { test('a', () => {}); test('b', () => {}); });
    test('parent', async (t) => { await t.test('child', () => { console.log('printed'); assert.equal(1, 2); }); });`);
  assert.equal(passed, 2);
  assert.equal(failures.length, 1);
  assert.match(text, /^FILE › child: .*1 !== 2.*the file printed ---\nprinted/s);
});

test('files that share a process fail and are skipped under their own names', async () => {
  const files = ['first', 'second'].map((name) => join(folder, `${name}.test.ts`));
  for (const [at, file] of files.entries()) {
    await writeFile(
      file,
      `import { test } from 'node:test';\ntest('fine', () => {});\ntest('same', ${at === 0 ? "{ skip: 'why' }, " : ''}() => { throw new Error('own'); });`,
    );
  }
  const tally = await runTestFiles('both', files, 600_000);
  assert.equal(tally.passed, 2);
  assert.deepEqual(
    [tally.skips.map(({ name }) => name), tally.failures.map(({ name }) => name)],
    [[`${files[0]} › same`], [`${files[1]} › same`]],
  );
});

test('what ends files that share a process fails under the name of both', async () => {
  const broken = join(folder, 'broken.test.ts');
  await writeFile(broken, `throw new Error('at the import');`);
  const { failures } = await runTestFiles('both', [broken, broken], 600_000);
  assert.deepEqual(
    failures.map(({ name }) => name),
    ['both'],
  );
  assert.match(failures[0]?.detail ?? '', /at the import/);
});

test('a skip keeps its reason, and only missing reference data excuses it', async () => {
  const tally = await runSource(`
    test('one', { skip: 'no etcd' }, () => {});
    describe('two', { skip: 'no ../shared' }, () => { test('inside', () => {}); });`);
  assert.deepEqual(
    tally.skips.map(({ reason }) => reason),
    ['no etcd', 'no ../shared'],
  );
  const strict = forbidSkips(tally);
  assert.deepEqual(
    strict.skips.map(({ reason }) => reason),
    ['no ../shared'],
  );
  assert.match(strict.failures[0]?.detail ?? '', /CI=true does not allow: no etcd/);
});

test('a file that hangs, crashes or ends too early fails by its name', async () => {
  const hung = await runHanging(
    `test('quick', () => {}); test('stuck', async () => { setInterval(() => {}, 100); await new Promise(() => {}); });`,
    ({ text }) => text.includes('stuck'),
  );
  assert.equal(hung.passed, 1);
  assert.match(hung.text, /stuck/);
  const left = await runHanging(`test('leaves a timer', () => { setInterval(() => {}, 100); });`, ({ text }) =>
    text.includes('after its tests'),
  );
  assert.match(left.text, /^FILE: no end after \d+ s, after its tests/);
  const early = await runSource(`test('exits', () => { process.exit(0); });`);
  assert.match(early.text, /^FILE: it ended with 0/);
  const thrown = await runSource(`throw new Error('at import');`);
  assert.match(thrown.text, /^FILE: it ended with 1, before any test.*at import/s);
});

test('processes of a file end when the file is ended', async () => {
  const marker = join(folder, 'where');
  const { text } = await runHanging(
    `import { mkdtempSync, writeFileSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    test('stuck', async () => {
      const directory = mkdtempSync(tmpdir() + '/kiln-left-');
      writeFileSync(directory + '/file', '');
      writeFileSync(${JSON.stringify(marker)}, directory);
      setInterval(() => {}, 100);
      await new Promise(() => {});
    });`,
    ({ text: told }) => told.includes('stuck') && existsSync(marker),
  );
  assert.match(text, /stuck/);
  const directory = await readFile(marker, 'utf8');
  assert.match(directory, /kiln-left-/);
  await assert.rejects(stat(directory), /ENOENT/);
});

test('a file that is interrupted ends with all its processes, and reports it', async () => {
  const stop = new AbortController();
  const marker = join(folder, 'child');
  const running = runSource(
    `import { spawn } from 'node:child_process';
    import { writeFileSync } from 'node:fs';
    test('waits', async () => {
      const child = spawn('sleep', ['60'], { stdio: 'ignore' });
      writeFileSync(${JSON.stringify(marker)}, String(child.pid));
      await new Promise(() => { setInterval(() => {}, 100); });
    });`,
    { stop: stop.signal },
  );
  const child = await untilWritten(marker);
  stop.abort();
  const { text } = await running;
  assert.match(text, /^FILE: it was interrupted, /);
  await untilEnded(Number(child));
});

test('a file gets the variables that are given to it', async () => {
  const { passed } = await runSource(`test('part', () => { assert.equal(process.env.TEST_PART, '2/3'); });`, { env: { TEST_PART: '2/3' } });
  assert.equal(passed, 1);
});

test('the processor time of a file and its programs is reported', async () => {
  const { cpuSeconds = 0 } = await runSource(`
    import { spawnSync } from 'node:child_process';
    test('computes', () => { spawnSync(process.execPath, ['-e', 'const end = process.cpuUsage().user + 3e5; while (process.cpuUsage().user < end);']); });`);
  assert.ok(cpuSeconds > 0.3, `${cpuSeconds}`);
});
