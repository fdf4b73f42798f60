import assert from 'node:assert/strict';
import { test } from 'node:test';
import { beginningOf, type Circumstances } from './beginning.ts';

const servers = { a: '10.0.0.1', b: '10.0.0.2', c: '10.0.0.3' };
const circumstances: Circumstances = {
  name: 'nb',
  hasFile: false,
  node: 'cp-1',
  address: '10.0.0.1',
  record: { founder: 'cp-1' },
  members: ['10.0.0.1', '10.0.0.2', '10.0.0.3'],
};

test('the founder makes the cluster, the others join all who may be in it', () => {
  assert.deepEqual(beginningOf(circumstances), { with: 'a new cluster' });
  assert.deepEqual(beginningOf({ ...circumstances, node: 'cp-2', address: '10.0.0.2' }), {
    with: 'the others',
    id: undefined,
    others: ['10.0.0.1', '10.0.0.3'],
  });
});

test('who has a file uses it, whatever the record says', () => {
  assert.deepEqual(beginningOf({ ...circumstances, hasFile: true, record: { founder: 'cp-9' } }), { with: 'its file' });
});

test('a founder that lost its disk does not found a second cluster', () => {
  const record = { founder: 'cp-1', nb: { id: 'x', servers } };
  assert.deepEqual(beginningOf({ ...circumstances, record }), { with: 'the others', id: 'x', others: ['10.0.0.2', '10.0.0.3'] });
  assert.deepEqual(
    beginningOf({ ...circumstances, record, name: 'sb' }),
    { with: 'a new cluster' },
    'of the other database nothing is known',
  );
});

test('the only server begins anew after the loss of its disk: nobody else has anything', () => {
  const record = { founder: 'cp-1', nb: { id: 'x', servers: { a: '10.0.0.1' } } };
  assert.deepEqual(beginningOf({ ...circumstances, record }), { with: 'a new cluster' });
});
