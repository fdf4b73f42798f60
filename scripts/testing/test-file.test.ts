import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { forbidSkips, type Tally } from './tally.ts';
import { runTestFile } from './test-file.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-runner-'));
});
after(async () => {
  await rm(folder, { recursive: true });
});

async function runSource(source: string, timeoutMs = 20_000): Promise<Tally & { readonly text: string }> {
  const file = join(folder, `${Math.random().toString(36).slice(2)}.test.ts`);
  await writeFile(file, `import { describe, test } from 'node:test';\nimport assert from 'node:assert/strict';\n${source}`);
  const tally = await runTestFile(file, timeoutMs);
  return { ...tally, text: tally.failures.map(({ name, detail }) => `${name.replace(file, 'FILE')}: ${detail}`).join('\n') };
}

test('leaves count, suites and failing parents do not', async () => {
  const { passed, failures, text } = await runSource(`
    describe('suite', () => { test('a', () => {}); test('b', () => {}); });
    test('parent', async (t) => { await t.test('child', () => { console.log('printed'); assert.equal(1, 2); }); });`);
  assert.equal(passed, 2);
  assert.equal(failures.length, 1);
  assert.match(text, /^FILE › child: .*1 !== 2.*the file printed ---\nprinted/s);
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

test('a file that hangs, dies or ends too early fails by its name', async () => {
  const hung = await runSource(
    `test('quick', () => {}); test('stuck', async () => { setInterval(() => {}, 100); await new Promise(() => {}); });`,
    1_000,
  );
  assert.equal(hung.passed, 1);
  assert.match(hung.text, /stuck/);
  const left = await runSource(`test('leaves a timer', () => { setInterval(() => {}, 100); });`, 1_000);
  assert.match(left.text, /^FILE: no end after 1 s, after its tests/);
  const early = await runSource(`test('exits', () => { process.exit(0); });`);
  assert.match(early.text, /^FILE: it ended with 0/);
  const thrown = await runSource(`throw new Error('at import');`);
  assert.match(thrown.text, /^FILE: it ended with 1, before any test.*at import/s);
});

test('what a file leaves behind when it is ended is gone with it', async () => {
  const marker = join(folder, 'where');
  const { text } = await runSource(
    `import { mkdtempSync, writeFileSync } from 'node:fs';
    import { tmpdir } from 'node:os';
    test('stuck', async () => {
      const directory = mkdtempSync(tmpdir() + '/kiln-left-');
      writeFileSync(directory + '/file', '');
      writeFileSync(${JSON.stringify(marker)}, directory);
      setInterval(() => {}, 100);
      await new Promise(() => {});
    });`,
    2_000,
  );
  assert.match(text, /stuck/);
  const directory = await readFile(marker, 'utf8');
  assert.match(directory, /kiln-left-/);
  await assert.rejects(stat(directory), /ENOENT/);
});
