import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Edit, Verdict } from '../diff/edits.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import { rowId } from '../nb/row-id.ts';
import type { Uuid } from '../ovsdb/index.ts';
import { planGroupLines, planGroups } from './plan-groups.ts';

const uuid = '6c0f1b0e-6a2f-4b7e-9d5b-0d2f8d8f7a11' as Uuid;
const OWNERSHIP = { vendor: 'kube-ovn', 'kiln.io/owner': 'pod/shop/web', 'kiln.io/uid': 'u' };

function update(...edits: readonly Edit[]): Verdict {
  return { kind: 'change', change: 'update', edits, detail: '' };
}

function keys(table: string, set: Readonly<Record<string, string>>, column = 'external_ids'): Edit {
  return { kind: 'keys', table, uuid, column, set, remove: [] };
}

function port(name: string, verdict: Verdict): { readonly id: ReturnType<typeof rowId>; readonly verdict: Verdict } {
  return { id: rowId('Logical_Switch_Port', name), verdict };
}

function patch(name: string, body: object): ObjectWrite {
  return {
    ...{ resource: 'subnets', namespace: '', name, events: [], verb: 'patch', subresource: undefined, style: 'merge' },
    patch: body as Readonly<Record<string, unknown>>,
    uid: 'u',
  };
}

test('rows that get ownership keys alone are one group, and those of which more changes are others, with the fields', () => {
  const adopt = update(keys('Logical_Switch_Port', OWNERSHIP));
  const rows = [
    ...['a', 'b', 'c', 'd', 'e'].map((name) => port(name, adopt)),
    port('f', update({ kind: 'update', table: 'Logical_Switch_Port', uuid, row: { type: '' } }, keys('Logical_Switch_Port', OWNERSHIP))),
    port('g', update(keys('Logical_Switch_Port', { 'requested-chassis': 'n' }, 'options'))),
    port('h', { kind: 'change', change: 'insert', edits: [{ kind: 'insert', table: 'Logical_Switch_Port', uuid, row: {} }], detail: '' }),
    port('i', { kind: 'waiting', on: ['Logical_Switch/s'] }),
  ];
  assert.deepEqual(
    planGroups({ rows, objects: [] }).map(({ change, fields, names }) => [change, fields, names.length]),
    [
      ['adopt', [], 5],
      ['adopt', ['type'], 1],
      ['update', ['options:requested-chassis'], 1],
      ['insert', [], 1],
      ['later', ['waits for Logical_Switch'], 1],
    ],
  );
  const [header = '', first = ''] = planGroupLines({ rows, objects: [] });
  assert.match(header, /^CHANGE +KIND +COUNT +FIELDS +NAMES$/);
  assert.match(first, /^adopt +Logical_Switch_Port +5 +- +a, b, c and 2 more$/);
});

test('objects are grouped by what is written into them', () => {
  const objects = [
    patch('x', { metadata: { uid: 'u' }, spec: { private: false } }),
    patch('y', { metadata: { uid: 'u' }, spec: { private: false } }),
    patch('z', { metadata: { uid: 'u', resourceVersion: '1' }, status: { conditions: [] } }),
    { resource: 'ips', namespace: '', name: 'old', events: [], verb: 'delete', uid: 'u' } as const,
  ];
  assert.deepEqual(planGroups({ rows: [], objects }), [
    { change: 'patch', kind: 'Subnet', fields: ['spec.private'], names: ['x', 'y'] },
    { change: 'patch', kind: 'Subnet', fields: ['status.conditions'], names: ['z'] },
    { change: 'delete', kind: 'IP', fields: [], names: ['old'] },
  ]);
});
