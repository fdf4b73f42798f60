import assert from 'node:assert/strict';
import { linkSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { isNodeNamespace } from './node-namespace.ts';

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
