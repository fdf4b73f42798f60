/** The table of holders and their names. */

import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from './holder.ts';
import { Holders } from './holders.ts';
import { none } from './none.ts';

function add(holders: Holders, holder: Holder): number {
  return holders.add(holder, holders.findName(holder.claimant), holders.findName(holder.key));
}

test('one text may be the key of several kinds and a claimant; it stays as long as one uses it', () => {
  const holders = new Holders();
  const reservation = add(holders, { kind: 'reservation', key: 'x', claimant: 'x' });
  const ip = add(holders, { kind: 'ip', key: 'x', claimant: 'y', rank: 3 });
  const pod = add(holders, { kind: 'pod', key: 'z', claimant: 'x', sharingGroup: 'g' });
  assert.deepEqual([holders.find('reservation', 'x'), holders.find('ip', 'x'), holders.find('row', 'x')], [reservation, ip, none]);
  holders.remove(reservation);
  assert.deepEqual([holders.find('reservation', 'x'), holders.find('ip', 'x')], [none, ip]);
  assert.deepEqual(holders.describe(pod), { kind: 'pod', key: 'z', claimant: 'x', sharingGroup: 'g' });
  assert.deepEqual(holders.describe(ip), { kind: 'ip', key: 'x', claimant: 'y', rank: 3 });
  holders.remove(ip);
  assert.notEqual(holders.findName('x'), none, 'a pod is its');
  assert.equal(holders.findName('y'), none);
  holders.remove(pod);
  assert.deepEqual([holders.findName('x'), holders.findName('z')], [none, none]);
});

test('an undeclared claimant is removed, and its number is reused', () => {
  const holders = new Holders();
  const first = add(holders, { kind: 'ip', key: 'k', claimant: 'before' });
  holders.redeclare(first, { kind: 'ip', key: 'k', claimant: 'after' });
  assert.equal(holders.findName('before'), none);
  assert.equal(holders.firstOfClaimant(holders.findName('after')), first);
  holders.redeclare(first, { kind: 'ip', key: 'k', claimant: 'k' });
  assert.equal(holders.findName('after'), none);
  holders.remove(first);
  assert.equal(holders.findName('k'), none);
  for (let n = 0; n < 100; n++) holders.remove(add(holders, { kind: 'ip', key: `k${n}`, claimant: `c${n}` }));
  assert.equal(add(holders, { kind: 'ip', key: 'last', claimant: 'last' }), first, 'rows are used again');
});
