import assert from 'node:assert/strict';
import { test } from 'node:test';
import { FINALIZER } from '../api/well-known.ts';
import type { ObjectOutput, PatchOutput } from '../compile/output.ts';
import type { AnyObject } from './object-diff.ts';
import { diffObject } from './object-diff.ts';

const NOW = '2026-11-21T00:00:00Z';

function subnet(more: { metadata?: Partial<AnyObject['metadata']>; spec?: unknown; status?: unknown } = {}): AnyObject {
  return {
    metadata: { name: 's1', uid: 'u1', resourceVersion: '7', generation: 3, ...more.metadata },
    spec: more.spec ?? {},
    status: more.status ?? {},
  };
}

function patch(more: Partial<PatchOutput>): PatchOutput {
  return { kind: 'patch', resource: 'subnets', key: 's1', uid: 'u1', ...more };
}

function diff(outputs: readonly ObjectOutput[], observed: AnyObject | undefined): ReturnType<typeof diffObject> {
  return diffObject('subnets', 's1', outputs, observed, NOW);
}

test('a missing object is created, an existing one is not', () => {
  const create = { kind: 'create', resource: 'subnets', key: 's1', object: { metadata: { name: 's1' } } } as const;
  assert.deepEqual(diff([create], undefined), [
    { resource: 'subnets', namespace: '', name: 's1', verb: 'create', object: create.object, events: [] },
  ]);
  assert.deepEqual(diff([create], subnet()), []);
});

test('only fields that differ are written; spec and status are two writes', () => {
  const observed = subnet({ spec: { protocol: 'IPv4', provider: '' }, status: { v4usingIPs: 3, v4availableIPs: 250 } });
  const writes = diff([patch({ spec: { protocol: 'IPv4', provider: 'ovn' }, status: { v4usingIPs: 4n, v4availableIPs: 250n } })], observed);
  assert.deepEqual(writes, [
    {
      resource: 'subnets',
      namespace: '',
      name: 's1',
      verb: 'patch',
      subresource: undefined,
      style: 'merge',
      patch: { spec: { provider: 'ovn' } },
      uid: 'u1',
      resourceVersion: '7',
      events: [],
    },
    {
      resource: 'subnets',
      namespace: '',
      name: 's1',
      verb: 'patch',
      subresource: 'status',
      style: 'merge',
      patch: { status: { v4usingIPs: 4n } },
      uid: 'u1',
      resourceVersion: '7',
      events: [],
    },
  ]);
});

test('a number that the server stores as float64 is not written again and again', () => {
  const observed = subnet({ status: { v6availableIPs: 18446744073709552000, v4availableIPs: 9007199254740993n } });
  assert.deepEqual(diff([patch({ status: { v6availableIPs: 18446744073709551614n, v4availableIPs: 9007199254740993n } })], observed), []);
  assert.equal(diff([patch({ status: { v4availableIPs: 9007199254740992n } })], observed).length, 1);
});

test('the Event of a written patch is not emitted again with the next patch of the object', () => {
  const event = { type: 'Normal', reason: 'PodNetworkAllocated', message: 'it has an address' } as const;
  const [events, more] = [patch({ annotations: { told: 'yes' }, event }), patch({ annotations: { more: 'yes' } })];
  const reported = (annotations: Readonly<Record<string, string>>): readonly unknown[] =>
    diff([events, more], subnet({ metadata: { annotations } })).map(({ events }) => events);
  assert.deepEqual(reported({}), [[event]]);
  assert.deepEqual(reported({ told: 'yes' }), [[]]);
});

test('a patch for another uid does not apply to this object', () => {
  assert.deepEqual(
    diff([patch({ uid: 'other', finalizer: true }), { kind: 'delete', resource: 'subnets', key: 's1', uid: 'other' }], subnet()),
    [],
  );
});

test('the finalizer is removed only if all rules agree, and foreign finalizers stay', () => {
  const observed = subnet({ metadata: { finalizers: [FINALIZER, 'example.com/other'] } });
  assert.deepEqual(diff([patch({ finalizer: false }), patch({ finalizer: true })], observed), []);
  const [write] = diff([patch({ finalizer: false })], observed);
  assert.deepEqual(write?.verb === 'patch' ? [write.patch, write.resourceVersion] : undefined, [
    { metadata: { finalizers: ['example.com/other'] } },
    '7',
  ]);
});

test('the legacy finalizer is replaced, and an object that is being deleted takes no new one', () => {
  const [write] = diff([patch({ finalizer: true })], subnet({ metadata: { finalizers: ['kube-ovn-controller'] } }));
  assert.deepEqual(write?.verb === 'patch' ? write.patch : undefined, { metadata: { finalizers: [FINALIZER] } });
  assert.deepEqual(diff([patch({ finalizer: true })], subnet({ metadata: { deletionTimestamp: NOW, finalizers: ['x'] } })), []);
});

test('the legacy finalizer of an object that is being deleted stays as long as a rule keeps the object', () => {
  const observed = subnet({ metadata: { deletionTimestamp: NOW, finalizers: ['kube-ovn-controller', 'example.com/other'] } });
  assert.deepEqual(diff([patch({ finalizer: true })], observed), []);
  const [write] = diff([patch({ finalizer: false })], observed);
  assert.deepEqual(write?.verb === 'patch' ? write.patch : undefined, { metadata: { finalizers: ['example.com/other'] } });
});

test('with the last finalizer of a terminating object no other write is sent', () => {
  const observed = subnet({ metadata: { deletionTimestamp: NOW, finalizers: [FINALIZER] } });
  const writes = diff([patch({ finalizer: false, status: { v4usingIPs: 1 } })], observed);
  assert.equal(writes.length, 1);
});

test('a changed condition gets a new time and its Event; a changed message keeps the transition time', () => {
  const held = { type: 'Ready', status: 'True', reason: 'Accepted', message: 'old', lastTransitionTime: '2026-01-01T00:00:00Z' };
  const foreign = { type: 'Theirs', status: 'True' };
  const observed = subnet({ status: { conditions: [held, foreign] } });
  const ready = { type: 'Ready', status: 'True', reason: 'Accepted', message: 'new' } as const;
  const blocked = { type: 'DeletionBlocked', status: 'True', reason: 'DeletionBlocked', message: 'by x', event: 'Warning' } as const;
  const [write] = diff([patch({ conditions: [ready, blocked] })], observed);
  assert.ok(write?.verb === 'patch');
  assert.deepEqual(write.patch, {
    status: {
      conditions: [
        {
          type: 'Ready',
          status: 'True',
          reason: 'Accepted',
          message: 'new',
          observedGeneration: 3,
          lastUpdateTime: NOW,
          lastTransitionTime: '2026-01-01T00:00:00Z',
        },
        foreign,
        {
          type: 'DeletionBlocked',
          status: 'True',
          reason: 'DeletionBlocked',
          message: 'by x',
          observedGeneration: 3,
          lastUpdateTime: NOW,
          lastTransitionTime: NOW,
        },
      ],
    },
  });
  assert.deepEqual(write.events, [{ type: 'Warning', reason: 'DeletionBlocked', message: 'by x' }]);
  const after = subnet({ status: (write.patch as { status: unknown }).status });
  assert.deepEqual(diff([patch({ conditions: [ready, blocked] })], after), []);
  assert.equal(diff([patch({ conditions: [ready], withoutConditions: ['DeletionBlocked'] })], after).length, 1);
});

test('a kind without conditions keeps them as JSON in an annotation', () => {
  const ip: AnyObject = { metadata: { name: 'p.ns', uid: 'u2', resourceVersion: '1', annotations: { 'kiln.io/conditions': 'nonsense' } } };
  const wanted: PatchOutput = {
    kind: 'patch',
    resource: 'ips',
    key: 'p.ns',
    uid: 'u2',
    conditions: [{ type: 'AddressConflict', status: 'True', reason: 'AddressConflict', message: 'm' }],
  };
  const [write] = diffObject('ips', 'p.ns', [wanted], ip, NOW);
  assert.ok(write?.verb === 'patch');
  const text = (write.patch as { metadata: { annotations: Record<string, string> } }).metadata.annotations['kiln.io/conditions'] ?? '';
  assert.deepEqual(
    diffObject('ips', 'p.ns', [wanted], { metadata: { ...ip.metadata, annotations: { 'kiln.io/conditions': text } } }, NOW),
    [],
  );
});

test('an edited transition time that is no time becomes now; a condition without one stays as it is', () => {
  const idle = { type: 'Idle', status: 'True', reason: 'LeaseRuns', message: 'm' } as const;
  const held = (lastTransitionTime?: string): AnyObject => ({
    metadata: { name: 'v', uid: 'u1', resourceVersion: '1' },
    status: { conditions: [{ ...idle, ...(lastTransitionTime !== undefined && { lastTransitionTime }) }] },
  });
  const reported: PatchOutput = { kind: 'patch', resource: 'vips', key: 'v', uid: 'u1', conditions: [idle] };
  const written = (since?: string): unknown => {
    const [write] = diffObject('vips', 'v', [reported], held(since), NOW);
    return write?.verb === 'patch' ? write : undefined;
  };
  for (const since of ['yesterday', '', '+012026-01-01T00:00:00Z']) {
    const [write] = diffObject('vips', 'v', [reported], held(since), NOW);
    assert.ok(write?.verb === 'patch', since);
    const { conditions } = write.patch['status'] as { readonly conditions: readonly { readonly lastTransitionTime: string }[] };
    assert.deepEqual([conditions.map((one) => one.lastTransitionTime), write.events], [[NOW], []]);
  }
  assert.deepEqual([written(), written('2026-01-01T00:00:00Z')], [undefined, undefined]);
});

test('a timed condition begins by the monotonic clock, and not on a day far in the future', () => {
  const idle = { type: 'Idle', status: 'True', reason: 'LeaseRuns', message: 'm', timed: true } as const;
  const other = { type: 'Ready', status: 'True', reason: 'Accepted', message: 'm' } as const;
  const reported: PatchOutput = { kind: 'patch', resource: 'vips', key: 'v', uid: 'u1', conditions: [idle, other] };
  const later = '2026-03-01T01:00:00Z';
  const times = (held: readonly object[]): readonly unknown[] => {
    const observed: AnyObject = { metadata: { name: 'v', uid: 'u1', resourceVersion: '1' }, status: { conditions: held } };
    const [write] = diffObject('vips', 'v', [reported], observed, '2026-03-01T00:00:00Z', later);
    if (write?.verb !== 'patch') return [];
    const { conditions } = write.patch['status'] as { readonly conditions: readonly { readonly lastTransitionTime: string }[] };
    return conditions.map(({ lastTransitionTime }) => lastTransitionTime);
  };
  const since = (lastTransitionTime: string): readonly object[] => [idle, other].map((one) => ({ ...one, lastTransitionTime }));
  assert.deepEqual(times([]), [later, '2026-03-01T00:00:00Z'], 'the clock was set back by an hour');
  assert.deepEqual(times(since('2026-03-01T23:00:00Z')), [], "another machine's clock is ahead");
  assert.deepEqual(times(since('2027-03-01T00:00:00Z')), [later, '2027-03-01T00:00:00Z'], 'a clock showed another year');
});

test("a pod's conditions are merged by type, so those of the kubelet stay", () => {
  const pod: AnyObject = { metadata: { namespace: 'ns', name: 'p', uid: 'u3', resourceVersion: '1' }, status: {} };
  const [write] = diffObject(
    'pods',
    'ns/p',
    [
      {
        kind: 'patch',
        resource: 'pods',
        key: 'ns/p',
        uid: 'u3',
        conditions: [{ type: 'kiln.io/NetworkBound', status: 'False', reason: 'WaitingForSubnet', message: 'm' }],
      },
    ],
    pod,
    NOW,
  );
  assert.ok(write?.verb === 'patch');
  assert.equal(write.style, 'strategic');
  assert.equal(write.subresource, 'status');
  assert.deepEqual(write.patch, {
    status: {
      conditions: [{ type: 'kiln.io/NetworkBound', status: 'False', reason: 'WaitingForSubnet', message: 'm', lastTransitionTime: NOW }],
    },
  });
});

test('a key to remove from an object in the status is null in the merge patch', () => {
  const [write] = diff([patch({ status: { nested: { a: 1 } } })], subnet({ status: { nested: { a: 1, b: 2 } } }));
  assert.ok(write?.verb === 'patch');
  assert.deepEqual(write.patch, { status: { nested: { a: 1, b: null } } });
});

test('a list of conditions does not overwrite a newer one, in the status or in the annotation', () => {
  const condition = { type: 'AddressConflict', status: 'True', reason: 'AddressConflict', message: 'm' } as const;
  const observed: AnyObject = { metadata: { name: 'x', uid: 'u1', resourceVersion: '7', annotations: {} }, status: { v4ip: '10.0.0.2' } };
  for (const resource of ['ips', 'vips', 'subnets'] as const) {
    const reported: PatchOutput = { kind: 'patch', resource, key: 'x', uid: 'u1', conditions: [condition] };
    const [write] = diffObject(resource, 'x', [reported], observed, NOW);
    assert.equal(write?.verb === 'patch' ? write.resourceVersion : '', '7', resource);
  }
  const labels: PatchOutput = { kind: 'patch', resource: 'vips', key: 'x', uid: 'u1', labels: { a: 'b' }, status: { v4ip: '10.0.0.3' } };
  const [write] = diffObject('vips', 'x', [labels], observed, NOW);
  assert.equal(write?.verb === 'patch' ? write.resourceVersion : '', undefined);
});

test('a label that the API server refuses does not keep the rest of a write from it: a bad value goes, a bad key is left out', () => {
  const observed: AnyObject = { metadata: { name: 'x', uid: 'u1', resourceVersion: '7', labels: { old: 'is-there' } } };
  const labels = { old: '{}', long: 'x'.repeat(64), edge: 'a-', 'not a key': 'v', good: 'v', 'kiln.io/empty': '' };
  const [write] = diffObject('vips', 'x', [{ kind: 'patch', resource: 'vips', key: 'x', uid: 'u1', labels }], observed, NOW);
  assert.deepEqual(write?.verb === 'patch' ? write.patch : undefined, {
    metadata: { labels: { old: null, good: 'v', 'kiln.io/empty': '' } },
  });
  const refused = { ...labels, good: null, 'kiln.io/empty': null };
  assert.deepEqual(
    diffObject(
      'vips',
      'x',
      [{ kind: 'patch', resource: 'vips', key: 'x', uid: 'u1', labels: refused }],
      { metadata: { ...observed.metadata, labels: {} } },
      NOW,
    ),
    [],
    'and is not tried again',
  );
});

test("a pod's condition that no rule emits any longer is removed by type, and the others stay", () => {
  const held = [
    { type: 'kiln.io/NetworkBound', status: 'True', reason: 'Bound' },
    { type: 'Ready', status: 'True' },
  ];
  const observed = { metadata: { name: 'web', namespace: 'shop', uid: 'u1', resourceVersion: '7' }, status: { conditions: held } };
  const reported: PatchOutput = {
    kind: 'patch',
    resource: 'pods',
    key: 'shop/web',
    uid: 'u1',
    withoutConditions: ['kiln.io/NetworkBound'],
  };
  const [write] = diffObject('pods', 'shop/web', [reported], observed, NOW);
  assert.ok(write?.verb === 'patch');
  assert.deepEqual(write.patch, { status: { conditions: [{ $patch: 'delete', type: 'kiln.io/NetworkBound' }] } });
});

test('a deletion and an eviction have the uid and their Event, and are not sent for an object that is being deleted', () => {
  const event = { type: 'Normal', reason: 'LeaseEnded', message: 'it is over' } as const;
  const target = { resource: 'pods', key: 'a/b', uid: 'u1' } as const;
  const pod = (metadata: Partial<AnyObject['metadata']> = {}): AnyObject => ({
    metadata: { name: 'b', namespace: 'a', uid: 'u1', resourceVersion: '7', ...metadata },
  });
  const verbs = (outputs: readonly ObjectOutput[], observed: AnyObject | undefined): readonly unknown[] =>
    diffObject('pods', 'a/b', outputs, observed, NOW).map((write) => [write.verb, 'uid' in write ? write.uid : '', write.events]);
  for (const kind of ['delete', 'evict'] as const) {
    const output: ObjectOutput = { kind, ...target, event };
    assert.deepEqual(verbs([output], pod()), [[kind, 'u1', [event]]]);
    assert.deepEqual(verbs([output], pod({ deletionTimestamp: NOW })), []);
    assert.deepEqual(verbs([output], pod({ uid: 'another' })), []);
    assert.deepEqual(verbs([output], undefined), []);
  }
  const both: readonly ObjectOutput[] = [
    { kind: 'evict', ...target },
    { kind: 'delete', ...target },
  ];
  assert.deepEqual(verbs(both, pod()), [['delete', 'u1', []]], 'a pod that is deleted is not evicted as well');
});

test('a condition that is the same for a newer spec gets its generation, without an Event and without a new transition time', () => {
  const held = {
    type: 'Ready',
    status: 'True',
    reason: 'RouterReady',
    message: '',
    observedGeneration: 2,
    lastUpdateTime: 'u',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const says = patch({ conditions: [{ type: 'Ready', status: 'True', reason: 'RouterReady', message: '', event: 'Normal' }] });
  const [write, ...more] = diff([says], subnet({ status: { conditions: [held] } }));
  assert.deepEqual(more, []);
  assert.ok(write?.verb === 'patch');
  assert.deepEqual(write.patch, { status: { conditions: [{ ...held, observedGeneration: 3, lastUpdateTime: NOW }] } });
  assert.deepEqual(write.events, []);
  assert.deepEqual(diff([says], subnet({ status: { conditions: [{ ...held, observedGeneration: 3 }] } })), []);
  const { observedGeneration: _, ...without } = held;
  assert.deepEqual(diff([says], subnet({ status: { conditions: [without] } })), [], 'a server that drops the field is not asked again');
});

test('a kind without a status subresource gets no observedGeneration: each status write would be a newer generation', () => {
  const says: PatchOutput = {
    kind: 'patch',
    resource: 'vips',
    key: 's1',
    uid: 'u1',
    conditions: [{ type: 'Ready', status: 'True', reason: 'Accepted', message: '' }],
  };
  const [write] = diffObject('vips', 's1', [says], subnet(), NOW);
  assert.ok(write?.verb === 'patch' && write.subresource === undefined);
  const { status } = write.patch as { readonly status: { readonly conditions: readonly Readonly<Record<string, unknown>>[] } };
  assert.equal(status.conditions[0]?.['observedGeneration'], undefined);
  const next = subnet({ metadata: { generation: 4 }, status: { conditions: [{ ...status.conditions[0], observedGeneration: 3 }] } });
  assert.deepEqual(diffObject('vips', 's1', [says], next, NOW), []);
});
