import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isRestored } from './restored-row.ts';
import { insertSeed, insertUuid, MOST_COPIES, restoredUuid, rowId } from './row-id.ts';

test('the UUID of a row shows that an undo restored it for its owner, whichever copy it is, and nothing else does', () => {
  const id = rowId('Logical_Router', 'blue');
  const owned = { kind: 'ours', owner: 'vpc//blue', uid: 'u1', rule: 'vpc' } as const;
  for (let copy = 0; copy < MOST_COPIES; copy++) assert.equal(isRestored(id, restoredUuid(id, owned, copy), owned), true);
  const uuid = restoredUuid(id, owned);
  assert.equal(isRestored(id, uuid, { ...owned, uid: 'u2' }), false, 'another object of the name owns it now');
  assert.equal(isRestored(rowId('Logical_Router', 'red'), uuid, owned), false);
  assert.equal(isRestored(id, insertUuid(id, insertSeed('u1', undefined, 0)), owned), false, 'inserted by the controller');
  assert.equal(isRestored(id, uuid, { kind: 'legacy' }), false);
});
