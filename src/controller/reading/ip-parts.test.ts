import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labelKey } from '../../api/well-known.ts';
import { ipParts } from './ip-parts.ts';

test('very many IP objects are requested in parts, each object in exactly one', () => {
  const nodes = Array.from({ length: 12 }, (_, at) => `n${at}`);
  const parts = ipParts(nodes, 50_000, 10_000) ?? [];
  assert.equal(parts.length, 5);
  const members = (text = ''): string[] => /\((.*)\)$/.exec(text)?.[1]?.split(',') ?? [];
  for (const part of parts.slice(0, -1)) assert.match(part, new RegExp(`^${labelKey.nodeName} in \\(`));
  assert.deepEqual(parts.slice(0, -1).flatMap(members), nodes);
  assert.match(parts.at(-1) ?? '', new RegExp(`^${labelKey.nodeName} notin \\(`));
  assert.deepEqual(members(parts.at(-1)), nodes);
});

test('a node name that is no valid label value is in the part without the label', () => {
  const parts = ipParts(['a', 'b', 'x'.repeat(64)], 20_000, 10_000);
  assert.deepEqual(parts, [`${labelKey.nodeName} in (a)`, `${labelKey.nodeName} in (b)`, `${labelKey.nodeName} notin (a,b)`]);
});

test('few objects, one node, or names too long for a URL give no parts', () => {
  assert.equal(ipParts(['a', 'b'], 19_999, 10_000), undefined);
  assert.equal(ipParts(['a'], 50_000, 10_000), undefined);
  assert.equal(
    ipParts(
      Array.from({ length: 300 }, (_, at) => `node-${at}.example.org`),
      50_000,
      10_000,
    ),
    undefined,
  );
});
