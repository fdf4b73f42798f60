import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../testing/pod-scene.ts';
import type { AnyObservedObject } from '../world/world.ts';
import { explanationJson } from './explanation-json.ts';
import { explanationLine, treeLines } from './tree-text.ts';
import { explainWorkload } from './workload.ts';
import type { Workload } from './workload.ts';

function treeText(...of: Parameters<typeof treeLines>): string {
  return treeLines(...of)
    .map(({ painted }) => `${painted}\n`)
    .join('');
}

const NOW = Date.parse('2026-01-01T01:00:00Z');
const LIMITS = { children: 10 };

function scene(cidrBlock = '10.1.0.0/24'): PodScene {
  const made = new PodScene();
  made.bench.put('vpcs', { metadata: { name: 'blue' } });
  made.subnet('red', { vpc: 'blue', cidrBlock, namespaces: ['shop'] });
  made.bench.converge();
  return made;
}

function workload(kind: string, uid: string, replicas: number, readyReplicas: number, workloads: readonly Workload[] = []): Workload {
  const metadata = { name: `web-${uid}`, namespace: 'shop', uid, creationTimestamp: '2026-01-01T00:00:00Z', resourceVersion: '1' };
  const object = { apiVersion: 'apps/v1', kind, metadata, spec: { replicas }, status: { readyReplicas } } as unknown as AnyObservedObject;
  return { type: kind.toLowerCase(), object, workloads };
}

function drawn(made: PodScene, of: Workload): string[] {
  return treeText(explanationLine(explainWorkload(made.bench.world, of, LIMITS), NOW))
    .split('\n')
    .slice(1)
    .map((line) => line.replace(/ {2,}/g, '  ').trimEnd());
}

function ownedPod(made: PodScene, name: string, kind: string, uid: string): void {
  const pod = made.pod(name);
  const ownerReferences = [{ apiVersion: 'apps/v1', kind, name: `web-${uid}`, uid, controller: true }];
  made.bench.put('pods', { ...pod, metadata: { ...pod.metadata, ownerReferences } });
}

test('an annotation of a Deployment itself, which its pods do not get, is reported; one that its template has as well is not', () => {
  const made = scene();
  const annotations = { 'ovn.kubernetes.io/ip_pool': 'few' };
  const notes = (template: object): readonly string[] => {
    const { object, ...of } = workload('Deployment', 'd', 0, 0);
    const annotated = { ...object, metadata: { ...object.metadata, annotations }, spec: { replicas: 0, template } } as AnyObservedObject;
    return explainWorkload(made.bench.world, { ...of, object: annotated }, LIMITS).notes.map(({ what, message }) => `${what}: ${message}`);
  };
  assert.deepEqual(notes({ metadata: {} }), [
    'without effect: Deployment shop/web-d: metadata.annotations[ovn.kubernetes.io/ip_pool] "few" is read by no program; pods have the annotations of their template alone: write it into spec.template.metadata.annotations',
  ]);
  assert.deepEqual(notes({ metadata: { annotations } }), []);
});

test('a Deployment: its ReplicaSets that have or want pods, these, and their addresses', () => {
  const made = scene();
  ownedPod(made, 'web-1', 'ReplicaSet', 'r2');
  ownedPod(made, 'web-2', 'ReplicaSet', 'r2');
  made.pod('stranger');
  made.bench.converge();
  const of = workload('Deployment', 'd', 2, 1, [workload('ReplicaSet', 'r1', 0, 0), workload('ReplicaSet', 'r2', 2, 1)]);
  const lines = drawn(made, of);
  assert.equal(lines[0], 'Deployment/shop/web-d  False  1/2  60m');
  assert.equal(lines[1], '└─ creates');
  assert.match(lines[2] ?? '', /^ {2}└─ ReplicaSet\/shop\/web-r2 {2}False {2}1\/2/);
  assert.deepEqual(
    lines.slice(3).map((line) => line.replace(/ {2}(True|False|-) .*$/, '')),
    ['  ├─ Pod/shop/web-1', '  │  └─ IP/web-1.shop  10.1.0.2', '  └─ Pod/shop/web-2', '  └─ IP/web-2.shop  10.1.0.3', ''],
  );
  const { waiting, next } = explainWorkload(made.bench.world, of, LIMITS);
  assert.equal(waiting?.message, 'Deployment shop/web-d has 1/2 pods ready, and none of them waits for its network');
  assert.deepEqual(next, ['kubectl describe deployment web-d -n shop']);
  assert.equal(explainWorkload(made.bench.world, workload('Deployment', 'd', 2, 2), LIMITS).waiting, undefined);
});

test('a workload whose pod waits for its network waits for the same, and the next command is about the pod', () => {
  const made = scene('10.1.0.0/30');
  for (const name of ['web-1', 'web-2', 'web-3']) ownedPod(made, name, 'ReplicaSet', 'r');
  made.bench.converge();
  const { waiting, next } = explainWorkload(made.bench.world, workload('ReplicaSet', 'r', 3, 1), LIMITS);
  assert.equal(waiting?.reason, 'NoAvailableAddress');
  assert.match(waiting.message, /no free IPv4 address in Subnet "red"/);
  assert.match(next[0] ?? '', /^kiln explain pod web-\d -n shop$/);
});

test('for programs too, and what is left out is counted', () => {
  const made = scene();
  for (let i = 0; i < 5; i++) ownedPod(made, `web-${i}`, 'ReplicaSet', 'r');
  made.bench.converge();
  const json = explanationJson(explainWorkload(made.bench.world, workload('ReplicaSet', 'r', 5, 5), { children: 3 })) as {
    readonly object: object;
    readonly makes: { readonly objects: readonly { readonly name: string; readonly makes: object }[]; readonly more: number };
  };
  assert.deepEqual([json.makes.more, json.makes.objects.map(({ name }) => name)], [2, ['web-0', 'web-1', 'web-2']]);
  assert.match(JSON.stringify(json.makes.objects[0]?.makes), /"kind":"IP".*"addresses":\["10\.1\.0\.2"\]/);
});
