import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CollectionLimit } from './collection-limit.ts';
import type { CollectionLimitOptions, Hold, Unexplained } from './collection-limit.ts';

function rows(count: number, name = 'gone'): Unexplained[] {
  return Array.from({ length: count }, (_, i) => ({ id: `Logical_Switch_Port/p${i}`, owner: `pod/ns/${name}${i}`, uid: 'u' }));
}

function routers(count: number): Unexplained[] {
  return rows(count, 'later').map((row, at) => ({ ...row, id: `Logical_Router/r${at}` }));
}

function limitOf(options: Partial<CollectionLimitOptions>, holds: Hold[] = []): CollectionLimit {
  return new CollectionLimit({
    ...{ enabled: true, maxRows: 20, maxShare: 0.3, shareFrom: 10, owned: () => 50, ownerExplained: () => false },
    held: (hold) => holds.push(hold),
    ...options,
  });
}

function withoutDigest(holds: readonly Hold[]): readonly Omit<Hold, 'digest' | 'leftovers'>[] {
  return holds.map(({ rows: count, limit, why }) => ({ rows: count, limit, why }));
}

/** Whether one of these rows may be collected. */
function allows(limit: CollectionLimit, at = 1): boolean {
  return limit.allows(rows(at + 1)[at] as Unexplained);
}

test('above the number no row without an explained owner is collected, and the hold says which limit it is', () => {
  const holds: Hold[] = [];
  const limit = limitOf({ maxShare: 1, ownerExplained: (owner) => owner === 'pod/ns/gone0' }, holds);
  limit.survey(rows(22));
  assert.deepEqual(withoutDigest(holds), [{ rows: 21, limit: 20, why: 'more than 20 rows (--gc-max-rows)' }]);
  assert.equal(allows(limit), false);
  assert.equal(allows(limit, 0), true, 'rows of an owner with an observed deletion are collected');
  assert.equal(limit.heldRows, 21);
});

test('so above the share, from the number on from which it counts', () => {
  const holds: Hold[] = [];
  limitOf({}, holds).survey(rows(15));
  limitOf({ owned: () => 9 }, holds).survey(rows(9));
  assert.deepEqual(holds, []);
  limitOf({}, holds).survey(rows(16));
  assert.deepEqual(withoutDigest(holds), [{ rows: 16, limit: 15, why: 'more than 30 % of 50 rows and IP objects (--gc-max-share)' }]);
});

test('what is left in Kubernetes counts with the rows, and waits and goes with them', () => {
  const limit = limitOf({ maxShare: 1 });
  const [left] = rows(1).map((one): Unexplained => ({ ...one, id: 'ips/p0.ns of pod/ns/gone0', isLeftover: true }));
  assert.ok(left !== undefined);
  limit.survey(rows(20));
  assert.equal(limit.allows(left), true);
  limit.survey([...rows(20), left]);
  assert.deepEqual([limit.hold?.rows, limit.hold?.leftovers, limit.allows(left), limit.heldRows], [21, 1, false, 21]);
});

test('a kind that no cluster lacks and that has no object holds a single row', () => {
  const holds: Hold[] = [];
  limitOf({ kindIsEmpty: () => true }, holds).survey(rows(1));
  assert.deepEqual(withoutDigest(holds), [{ rows: 1, limit: 0, why: 'the API server has no object of a kind that no cluster lacks' }]);
});

test('deletions by users do not count, nor does anything in a laboratory', () => {
  for (const limit of [limitOf({ ownerExplained: () => true }), limitOf({ enabled: false })]) {
    limit.survey(rows(40));
    assert.equal(allows(limit, 3), true);
  }
});

test('a hold lasts while rows come and go, and ends when a second full list confirms a smaller number', () => {
  const holds: Hold[] = [];
  const limit = limitOf({}, holds);
  limit.survey(rows(30));
  limit.survey(rows(25));
  limit.survey(rows(5));
  assert.equal(holds.length, 1, 'one hold is reported once');
  assert.equal(allows(limit), false, 'no second list has confirmed the World');
  limit.survey(rows(25), true);
  assert.equal(allows(limit), false, 'confirmed, and still too many: a person decides');
  limit.survey(rows(5), true);
  assert.equal(allows(limit), true);
});

test('an approval covers the counted rows by their digest: what is gone by itself does not matter, and more that come count anew', () => {
  let approved: string | undefined;
  const holds: Hold[] = [];
  const limit = limitOf({ approved: () => approved, maxShare: 1 }, holds);
  limit.survey(rows(40));
  assert.equal(limit.approve(), false);
  approved = 'ffffffffffffffff';
  assert.equal(limit.approve(), false, 'an approval of other rows');
  const held = (): Hold | undefined => limit.hold;
  approved = held()?.digest;
  limit.survey(rows(30));
  assert.equal(held(), undefined, 'the rest of the approved rows');
  limit.survey([...rows(35), ...routers(20)]);
  assert.equal(held(), undefined, 'twenty more are below the limit by themselves');
  limit.survey([...rows(35), ...routers(21)]);
  assert.deepEqual([held()?.rows, holds.length], [56, 2], 'one more is not: a new hold');
  assert.equal(allows(limit), true, 'the approved rows go on');
  assert.equal(limit.allows(routers(2)[1] as Unexplained), false);
});

test('a process that starts with the approved rows goes on; one that starts when some are gone asks again', () => {
  const first = limitOf({});
  first.survey(rows(40));
  const approved = (): string | undefined => first.hold?.digest;
  const same = limitOf({ approved });
  same.survey(rows(40).toReversed());
  assert.equal(same.hold, undefined);
  const holds: Hold[] = [];
  const midway = limitOf({ approved }, holds);
  midway.survey(rows(39));
  assert.equal(midway.hold?.rows, 39);
  assert.equal(holds.length, 1);
});

test('while a hold lasts, it names the rows of the last count', () => {
  const limit = limitOf({});
  limit.survey(rows(40));
  const held = (): Hold | undefined => limit.hold;
  const before = held();
  limit.survey(rows(45));
  assert.equal(held()?.rows, 45);
  assert.notEqual(held()?.digest, before?.digest);
});
