import assert from 'node:assert/strict';
import { test } from 'node:test';
import { labNodes } from './lab-node.ts';
import { nextStep } from './next-step.ts';
import { type ObservedPod, trimPod } from './observed-pod.ts';

const nodes = labNodes(3, true);

interface Parts {
  readonly metadata?: Partial<ObservedPod['metadata']>;
  readonly spec?: Partial<ObservedPod['spec']>;
  readonly status?: ObservedPod['status'];
}

function pod({ metadata = {}, spec = {}, status = {} }: Parts): ObservedPod {
  return {
    metadata: { name: 'p', namespace: 'n', uid: 'u', ...metadata },
    spec: { containers: [{ name: 'c' }], ...spec },
    status,
  };
}

const bound = { nodeName: 'node-2' };
const network = {
  'ovn.kubernetes.io/allocated': 'true',
  'ovn.kubernetes.io/routed': 'true',
  'ovn.kubernetes.io/ip_address': '10.16.0.2,fd00::2',
};

function candidates(spec: Parts['spec'] = {}): string[] | undefined {
  const step = nextStep(pod({ spec }), nodes);
  return step?.kind === 'bind' ? step.candidates.map(({ name }) => name) : undefined;
}

test('a pod without a node is bound to any node, or to those it names', () => {
  const onNode = (name: string): Parts['spec'] => ({
    affinity: {
      nodeAffinity: {
        requiredDuringSchedulingIgnoredDuringExecution: {
          nodeSelectorTerms: [{ matchFields: [{ key: 'metadata.name', operator: 'In', values: [name] }] }],
        },
      },
    },
  });
  assert.deepEqual(candidates(), ['node-1', 'node-2', 'node-3']);
  assert.deepEqual(candidates({ nodeSelector: { 'kubernetes.io/hostname': 'node-3' } }), ['node-3']);
  assert.deepEqual(candidates(onNode('node-1')), ['node-1']);
  assert.equal(candidates(onNode('elsewhere')), undefined);
  assert.equal(candidates({ schedulerName: 'another' }), undefined);
  assert.equal(candidates({ schedulingGates: [{ name: 'wait' }] }), undefined);
});

test('a pod is bound only to a node that takes pods now; a pod that is bound runs there all the same', () => {
  const step = nextStep(pod({}), nodes, ({ name }) => name !== 'node-2');
  assert.deepEqual(step?.kind === 'bind' ? step.candidates.map(({ name }) => name) : [], ['node-1', 'node-3']);
  assert.equal(
    nextStep(pod({}), nodes, () => false),
    undefined,
  );
  assert.equal(nextStep(pod({ spec: bound, metadata: { annotations: network } }), nodes, () => false)?.kind, 'run');
});

test("a pod whose default network is replaced by annotation runs with that network's address", () => {
  const named = { 'v1.multus-cni.io/default-network': 'other/fast' };
  const given = Object.fromEntries(Object.entries(network).map(([key, value]) => [key.replace('ovn.', 'fast.other.ovn.'), value]));
  assert.equal(nextStep(pod({ spec: bound, metadata: { annotations: { ...network, ...named } } }), nodes), undefined);
  const step = nextStep(pod({ spec: bound, metadata: { annotations: { ...given, ...named } } }), nodes);
  assert.deepEqual(step, { kind: 'run', node: nodes[1], addresses: ['10.16.0.2', 'fd00::2'] });
});

test('a pod runs when its network is there, with host networking at once', () => {
  assert.equal(nextStep(pod({ spec: bound }), nodes), undefined);
  const { 'ovn.kubernetes.io/routed': _, ...unrouted } = network;
  assert.equal(nextStep(pod({ spec: bound, metadata: { annotations: unrouted } }), nodes), undefined);
  const step = nextStep(pod({ spec: bound, metadata: { annotations: network } }), nodes);
  assert.deepEqual(step, { kind: 'run', node: nodes[1], addresses: ['10.16.0.2', 'fd00::2'] });
  const host = nextStep(pod({ spec: { ...bound, hostNetwork: true } }), nodes);
  assert.deepEqual(host, { kind: 'run', node: nodes[1], addresses: ['172.18.0.3', 'fd18::3'] });
});

test('a running pod does not change until its address does, a finished one never', () => {
  const running = { phase: 'Running', podIPs: [{ ip: '10.16.0.2' }, { ip: 'fd00::2' }] };
  assert.equal(nextStep(pod({ spec: bound, metadata: { annotations: network }, status: running }), nodes), undefined);
  const moved = { ...network, 'ovn.kubernetes.io/ip_address': '10.16.0.9' };
  assert.equal(nextStep(pod({ spec: bound, metadata: { annotations: moved }, status: running }), nodes)?.kind, 'run');
  const done = { ...running, phase: 'Succeeded' };
  assert.equal(nextStep(pod({ spec: bound, metadata: { annotations: moved }, status: done }), nodes), undefined);
});

test('a deletion is confirmed once, and only for pods on our nodes', () => {
  const metadata = { deletionTimestamp: '2026-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 };
  assert.deepEqual(nextStep(pod({ spec: bound, metadata }), nodes), { kind: 'confirm-deletion' });
  assert.equal(nextStep(pod({ spec: bound, metadata: { ...metadata, deletionGracePeriodSeconds: 0 } }), nodes), undefined);
  assert.equal(nextStep(pod({ spec: { nodeName: 'lost' }, metadata }), nodes), undefined);
  assert.equal(nextStep(pod({ metadata }), nodes), undefined);
});

test('where pods have sandboxes, a pod gets one at once, runs with its addresses, and loses it at its end', () => {
  const step = (parts: Parts, addresses?: readonly string[]): ReturnType<typeof nextStep> =>
    nextStep(pod(parts), nodes, undefined, () => addresses);
  assert.deepEqual(step({ spec: bound }), { kind: 'set-up', node: nodes[1] });
  assert.deepEqual(step({ spec: { ...bound, hostNetwork: true } }), { kind: 'set-up', node: nodes[1] });
  assert.deepEqual(step({ spec: bound, metadata: { annotations: network } }, ['10.16.0.7']), {
    ...{ kind: 'run', node: nodes[1] },
    addresses: ['10.16.0.7'],
  });
  const running = { phase: 'Running', podIPs: [{ ip: '10.16.0.7' }] };
  assert.equal(step({ spec: bound, status: running }, ['10.16.0.7']), undefined);
  assert.equal(step({ spec: bound, status: running })?.kind, 'set-up', 'the laboratory was started again');
  assert.deepEqual(step({ spec: bound, status: { phase: 'Failed' } }, ['10.16.0.7']), { kind: 'tear-down' });
  assert.equal(step({ spec: bound, status: { phase: 'Failed' } }), undefined);
});

test('a trimmed pod leads to the same steps and has no undefined field', () => {
  const full = { ...pod({ spec: bound, metadata: { annotations: network } }), managedFields: ['much'] };
  const trimmed = trimPod(full);
  assert.deepEqual(nextStep(trimmed, nodes), nextStep(full, nodes));
  assert.deepEqual(JSON.parse(JSON.stringify(trimmed)), trimmed);
  assert.equal('managedFields' in trimmed, false);
});
