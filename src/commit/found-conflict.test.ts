import assert from 'node:assert/strict';
import { test } from 'node:test';
import { rowId } from '../nb/row-id.ts';
import { foundConflict } from './found-conflict.ts';

test('a conflict names the winning object as a user types it, and the next command', () => {
  const id = rowId('Logical_Router_Port', 'a-b-c');
  const converged = { kind: 'converged' } as const;
  assert.deepEqual(foundConflict(id, converged, ['subnet//c', 'subnet//b-c', 'subnet//c']), {
    owners: ['subnet//b-c'],
    message:
      'Logical_Router_Port a-b-c belongs to the older subnet c, which makes a row of the same name; create one of the two again under another name; kiln explain subnet c',
  });
  assert.match(
    foundConflict(rowId('Logical_Switch_Port', 'a.b.c'), converged, ['pod/b.c/a', 'pod/c/a.b'])?.message ?? '',
    /belongs to the older pod b\.c\/a, .*; kiln explain pod a -n b\.c$/,
  );
  assert.equal(foundConflict(id, converged, ['subnet//c', 'subnet//c']), undefined);
});
