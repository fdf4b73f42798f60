import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Uuid } from '../../../ovsdb/index.ts';
import { PodScene } from '../../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';
const [POOL, VIP, FAMILY] = ['ovn.kubernetes.io/ip_pool', 'ovn.kubernetes.io/vip', 'ovn.kubernetes.io/ip_family'];

function scene(annotations: Readonly<Record<string, string>> = {}): PodScene {
  const made = new PodScene();
  made.subnet('net', { cidrBlock: '10.1.0.0/24', namespaces: ['shop'] });
  made.bench.put('ippools', { metadata: { name: 'few' }, spec: { subnet: 'net', ips: ['10.1.0.20..10.1.0.30'] } });
  made.bench.put('vips', { metadata: { name: 'shared' }, spec: { subnet: 'net', v4ip: '10.1.0.40' } });
  made.bench.converge();
  made.pod('web', { annotations });
  made.bench.converge();
  return made;
}

function annotate({ bench }: PodScene, annotations: Readonly<Record<string, string | undefined>>): void {
  const pod = bench.object('pods', 'shop/web');
  assert.ok(pod);
  const all = Object.entries({ ...pod.metadata.annotations, ...annotations }).flatMap(([key, value]) =>
    value === undefined ? [] : [[key, value] as const],
  );
  bench.put('pods', { ...pod, metadata: { ...pod.metadata, annotations: Object.fromEntries(all) } });
  bench.converge();
}

const [KEPT, NEXT] = ['a running pod keeps its address, and this counts for the next pod', 'kubectl delete pod -n shop web'];
const UNLESS = ', unless that requests an address by annotation ovn.kubernetes.io/ip_address, which has precedence over the pool';
const OF_POOL: Readonly<Record<string, string>> = {
  few: ', and IPPool few has 10.1.0.20-10.1.0.30',
  'no-such': ', and there is no IPPool no-such',
};

for (const [key, value, right] of [
  [POOL, 'few', '10.1.0.2'],
  [POOL, '10.1.0.9,10.1.0.10', '10.1.0.2,10.1.0.3'],
  [POOL, 'no-such', undefined],
  [VIP, 'shared', undefined],
  [VIP, 'no-such', undefined],
  [FAMILY, 'ipv6', 'ipv4'],
] as const) {
  test(`a pod that has its address and is then annotated with ${key} ${value} reports that it keeps what it has, until the annotation changes`, () => {
    const made = scene();
    const { bench } = made;
    assert.equal(made.addressOf('shop/web'), '10.1.0.2');
    annotate(made, { [key]: value });
    const bound = bench.condition('pods', 'shop/web', BOUND);
    assert.deepEqual([bound?.status, bound?.reason], ['True', 'AddressKept']);
    const [has, unless] = key === POOL && OF_POOL[value] !== undefined ? [OF_POOL[value], UNLESS] : ['', ''];
    assert.equal(
      bound?.message,
      `Pod shop/web: metadata.annotations[${key}] "${value}" is not in effect: it has 10.1.0.2 of Subnet net${has}; ${KEPT}${unless}; ${NEXT}`,
    );
    assert.equal(bench.events.filter(({ reason }) => reason === 'AddressKept').length, 1);
    assert.equal(made.addressOf('shop/web'), '10.1.0.2');
    assert.equal(bench.writesAfterRestart(), 0);
    annotate(made, { [key]: right });
    assert.equal(bench.condition('pods', 'shop/web', BOUND)?.reason, 'Bound');
  });
}

test('a pod with the requested addresses reports nothing', () => {
  for (const annotations of [
    { [POOL]: 'few' },
    { [POOL]: '10.1.0.50,10.1.0.51' },
    { [VIP]: 'shared' },
    { [FAMILY]: 'ipv4' },
    { 'ovn.kubernetes.io/ip_address': '10.1.0.27', [POOL]: 'few' },
  ]) {
    const made = scene(annotations);
    assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/allocated'], 'true');
    assert.equal(made.bench.condition('pods', 'shop/web', BOUND), undefined, JSON.stringify(annotations));
  }
});

test('the next pod gets the address of a recreated Vip; the pod before keeps its address and reports it', () => {
  const made = scene({ [VIP]: 'shared' });
  const { bench } = made;
  assert.equal(made.addressOf('shop/web'), '10.1.0.40');
  bench.removeByForce('vips', 'shared');
  bench.put('vips', { metadata: { name: 'shared' }, spec: { subnet: 'net', v4ip: '10.1.0.41' } });
  bench.converge();
  made.pod('next', { annotations: { [VIP]: 'shared' } });
  bench.converge();
  assert.deepEqual([made.addressOf('shop/web'), made.addressOf('shop/next')], ['10.1.0.40', '10.1.0.41']);
  const { reason, message } = bench.condition('pods', 'shop/web', BOUND) ?? {};
  assert.equal(reason, 'AddressKept');
  assert.match(message ?? '', /"shared" is not in effect: it has 10\.1\.0\.40 of Subnet net/);
  assert.equal(bench.condition('pods', 'shop/next', BOUND), undefined);
  assert.equal(bench.writesAfterRestart(), 0);
});

test('a pod that has its address and is then annotated with a Vip does not keep that from the next one', () => {
  const made = scene();
  annotate(made, { [VIP]: 'shared' });
  made.pod('next', { annotations: { [VIP]: 'shared' } });
  made.bench.converge();
  assert.deepEqual([made.addressOf('shop/web'), made.addressOf('shop/next')], ['10.1.0.2', '10.1.0.40']);
  assert.equal(made.bench.condition('pods', 'shop/web', BOUND)?.reason, 'AddressKept');
});

test("a pod that requests an address and a pool without it reports the pool's addresses and the precedence of the address", () => {
  const made = scene({ 'ovn.kubernetes.io/ip_address': '10.1.0.99', [POOL]: 'few' });
  assert.equal(made.addressOf('shop/web'), '10.1.0.99');
  const { reason, message } = made.bench.condition('pods', 'shop/web', BOUND) ?? {};
  assert.equal(reason, 'AddressKept');
  assert.equal(
    message,
    `Pod shop/web: metadata.annotations[${POOL}] "few" is not in effect: it has 10.1.0.99 of Subnet net${OF_POOL['few']}; ${KEPT}${UNLESS}; ${NEXT}`,
  );
});

test('the pod of an ordinal is compared with its own item of the list; the next pod has the address too, unless its template requests another', () => {
  const made = scene();
  made.statefulSet('db', 2);
  for (const name of ['db-0', 'db-1']) made.pod(name, { statefulSet: 'db', annotations: { [POOL]: '10.1.0.60,10.1.0.61' } });
  made.bench.converge();
  assert.deepEqual(
    ['shop/db-0', 'shop/db-1'].map((pod) => made.addressOf(pod)),
    ['10.1.0.60', '10.1.0.61'],
  );
  assert.equal(made.bench.condition('pods', 'shop/db-1', BOUND), undefined);
  const pod = made.bench.object('pods', 'shop/db-1');
  assert.ok(pod);
  made.bench.put('pods', {
    ...pod,
    metadata: { ...pod.metadata, annotations: { ...pod.metadata.annotations, [POOL]: '10.1.0.60,10.1.0.62' } },
  });
  made.bench.converge();
  assert.match(
    made.bench.condition('pods', 'shop/db-1', BOUND)?.message ?? '',
    /it has 10\.1\.0\.61 of Subnet net; .* and so does the next pod unless its template requests others; kiln explain pod db-1 -n shop$/,
  );
});

for (const [suffix, value, right] of [
  ['ip_address', '10.1.0.99', '10.1.0.2'],
  ['logical_switch', 'ovn-default', 'net'],
  ['mac_address', '0a:00:00:00:00:01', undefined],
] as const) {
  test(`${suffix} of a bound pod is corrected, and one Event has the edited value`, () => {
    const made = scene();
    const key = `ovn.kubernetes.io/${suffix}`;
    const before = made.annotations('shop/web')[key] ?? '';
    annotate(made, { [key]: value });
    assert.equal(made.annotations('shop/web')[key], right ?? before);
    assert.deepEqual(
      made.bench.events.filter(({ reason }) => reason === 'FieldCorrected').map(({ object, message }) => [object, message]),
      [
        [
          'pods/shop/web',
          `Pod shop/web: metadata.annotations[${key}] "${value}" is not what the pod has; ` +
            `a running pod keeps its address, so Kiln sets it to "${before}"; kiln explain pod web -n shop`,
        ],
      ],
    );
  });
}

test('a removed or differently spelled annotation is corrected without an Event', () => {
  const made = scene();
  annotate(made, { 'ovn.kubernetes.io/ip_address': undefined });
  assert.equal(made.addressOf('shop/web'), '10.1.0.2');
  const mac = made.annotations('shop/web')['ovn.kubernetes.io/mac_address'] ?? '';
  annotate(made, { 'ovn.kubernetes.io/mac_address': mac.toUpperCase() });
  assert.equal(made.annotations('shop/web')['ovn.kubernetes.io/mac_address'], mac);
  assert.deepEqual(
    made.bench.events.filter(({ reason }) => reason === 'FieldCorrected'),
    [],
  );
});

test('an annotation that a user removes while another program has the switch of the Subnet comes back from the IP object', () => {
  const made = scene();
  const { bench } = made;
  const uuidOf = (table: 'Logical_Switch' | 'Logical_Switch_Port', wanted: string): Uuid => {
    const [uuid] = [...bench.northbound.table(table)].find(([, { name }]) => name === wanted) ?? [];
    assert.ok(uuid !== undefined);
    return uuid;
  };
  const theirs = {
    kind: 'update',
    table: 'Logical_Switch',
    uuid: uuidOf('Logical_Switch', 'net'),
    row: { external_ids: { theirs: 'yes' } },
  } as const;
  bench.world.rows.apply(bench.northbound, bench.northbound.apply([theirs]));
  bench.world.rows.apply(bench.northbound, bench.northbound.remove('Logical_Switch_Port', uuidOf('Logical_Switch_Port', 'web.shop')));
  annotate(made, { 'ovn.kubernetes.io/ip_address': undefined });
  assert.equal(made.addressOf('shop/web'), '10.1.0.2');
  assert.equal(made.portAddresses('web.shop'), undefined);
});
