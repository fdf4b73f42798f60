import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Ownership } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import { CollectionLimit } from './collection-limit.ts';

function rows(count: number, name = 'gone'): (readonly [RowId, Ownership])[] {
  return Array.from({ length: count }, (_, i) => [
    `Logical_Switch_Port/p${i}` as RowId,
    { kind: 'ours', owner: `pod/ns/${name}${i}`, uid: 'u', rule: 'r' },
  ]);
}

function limitOf(explained: (owner: string) => boolean, enabled = true, pauses: number[] = []): CollectionLimit {
  return new CollectionLimit({
    enabled,
    maxRows: 10,
    maxShare: 0.3,
    ownedRows: () => 50,
    ownerExplained: explained,
    paused: (count) => pauses.push(count),
  });
}

test('above the limit no row without an explained owner is collected until the pause ends', () => {
  const pauses: number[] = [];
  const limit = limitOf((owner) => owner === 'pod/ns/gone0', true, pauses);
  const found = rows(20);
  limit.survey(found);
  assert.deepEqual(pauses, [19]);
  assert.equal(limit.allows(...(found[1] as (typeof found)[0])), false);
  assert.equal(limit.allows(...(found[0] as (typeof found)[0])), true, 'rows of an owner with an observed deletion are collected');
  limit.end();
  assert.equal(limit.allows(...(found[1] as (typeof found)[0])), true);
});

test('deletions by users do not count, nor does a small number, nor anything in a laboratory', () => {
  for (const limit of [limitOf(() => true), limitOf(() => false, false)]) {
    const found = rows(40);
    limit.survey(found);
    assert.equal(limit.allows(...(found[3] as (typeof found)[0])), true);
  }
  const few = limitOf(() => false);
  few.survey(rows(15));
  assert.equal(few.allows(...(rows(1)[0] as ReturnType<typeof rows>[0])), true);
});

test('owners that disappear later count as well; a pause is reported once', () => {
  const pauses: number[] = [];
  const limit = limitOf(() => false, true, pauses);
  limit.survey([]);
  assert.equal(limit.allows(...(rows(1)[0] as ReturnType<typeof rows>[0])), true);
  limit.survey(rows(20));
  limit.survey(rows(25));
  assert.deepEqual(pauses, [20]);
  assert.equal(limit.allows(...(rows(1)[0] as ReturnType<typeof rows>[0])), false);
  limit.survey(rows(5));
  assert.equal(limit.allows(...(rows(1)[0] as ReturnType<typeof rows>[0])), false, 'no second list has confirmed the World');
  limit.end();
  assert.equal(limit.allows(...(rows(1)[0] as ReturnType<typeof rows>[0])), true);
});
