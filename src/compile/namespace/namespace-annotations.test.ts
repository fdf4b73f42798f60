import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import type { TestEvent } from '../../testing/memory-objects.ts';

const [SWITCH, POOL, CIDR] = ['ovn.kubernetes.io/logical_switch', 'ovn.kubernetes.io/ip_pool', 'ovn.kubernetes.io/cidr'];

function scene(): PodScene {
  const made = new PodScene();
  made.bench.put('vpcs', { metadata: { name: 'blue' } });
  made.subnet('net', { vpc: 'blue', cidrBlock: '10.1.0.0/24', namespaces: ['shop', 'new'] });
  made.bench.converge();
  return made;
}

const corrected = ({ bench }: PodScene): readonly TestEvent[] => bench.events.filter(({ reason }) => reason === 'FieldCorrected');

function annotate(made: PodScene, name: string, annotations: Readonly<Record<string, string>>): void {
  const { metadata } = made.bench.object('namespaces', name) ?? {};
  made.namespace(name, { annotations: { ...metadata?.annotations, ...annotations } });
  made.bench.converge();
}

test('a namespace created with annotations that bind nothing gets an Event for each, and Kiln corrects them', () => {
  const made = scene();
  made.namespace('new', { annotations: { [SWITCH]: 'ovn-default', [POOL]: 'nobody' } });
  made.bench.converge();
  const [event, ...more] = corrected(made);
  assert.deepEqual(more, []);
  assert.equal(event?.object, 'namespaces/new');
  const rule = 'binds nothing; the annotation says which Subnets and IPPools name the namespace in spec.namespaces, so Kiln sets it to';
  assert.equal(
    event?.message,
    `Namespace new: metadata.annotations[${SWITCH}] "ovn-default" ${rule} "net". Namespace new: metadata.annotations[${POOL}] "nobody" ${rule} ""; ` +
      'kubectl get subnets,ippools -o custom-columns=NAME:.metadata.name,NAMESPACES:.spec.namespaces',
  );
  const { annotations = {} } = made.bench.object('namespaces', 'new')?.metadata ?? {};
  assert.deepEqual([annotations[SWITCH], annotations[POOL], annotations[CIDR]], ['net', undefined, '10.1.0.0/24']);
});

test('an edit of a namespace likewise: another Subnet, addresses for a pool', () => {
  const made = scene();
  annotate(made, 'shop', { [SWITCH]: 'elsewhere' });
  annotate(made, 'shop', { [POOL]: '10.1.0.9,10.1.0.10' });
  assert.deepEqual(
    corrected(made).map(({ message }) => /annotations\[(.*?)\] "(.*?)"/.exec(message)?.slice(1)),
    [
      [SWITCH, 'elsewhere'],
      [POOL, '10.1.0.9,10.1.0.10'],
    ],
  );
});

test('a CIDR that a user writes is corrected with an Event if it is invalid, or has no Subnet beside it', () => {
  const made = scene();
  made.namespace('new', { annotations: { [CIDR]: 'banana', [SWITCH]: 'nowhere' } });
  made.namespace('third', { annotations: { [CIDR]: '10.77.0.0/24' } });
  made.bench.converge();
  annotate(made, 'shop', { [CIDR]: '10.1.0.0/24;banana' });
  const texts = corrected(made).map(({ object, message }) => [
    object,
    ...[...message.matchAll(/annotations\[[^"]*\] "(.*?)"/g)].map(([, text]) => text),
  ]);
  assert.deepEqual(texts.map((words) => words.join(' ')).toSorted(), [
    'namespaces/new nowhere banana',
    'namespaces/shop 10.1.0.0/24;banana',
    'namespaces/third 10.77.0.0/24',
  ]);
  const now = ['new', 'third', 'shop'].map((name) => made.bench.object('namespaces', name)?.metadata.annotations?.[CIDR]);
  assert.deepEqual(now, ['10.1.0.0/24', '10.16.0.0/16', '10.1.0.0/24']);
});

test('no Event for values that Kiln wrote itself: Subnets and pools that are added, deleted and changed', () => {
  const made = scene();
  const { bench } = made;
  const step = (change: () => void): void => {
    change();
    bench.converge();
  };
  step(() => made.subnet('second', { vpc: 'blue', cidrBlock: '10.2.0.0/24', namespaces: ['shop'] }));
  step(() => bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'net', ips: ['10.1.0.20'], namespaces: ['shop'] } }));
  step(() => bench.edit('subnets', 'second', { excludeIps: ['10.2.0.9'] }));
  step(() => bench.edit('subnets', 'net', { namespaces: [] }));
  step(() => bench.delete('ippools', 'few'));
  step(() => bench.delete('subnets', 'second'));
  assert.equal(bench.object('namespaces', 'shop')?.metadata.annotations?.[SWITCH], 'ovn-default');
  assert.deepEqual(corrected(made), []);
});

test('a Subnet that another one with the same CIDR replaces at once is reported by a Normal Event, not by a Warning', () => {
  const made = scene();
  const { bench } = made;
  bench.removeByForce('subnets', 'net');
  const spec = { vpc: 'blue', cidrBlock: '10.1.0.0/24', gateway: '10.1.0.1', excludeIps: ['10.1.0.1'], namespaces: ['shop', 'new'] };
  made.subnet('other', spec);
  bench.converge();
  assert.equal(bench.object('namespaces', 'shop')?.metadata.annotations?.[SWITCH], 'other');
  assert.deepEqual(
    corrected(made).map(({ type, message }) => [type, message.split(';')[0]]),
    [['Normal', `Namespace shop: metadata.annotations[${SWITCH}] "net" names no existing Subnet`]],
  );
});

test('no Event for the pools of a namespace that no Subnet serves yet', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'empty' }, spec: { namespaces: ['lone'] } });
  made.namespace('lone');
  const pool = (name: string, address: string): void => {
    bench.put('ippools', { metadata: { name }, spec: { subnet: 'net', ips: [address], namespaces: ['lone'] } });
    bench.converge();
  };
  pool('few', '10.1.0.20');
  assert.equal(bench.object('namespaces', 'lone')?.metadata.annotations?.[POOL], 'few');
  pool('more', '10.1.0.30');
  bench.delete('ippools', 'few');
  bench.converge();
  assert.deepEqual([bench.object('namespaces', 'lone')?.metadata.annotations?.[POOL], corrected(made)], ['more', []]);
});
