import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Condition } from '../api/kubernetes/meta.ts';
import type { AwaitedState } from './awaited-state.ts';
import { awaitedState, awaitedText, canBeBound, notYet } from './awaited-state.ts';
import type { StatefulObject } from './kind-words.ts';

const READY: AwaitedState = { kind: 'ready' };

function object(conditions: readonly Partial<Condition>[], more: object = {}, status: object = {}): StatefulObject {
  return {
    metadata: { name: 'red', uid: 'u1', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z', generation: 3, ...more },
    status: { conditions, ...status },
  };
}

test('--for is a state, or a condition with a status', () => {
  assert.deepEqual(awaitedState('Ready'), READY);
  assert.deepEqual(
    [awaitedState('bound')?.kind, awaitedState('delete')?.kind, awaitedState('Deleted')?.kind],
    ['bound', 'deleted', 'deleted'],
  );
  assert.deepEqual(awaitedState('condition=Accepted=False'), { kind: 'condition', type: 'Accepted', status: 'False' });
  assert.equal(awaitedText(awaitedState('condition=Accepted') as AwaitedState), 'Accepted=True');
  for (const wrong of ['', 'Accepted', 'condition', 'condition=', 'condition=a=b=c', 'Ready=False'])
    assert.equal(awaitedState(wrong), undefined, wrong);
});

test('Ready is what a controller has said about the present generation; silence is not ready', () => {
  const ready = { type: 'Ready', status: 'True' } as const;
  assert.equal(notYet(READY, 'subnets', undefined), 'it does not exist');
  assert.equal(notYet(READY, 'subnets', object([])), 'no controller has reported on it yet');
  assert.equal(notYet(READY, 'subnets', object([{ ...ready, observedGeneration: 3 }])), undefined);
  assert.equal(notYet(READY, 'subnets', object([ready])), undefined, "Kube-OVN's conditions have no generation");
  assert.match(notYet(READY, 'subnets', object([{ ...ready, observedGeneration: 2 }])) ?? '', /latest change/);
  const wrong = [{ type: 'Accepted', status: 'False', reason: 'SubnetOverlap', message: 'Subnet red overlaps' }] as const;
  assert.equal(notYet(READY, 'subnets', object(wrong)), 'Subnet red overlaps');
  assert.equal(notYet(READY, 'vpcs', object([], {}, { standby: true })), undefined, "Kube-OVN's field of a Vpc");
  const gone = object([ready, { type: 'DeletionBlocked', status: 'True', message: 'IP a uses it' }], {
    deletionTimestamp: '2026-01-02T00:00:00Z',
  });
  assert.equal(notYet(READY, 'subnets', gone), 'it is being deleted: IP a uses it');
});

test('Bound is a network for a pod, and an address for an object that has one', () => {
  const bound: AwaitedState = { kind: 'bound' };
  const allocated = { annotations: { 'ovn.kubernetes.io/allocated': 'true' } };
  assert.equal(notYet(bound, 'pods', object([])), 'no controller has given it a network yet');
  assert.equal(notYet(bound, 'pods', object([], allocated)), undefined);
  const condition = { type: 'kiln.io/NetworkBound', status: 'False', reason: 'NoFreeAddress', message: 'Subnet red is full' } as const;
  assert.equal(
    notYet(bound, 'pods', object([condition], allocated)),
    'it has no network: Subnet red is full',
    'its second interface has none',
  );
  assert.equal(notYet(bound, 'pods', { ...object([]), spec: { hostNetwork: true } }), undefined);
  assert.equal(notYet(bound, 'vips', object([])), 'NoAddress');
  assert.equal(notYet(bound, 'vips', object([], {}, { v4ip: '10.0.0.9' })), undefined);
  assert.deepEqual((['pods', 'nodes', 'ips', 'vips', 'subnets', 'vpcs'] as const).map(canBeBound), [true, true, true, true, false, false]);
});

test('Deleted: it is gone, or another object has its name', () => {
  const deleted: AwaitedState = { kind: 'deleted' };
  assert.equal(notYet(deleted, 'vpcs', undefined), undefined);
  assert.equal(notYet(deleted, 'vpcs', object([]), 'u0'), undefined);
  assert.equal(notYet(deleted, 'vpcs', object([]), 'u1'), 'it is not being deleted');
  const going = { deletionTimestamp: '2026-01-02T00:00:00Z' };
  assert.equal(
    notYet(deleted, 'vpcs', object([], { ...going, finalizers: ['example.com/x'] })),
    'it waits for the programs that set its finalizers example.com/x',
  );
  const blocked = { type: 'DeletionBlocked', status: 'True', message: 'Subnet web uses it' } as const;
  assert.equal(notYet(deleted, 'vpcs', object([blocked], going)), 'Subnet web uses it');
});

test('a condition by its name in any case, with a status, of the present generation', () => {
  const state = (text: string): AwaitedState => awaitedState(text) as AwaitedState;
  const accepted = { type: 'Accepted', status: 'True' } as const;
  assert.equal(notYet(state('condition=accepted'), 'vlans', object([accepted])), undefined);
  assert.equal(notYet(state('condition=Accepted=false'), 'vlans', object([accepted])), 'its condition Accepted is True');
  assert.equal(notYet(state('condition=Ready'), 'vlans', object([accepted])), 'it has no condition Ready');
  assert.match(notYet(state('condition=Accepted'), 'vlans', object([{ ...accepted, observedGeneration: 1 }])) ?? '', /latest change/);
});
