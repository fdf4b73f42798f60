import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Desired } from '../../compile/desired.ts';
import type { Output } from '../../compile/output.ts';
import type { AnyObject } from '../../diff/object-diff.ts';
import { standingReports } from './standing-facts.ts';

const NOW = Date.UTC(2026, 0, 2);

test('conditions that were written lately are facts; those written long ago, differently or not yet are not', () => {
  const desired = new Desired();
  const failed = (name: string): Output => ({
    kind: 'patch',
    resource: 'subnets',
    key: name,
    uid: name,
    conditions: [
      {
        type: 'Ready',
        status: 'False',
        reason: 'VpcMissing',
        message: 'no Vpc',
        event: 'Warning',
        ...(name === 'new' && { eventOnce: true }),
      },
      { type: 'Accepted', status: 'False', reason: 'VpcMissing', message: 'no Vpc' },
    ],
  });
  const report: Output = {
    kind: 'report',
    resource: 'services',
    key: 'a/b',
    uid: 's',
    type: 'Warning',
    reason: 'NotCarriedOut',
    message: 'no',
  };
  desired.replace([], [...['new', 'old', 'other', 'bare', 'gone'].map(failed), report]);
  const statusSince = (minutesAgo: number, message: string): AnyObject['status'] => ({
    conditions: ['Ready', 'Accepted'].map((type) => ({
      ...{ type, status: 'False', reason: 'VpcMissing', message },
      lastUpdateTime: new Date(NOW - minutesAgo * 60_000).toISOString(),
    })),
  });
  const status: Readonly<Record<string, AnyObject['status']>> = {
    new: statusSince(9, 'no Vpc'),
    old: statusSince(11, 'no Vpc'),
    other: statusSince(1, 'else'),
    bare: {},
  };
  const source = {
    get: (_resource: string, name: string): AnyObject | undefined =>
      name in status ? { metadata: { name, uid: name, resourceVersion: '1' }, status: status[name] } : undefined,
  };
  assert.deepEqual(
    [...standingReports(desired, source, NOW)].map((report) => [report?.uid, report?.reason, report?.once]),
    [
      ['s', 'NotCarriedOut', undefined],
      ['new', 'VpcMissing', true],
    ],
  );
});

test('the generator yields while it examines very many objects, and omits none', () => {
  const desired = new Desired();
  const many = Array.from({ length: 5_000 }, (_, at): Output => {
    const condition = { type: 'Ready', status: 'False', reason: 'VpcMissing', message: 'no Vpc', event: 'Warning' } as const;
    return { kind: 'patch', resource: 'subnets', key: `s${at}`, uid: `u${at}`, conditions: [condition] };
  });
  desired.replace([], many);
  const conditions = [
    { type: 'Ready', status: 'False', reason: 'VpcMissing', message: 'no Vpc', lastUpdateTime: new Date(NOW).toISOString() },
  ];
  const get = (_resource: string, name: string): AnyObject => ({
    metadata: { name, uid: name, resourceVersion: '1' },
    status: { conditions },
  });
  const pauses: number[] = [];
  let report = 0;
  for (const one of standingReports(desired, { get }, NOW)) {
    if (one === undefined) pauses.push(report);
    else report++;
  }
  assert.equal(report, 5_000);
  assert.deepEqual(pauses, [1_999, 3_999]);
});
