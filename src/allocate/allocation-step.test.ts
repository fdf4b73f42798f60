import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IP } from '../api/kinds/ip.ts';
import type { Pod } from '../api/kubernetes/core.ts';
import { Desired } from '../compile/desired.ts';
import type { Output, PoolOutput } from '../compile/output.ts';
import { MemoryNorthbound } from '../testing/memory-northbound.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { World } from '../world/world.ts';
import { AllocationStep } from './allocation-step.ts';
import { ip as ipObject, request } from './testing/allocation-bench.ts';
import { derivedMac } from './ledger-request.ts';

class Bench {
  readonly world = new World(DEFAULT_SETTINGS);
  readonly desired = new Desired();
  readonly step = new AllocationStep(this.world, this.desired.addresses);
  #outputs: readonly Output[] = [];

  say(...outputs: readonly Output[]): this {
    this.desired.replace(this.#outputs, outputs);
    this.#outputs = outputs;
    this.step.run();
    return this;
  }

  /** `subnet v4 v6`, or the code of the allocation failure. */
  answer(claimant: string): string | undefined {
    const reservation = this.world.reservations.peek(claimant);
    if (reservation === undefined) return undefined;
    return reservation.kind === 'granted'
      ? [reservation.subnet, reservation.v4, reservation.v6].filter((part) => part !== '').join(' ')
      : reservation.code;
  }
}

function pool(subnet: string, v4: string, excludeIps: readonly string[] = []): PoolOutput {
  return { kind: 'pool', subnet, v4, gateways: [v4.replace(/\d+\/.*/, '1')], excludeIps, named: [], gatewayMacs: [] };
}

function ip(name: string, address: string, podUid: string | undefined, uid = `ip-${name}`): IP {
  return ipObject({ subnet: 's1', name, address, podUid, uid });
}

const small = pool('s1', '10.0.0.0/29');

test('requests are granted in order of age, one address each, and a MAC that the claimant alone decides', () => {
  const bench = new Bench().say(small, request('b#2', { since: '2026-01-02T00:00:00Z' }), request('a#1'));
  assert.equal(bench.answer('a#1'), 's1 10.0.0.2');
  assert.equal(bench.answer('b#2'), 's1 10.0.0.3');
  const granted = bench.world.reservations.peek('a#1');
  assert.equal(granted?.kind === 'granted' ? granted.mac : '', derivedMac('a#1', 0));
});

test('wherever a call is interrupted, the next ones answer every request', () => {
  let interruptions = 0;
  for (let at = 1; ; at++) {
    const bench = new Bench();
    bench.desired.replace([], [small, request('a#1'), request('b#2')]);
    let asked = 0;
    bench.step.run(() => ++asked === at);
    if (asked < at) break;
    interruptions++;
    // The caller goes on until nothing is left.
    for (let calls = 0; !bench.step.quiet; calls++) {
      assert.ok(calls < 10);
      bench.step.run();
    }
    assert.deepEqual(
      [bench.answer('a#1'), bench.answer('b#2')],
      ['s1 10.0.0.2', 's1 10.0.0.3'],
      `interrupted when asked for the ${at}th time`,
    );
  }
  assert.ok(interruptions >= 5, `${interruptions}`);
});

test('after a restart a claimant gets the same address: its IP object decides', () => {
  const bench = new Bench();
  bench.world.ips.set('a.ns', ip('a.ns', '10.0.0.5', 'uid-a'));
  bench.say(small, request('a.ns#uid-a'), request('b.ns#uid-b'));
  assert.equal(bench.answer('a.ns#uid-a'), 's1 10.0.0.5');
  assert.equal(bench.answer('b.ns#uid-b'), 's1 10.0.0.2');
});

test('a reservation yields to a claimant that has the address: the previous leader allocated it as its last act', () => {
  const bench = new Bench().say(small, request('a.ns#uid-a'), request('b.ns#uid-b'));
  assert.deepEqual([bench.answer('a.ns#uid-a'), bench.answer('b.ns#uid-b')], ['s1 10.0.0.2', 's1 10.0.0.3']);
  bench.world.ips.set('b.ns', ip('b.ns', '10.0.0.2', 'uid-b'));
  bench.step.run();
  assert.equal(bench.answer('a.ns#uid-a'), 's1 10.0.0.4');
  assert.deepEqual(bench.step.ledger.conflicts('s1'), []);
});

test('requests to a full Subnet fail, and a freed address goes to the oldest waiting request', () => {
  const tiny = pool('s1', '10.0.0.0/30');
  const bench = new Bench();
  bench.world.ips.set('a.ns', ip('a.ns', '10.0.0.2', 'uid-a'));
  bench.say(tiny, request('young#1', { since: '2026-01-03T00:00:00Z' }), request('old#1', { since: '2026-01-02T00:00:00Z' }));
  assert.equal(bench.answer('old#1'), 'NoAvailableAddress');
  bench.world.ips.delete('a.ns');
  bench.step.run();
  assert.equal(bench.answer('old#1'), 's1 10.0.0.2');
  assert.equal(bench.answer('young#1'), 'NoAvailableAddress');
});

test('a request that ends releases its address', () => {
  const bench = new Bench().say(small, request('a#1'));
  bench.say(small);
  assert.equal(bench.answer('a#1'), undefined);
  assert.equal(bench.step.ledger.usage('s1')?.v4?.using, 0n);
});

test('the annotation of a live pod holds an address in a conflict while its IP object agrees, and holds none by itself', () => {
  const bench = new Bench();
  const pod: Pod = {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: 'a',
      namespace: 'ns',
      uid: 'uid-a',
      resourceVersion: '1',
      creationTimestamp: '2026-01-01T00:00:00Z',
      annotations: {
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/ip_address': '10.0.0.2',
        'ovn.kubernetes.io/logical_switch': 's1',
      },
    },
    spec: {},
  };
  const holds = (): number => bench.step.ledger.bindings('pod', 'uid-a/ovn').size;
  bench.world.pods.set('ns/a', pod);
  bench.world.ips.set('a.ns', { ...ip('a.ns', '10.0.0.2', 'uid-a'), spec: { ...ip('a.ns', '10.0.0.2', 'uid-a').spec, podName: 'a' } });
  bench.say(small, request('b.ns#uid-b'));
  assert.deepEqual([bench.answer('b.ns#uid-b'), holds()], ['s1 10.0.0.3', 1]);
  bench.world.pods.set('ns/a', { ...pod, status: { phase: 'Succeeded' }, spec: { restartPolicy: 'Never' } });
  bench.say(small, request('c.ns#uid-c'));
  assert.equal(holds(), 0);
  bench.world.pods.set('ns/a', pod);
  bench.world.ips.delete('a.ns');
  bench.say(small, request('c.ns#uid-c', { v4: '10.0.0.2' }));
  assert.deepEqual([bench.answer('c.ns#uid-c'), holds()], ['s1 10.0.0.2', 0]);
});

test('only nodes get addresses of the join Subnet, whatever else a request names', () => {
  const bench = new Bench().say(
    pool('join', '100.64.0.0/16'),
    request('a.ns#uid-a', { subnets: ['join'] }),
    request('b.ns#uid-b', { subnets: ['join'], v4: '100.64.0.2' }),
    request('node-n1', { subnets: ['join'], ofNode: true }),
  );
  assert.equal(bench.answer('a.ns#uid-a'), 'NodesOnly');
  assert.equal(bench.answer('b.ns#uid-b'), 'NodesOnly');
  assert.equal(bench.answer('node-n1'), 'join 100.64.0.2');
});

test('a request for a held address fails with its holder, and is granted when the address is free', () => {
  const bench = new Bench();
  bench.world.ips.set('a.ns', ip('a.ns', '10.0.0.4', 'uid-a'));
  bench.say(small, request('b#1', { v4: '10.0.0.4' }));
  assert.equal(bench.answer('b#1'), 'AddressConflict');
  bench.world.ips.delete('a.ns');
  bench.step.run();
  assert.equal(bench.answer('b#1'), 's1 10.0.0.4');
});

test('Subnets are tried in their order, and a pool that appears later wakes its waiting requests', () => {
  const bench = new Bench().say(request('a#1', { subnets: ['s0', 's1'] }));
  assert.equal(bench.answer('a#1'), 'NoSubnet');
  bench.say(small, request('a#1', { subnets: ['s0', 's1'] }));
  assert.equal(bench.answer('a#1'), 's1 10.0.0.2');
});

test('each of two claimants of one address is reported to the other', () => {
  const bench = new Bench();
  bench.world.ips.set('a.ns', ip('a.ns', '10.0.0.4', 'uid-a'));
  bench.world.ips.set('b.ns', ip('b.ns', '10.0.0.4', 'uid-b'));
  bench.say(small);
  bench.step.usage.publish(0, 1_000);
  assert.deepEqual(bench.world.addressConflicts.peek('a.ns#uid-a'), ['b.ns (10.0.0.4 of Subnet s1)']);
  assert.deepEqual(bench.world.addressConflicts.peek('b.ns#uid-b'), ['a.ns (10.0.0.4 of Subnet s1)']);
  bench.world.ips.delete('b.ns');
  bench.step.usage.publish(2_000, 1_000);
  assert.equal(bench.world.addressConflicts.peek('a.ns#uid-a'), undefined);
});

test('usage is published at once, then at most once in the interval', () => {
  const bench = new Bench().say(small);
  assert.equal(bench.step.usage.publish(0, 1_000), undefined);
  assert.equal(bench.world.usage.peek('s1')?.v4.available, 5n);
  bench.say(small, request('a#1'));
  assert.equal(bench.step.usage.publish(400, 1_000), 600);
  assert.equal(bench.world.usage.peek('s1')?.v4.available, 5n);
  assert.equal(bench.step.usage.publish(1_000, 1_000), undefined);
  assert.deepEqual(bench.world.usage.peek('s1')?.v4, {
    available: 4n,
    using: 1n,
    availableRange: '10.0.0.3-10.0.0.6',
    usingRange: '10.0.0.2',
  });
});

test('a request with an unreadable address fails, and the others are answered', () => {
  const bench = new Bench().say(small, request('a#1', { v4: 'junk' }), request('b#1', { anyOf: ['junk', '10.0.0.4'] }), request('c#1'));
  assert.equal(bench.answer('a#1'), 'AddressOutOfRange');
  assert.equal(bench.answer('b#1'), 's1 10.0.0.4');
  assert.equal(bench.answer('c#1'), 's1 10.0.0.2');
});

test('a claimant with conflicts in two Subnets reports both, and the second when the first ends', () => {
  const bench = new Bench();
  const owned = (name: string, subnet: string, address: string): void => {
    const made = ip(name, address, `uid-${name}`);
    bench.world.ips.set(name, { ...made, spec: { ...made.spec, subnet } });
  };
  owned('a.ns', 's1', '10.0.0.4');
  owned('b.ns', 's1', '10.0.0.4');
  // Pod and row name another Subnet than the IP object.
  const says = (suffix: string, value: string): [string, string] => [`ovn.kubernetes.io/${suffix}`, value];
  const annotations = Object.fromEntries([says('allocated', 'true'), says('logical_switch', 's2'), says('ip_address', '10.1.0.4')]);
  const metadata = { name: 'a', namespace: 'ns', uid: 'uid-a.ns', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };
  bench.world.pods.set('ns/a', { apiVersion: 'v1', kind: 'Pod', metadata: { ...metadata, annotations }, spec: {} });
  const northbound = new MemoryNorthbound();
  const marks = { vendor: 'kube-ovn', 'kiln.io/owner': 'pod/ns/a', 'kiln.io/uid': 'uid-a.ns', ls: 's2' };
  const row = { name: 'a.ns', type: '', addresses: ['0a:00:00:00:00:01 10.1.0.4'], external_ids: marks };
  const [at, home] = ['00000000-0000-4000-8000-000000000001', '00000000-0000-4000-8000-000000000002'];
  bench.world.rows.apply(northbound, northbound.insert('Logical_Switch', home, { name: 's2' }));
  bench.world.rows.apply(
    northbound,
    northbound.insert('Logical_Switch_Port', at, row, { table: 'Logical_Switch', uuid: home, column: 'ports' }),
  );
  owned('c.ns', 's2', '10.1.0.4');
  const expiringAt = (now: number): readonly string[] | undefined => {
    bench.say(small, pool('s2', '10.1.0.0/29'));
    bench.step.usage.publish(now, 1_000);
    return bench.world.addressConflicts.peek('a.ns#uid-a.ns');
  };
  const [first, second] = ['b.ns (10.0.0.4 of Subnet s1)', 'c.ns (10.1.0.4 of Subnet s2)'];
  assert.deepEqual(expiringAt(0), [first, second]);
  bench.world.ips.delete('c.ns');
  assert.deepEqual(expiringAt(2_000), [first]);
  bench.world.ips.delete('b.ns');
  assert.equal(expiringAt(4_000), undefined);
});

test('the holder of an address that became the gateway is reported', () => {
  const bench = new Bench();
  bench.world.ips.set('a.ns', ip('a.ns', '10.0.0.4', 'uid-a'));
  bench.say({ ...pool('s1', '10.0.0.0/29'), kind: 'pool', gateways: ['10.0.0.4'] });
  bench.step.usage.publish(0, 1_000);
  assert.deepEqual(bench.world.addressConflicts.peek('a.ns#uid-a'), ['the gateway (10.0.0.4 of Subnet s1)']);
});
