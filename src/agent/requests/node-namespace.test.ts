import assert from 'node:assert/strict';
import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isNodeNamespace, isOfUnseenProcess } from './node-namespace.ts';

test("the node's network namespace is known by its file, whatever the path; any other, and none, is not it", async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-netns-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const at = (name: string): string => join(folder, name);
  for (const name of ['node', 'first', 'pod']) writeFileSync(at(name), '');
  symlinkSync(at('node'), at('symbolic'));
  linkSync(at('first'), at('hard'));
  const node = [at('unreadable'), at('node'), at('first')];
  const found = [];
  for (const name of ['node', 'symbolic', 'first', 'hard', 'pod', 'missing', 'unreadable', 'node/below'])
    if (isNodeNamespace(at(name), node)) found.push(name);
  assert.deepEqual(found, ['node', 'symbolic', 'first', 'hard']);
  assert.equal(isNodeNamespace('/proc/self/ns/net'), true);
  assert.equal(isNodeNamespace('/proc/self/ns/mnt'), false);
});

test('a namespace by a process: one that the agent sees, and none for the first process of a container, which has other numbers', () => {
  const own = `/proc/${process.pid}/ns/net`;
  assert.equal(isOfUnseenProcess(own), false);
  assert.equal(isOfUnseenProcess(own, true), true);
  // The kernel has no process of this number.
  assert.equal(isOfUnseenProcess('/proc/4194305/ns/net'), true);
  for (const path of ['/run/netns/cni-1', '/proc/self/ns/net', '/run/netns/missing'])
    assert.equal(isOfUnseenProcess(path, true), false, path);
});
