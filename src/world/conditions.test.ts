import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kilnAnnotation } from '../api/well-known.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { conditionsOf } from './conditions.ts';

const SOUND = { type: 'Other', status: 'True', reason: 'Told', message: 'by another program' };

/** What a user with the right to edit an object may write into the annotation of its conditions. */
const NONSENSE = [
  '[null]',
  '[5]',
  '["x"]',
  '[[]]',
  '[{"type":5}]',
  '[{"type":"Accepted","message":{"a":1}}]',
  '{"type":"Accepted"}',
  'x',
  '',
];

for (const text of NONSENSE)
  test(`a conditions annotation with ${text === '' ? 'the empty text' : text} counts as none, and Kiln's conditions replace it`, () => {
    const annotations = { [kilnAnnotation.conditions]: text };
    assert.deepEqual(conditionsOf('nodes', { metadata: { annotations } }), []);
    const scene = new PodScene();
    const status = { addresses: [{ type: 'InternalIP', address: 'nonsense' }] };
    scene.bench.put('nodes', { metadata: { name: 'n2', annotations }, spec: {}, status });
    scene.bench.converge();
    const written = scene.bench.object('nodes', 'n2')?.metadata.annotations ?? {};
    const reported = conditionsOf('nodes', { metadata: { annotations: written } });
    assert.deepEqual(
      reported.map(({ type, reason }) => `${type} ${reason}`),
      ['Accepted NodeAddressInvalid'],
    );
    assert.deepEqual(JSON.parse(written[kilnAnnotation.conditions] ?? ''), reported);
  });

test('a valid condition beside invalid ones stays', () => {
  const annotations = { [kilnAnnotation.conditions]: JSON.stringify([null, SOUND]) };
  assert.deepEqual(conditionsOf('nodes', { metadata: { annotations } }), [SOUND]);
});
