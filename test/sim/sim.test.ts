/** The simulator itself: the same seed draws the same life, and a replayed history ends the same way. */
import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { test } from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { queryObjects } from 'node:v8';
import { Fence } from '../../src/commit/fence.ts';
import type { Rule } from '../../src/compile/rule.ts';
import { RULES } from '../../src/compile/rules.ts';
import { rowId } from '../../src/nb/row-id.ts';
import { World } from '../../src/world/world.ts';
import { readHistory, writeHistory } from './steps/history-file.ts';
import { draw, replay } from './lives/life.ts';
import { shrink } from './lives/shrink.ts';

test('the same seed gives the same life, another seed another one', async () => {
  const [first, again, other] = [await draw(3, 100), await draw(3, 100), await draw(4, 100)];
  assert.equal(again.hash, first.hash);
  assert.deepEqual(again.history, first.history);
  assert.notEqual(other.hash, first.hash);
});

test('no process changes the objects that it shares with the API server', async () => {
  const [life, frozen] = [await draw(9, 150), await draw(9, 150, { frozen: true })];
  assert.equal(frozen.hash, life.hash);
  assert.deepEqual(frozen.findings, life.findings);
});

test('a history read from its file is replayed to the same end', async (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'kiln-sim-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'one.history');
  const life = await draw(5, 100);
  writeHistory(file, life.history);
  const again = await replay(readHistory(file));
  assert.equal(again.hash, life.hash);
  assert.deepEqual(again.findings, life.findings);
});

test('an exception of a process is found, with its history', async (t) => {
  t.mock.method(Fence.prototype, 'guards', () => {
    throw new Error('an error that nothing catches');
  });
  const life = await draw(5, 20);
  assert.deepEqual(
    life.findings.map(({ kind }) => kind),
    ['thrown'],
  );
  assert.match(life.findings[0]?.message ?? '', /an error that nothing catches/);
  assert.deepEqual((await replay(life.history)).findings.length, 1);
});

test('rules that never converge are found, and the life ends nevertheless', async () => {
  const id = rowId('Logical_Switch', 'circle');
  const around = (rule: Rule): Rule => ({
    ...rule,
    run: (world, key) => {
      const there = world.rowConflicts.get(id) !== undefined;
      if (there) world.rowConflicts.delete(id);
      else world.rowConflicts.set(id, { owners: [], message: '' });
      return rule.run(world, key);
    },
  });
  const life = await draw(5, 20, { rules: () => RULES.map((rule) => (rule.name === 'vpc-status' ? around(rule) : rule)) });
  assert.match(life.findings[0]?.message ?? '', /rules go round in a circle/);
});

test('the error of a file that is not a history names it and the line, and is not a failed life', (t) => {
  const directory = mkdtempSync(join(tmpdir(), 'kiln-sim-'));
  t.after(() => rmSync(directory, { recursive: true }));
  const file = join(directory, 'no.history');
  const head = '{"version":1,"seed":1,"controllers":1}\n';
  for (const [content, message] of [
    ['# Kiln\n', /no\.history:1: this line is not JSON$/],
    ['null\n', /no\.history:1: a history begins with/],
    [`${head}\n{"kind":"converge"}\n{"kind":"rset"}\n`, /no\.history:4: a step has a "kind": operation, fault, wait, converge$/],
    [`${head}null\n`, /no\.history:2: a step has/],
  ] as const) {
    writeFileSync(file, content);
    const { status, stderr } = spawnSync(process.execPath, [join(import.meta.dirname, 'main.ts'), '--replay', file], { encoding: 'utf8' });
    assert.deepEqual([status, stderr.trim().split('\n').length], [2, 1], stderr);
    assert.match(stderr.trim(), message);
  }
});

test('when the time is over, a failing history is reported unshortened', async () => {
  const { history } = await draw(5, 20);
  const short = await shrink(history, [{ kind: 'any', message: '' }], {}, { most: 10, until: 0 });
  assert.deepEqual([short.history, short.tried, short.cut], [history, 0, true]);
});

test('a life that has ended can be collected as garbage', async () => {
  for (const seed of [6, 7, 8]) await draw(seed, 60);
  // Each process of a life has a World. The last life may still be on the stack, and code that V8 just optimizes in another thread
  // holds what it was compiled for: on a busy machine a while longer.
  let kept = queryObjects(World, { format: 'count' });
  for (let tries = 0; kept > 4 && tries < 100; tries++) {
    await setTimeout(100);
    kept = queryObjects(World, { format: 'count' });
  }
  assert.ok(kept <= 4, `${kept} Worlds of lives that are over`);
});

test('Ctrl-C lets the current life end, and then the summary is printed', async () => {
  const program = join(import.meta.dirname, 'main.ts');
  const child = spawn(process.execPath, [program, '--seed', '5', '--hours', '9', '--life', '20', '--workers', '1'], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = text(child.stdout);
  await once(child.stderr, 'data');
  child.kill('SIGINT');
  const [code] = (await once(child, 'exit')) as [number | null];
  assert.match(await output, /^\d+ operations in \d+ lives from seed 5: 0 failed; /);
  assert.equal(code, 0);
});

test('beside rows of other programs no transaction of a controller writes to one', async () => {
  const life = await draw(203, 150, { neighbours: true });
  assert.deepEqual(life.findings, []);
  assert.equal((await replay(life.history)).hash, life.hash);
});

test('lives with namespaced tenancy converge with separate tenants, and are replayed to the same end', async () => {
  const life = await draw(101, 150, { tenancy: 'namespaced' });
  assert.deepEqual(
    life.findings.filter(({ check }) => check === 'tenant-isolation'),
    [],
  );
  assert.equal(life.history.tenancy, 'namespaced');
  assert.equal((await replay(life.history)).hash, life.hash);
});
