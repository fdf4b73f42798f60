import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';
import { RuleBench } from '../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../../testing/network-rules.ts';

function setUp(): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { cidrBlock: '10.0.0.0/24' } });
  bench.put('ippools', {
    metadata: { name: 'my-pool' },
    spec: { subnet: 'red', ips: ['10.0.0.20..10.0.0.24', '10.0.0.64/30', '10.0.0.9'], enableAddressSet: true },
  });
  bench.converge();
  return bench;
}

test('a pool is ready, and keeps an address set under a name that OVN takes', () => {
  const bench = setUp();
  assert.deepEqual(
    [bench.condition('ippools', 'my-pool', 'Ready')?.status, bench.condition('ippools', 'my-pool', 'Ready')?.reason],
    ['True', 'UpdateIPAMSucceeded'],
  );
  assert.deepEqual(bench.list('Address_Set', 'my.pool', 'addresses'), ['10.0.0.20/30', '10.0.0.24', '10.0.0.64/30', '10.0.0.9']);
  const { ippool, vendor } = bench.externalIds('Address_Set', 'my.pool');
  assert.deepEqual([ippool, vendor], ['my-pool', 'kube-ovn']);
});

test('the address set follows the spec and is deleted with the pool', () => {
  const bench = setUp();
  bench.edit('ippools', 'my-pool', { ips: ['10.0.0.9'] });
  bench.converge();
  assert.deepEqual(bench.list('Address_Set', 'my.pool', 'addresses'), ['10.0.0.9']);
  bench.delete('ippools', 'my-pool');
  bench.converge();
  assert.deepEqual([bench.object('ippools', 'my-pool'), bench.rowIds('Address_Set')], [undefined, []]);
});

test('a pool of both families keeps a set of each: OVN rejects a match that names a set of both', () => {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('subnets', { metadata: { name: 'dual' }, spec: { cidrBlock: '10.0.0.0/24,fd00::/112' } });
  const spec = { subnet: 'dual', ips: ['10.0.0.20..10.0.0.23', 'fd00::20'], enableAddressSet: true };
  bench.put('ippools', { metadata: { name: 'my-pool' }, spec });
  bench.converge();
  const sets = (): unknown => bench.rows('Address_Set').map(({ name, addresses }) => [name, addresses]);
  assert.deepEqual(sets(), [
    ['my.pool', ['10.0.0.20/30']],
    ['my.pool_v6', ['fd00::20']],
  ]);
  bench.edit('ippools', 'my-pool', { ips: ['nonsense'] });
  bench.converge();
  assert.equal((sets() as unknown[]).length, 2, 'both stay while the spec is wrong');
  bench.edit('ippools', 'my-pool', { ips: ['fd00::20'] });
  bench.converge();
  assert.deepEqual(sets(), [['my.pool', ['fd00::20']]]);
  bench.delete('ippools', 'my-pool');
  bench.converge();
  assert.deepEqual(sets(), []);
});

test('a Subnet that is edited into nonsense and keeps its network leaves its pools and their sets as they are', () => {
  const bench = setUp();
  const set = bench.list('Address_Set', 'my.pool', 'addresses');
  bench.edit('subnets', 'red', { cidrBlock: 'nonsense' });
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'Accepted')?.status, 'False');
  assert.equal(bench.condition('ippools', 'my-pool', 'Ready')?.status, 'True');
  assert.deepEqual(bench.list('Address_Set', 'my.pool', 'addresses'), set);
  bench.edit('ippools', 'my-pool', { ips: ['10.9.0.1'] });
  bench.converge();
  assert.match(bench.condition('ippools', 'my-pool', 'Error')?.message ?? '', /"10\.9\.0\.1" is outside of Subnet red \(10\.0\.0\.0\/24\)/);
});

test('a pool outside of a CIDR that waits for addresses in use reports the desired CIDR and the one in effect', () => {
  const bench = setUp();
  const message = (): string => bench.condition('ippools', 'my-pool', 'Ready')?.message ?? '';
  bench.put('ips', { metadata: { name: 'p.shop' }, spec: { subnet: 'red', v4IpAddress: '10.0.0.200', ipAddress: '10.0.0.200' } });
  bench.converge();
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/26' });
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'Accepted')?.reason, 'CidrInUse');
  assert.equal(
    message(),
    'IPPool my-pool: spec.ips[1] "10.0.0.64/30" is outside of Subnet red (10.0.0.0/26 by its spec; 10.0.0.0/24 is in effect until ' +
      'no address outside of that is in use); the addresses of a pool lie in its Subnet; kubectl edit ippool my-pool',
  );
  bench.removeByForce('ips', 'p.shop');
  bench.converge();
  assert.match(message(), /is outside of Subnet red \(10\.0\.0\.0\/26\); /);
  bench.edit('ippools', 'my-pool', { ips: ['10.0.0.9'] });
  bench.converge();
  assert.equal(message(), '');
});

test('an invalid pool keeps its address set until it is fixed, deleted or requests none', () => {
  const bench = setUp();
  const set = bench.list('Address_Set', 'my.pool', 'addresses');
  bench.edit('ippools', 'my-pool', { ips: ['nonsense'] });
  bench.converge();
  assert.equal(bench.condition('ippools', 'my-pool', 'Ready')?.status, 'False');
  assert.deepEqual(bench.list('Address_Set', 'my.pool', 'addresses'), set);
  assert.equal(bench.writesAfterRestart(), 0);
  bench.edit('ippools', 'my-pool', { enableAddressSet: false });
  bench.converge();
  assert.deepEqual(bench.rowIds('Address_Set'), []);
  bench.edit('ippools', 'my-pool', { enableAddressSet: true });
  bench.converge();
  assert.deepEqual(bench.rowIds('Address_Set'), []);
  bench.edit('ippools', 'my-pool', { ips: ['10.0.0.9'] });
  bench.converge();
  assert.deepEqual(bench.list('Address_Set', 'my.pool', 'addresses'), ['10.0.0.9']);
  bench.edit('ippools', 'my-pool', { ips: ['nonsense'] });
  bench.delete('ippools', 'my-pool');
  bench.converge();
  assert.deepEqual(bench.rowIds('Address_Set'), []);
});

test('all invalid items of a pool are reported at once', () => {
  const bench = setUp();
  bench.edit('ippools', 'my-pool', { ips: ['10.0.0.60-10.0.0.90', '10.0.0.9', '10.0.0.5..10.0.0.2'] });
  bench.converge();
  assert.equal(
    bench.condition('ippools', 'my-pool', 'Ready')?.message,
    'IPPool my-pool: spec.ips[0] "10.0.0.60-10.0.0.90" is not an address; a range is written with two dots, a..b; ' +
      'an item is an address, a range written first..last, or a network. ' +
      'IPPool my-pool: spec.ips[2] "10.0.0.5..10.0.0.2" ends before it begins; ' +
      'an item is an address, a range written first..last, or a network; kubectl edit ippool my-pool',
  );
});

test('of two pools with one address the older has it', () => {
  const bench = setUp();
  bench.put('ippools', { metadata: { name: 'late' }, spec: { subnet: 'red', ips: ['10.0.0.9'] } });
  bench.converge();
  assert.match(
    bench.condition('ippools', 'late', 'Error')?.message ?? '',
    /IPPool late: spec\.ips\[0\] "10\.0\.0\.9" has addresses of IPPool my-pool/,
  );
  assert.equal(bench.condition('ippools', 'my-pool', 'Ready')?.status, 'True');
});

test('of two pools with one address that were made within one second, one has it', () => {
  const bench = setUp();
  const creationTimestamp = '2026-01-01T00:00:00Z';
  for (const name of ['b', 'a', 'c'])
    bench.put('ippools', { metadata: { name, creationTimestamp }, spec: { subnet: 'red', ips: ['10.0.0.100..10.0.0.110'] } });
  bench.converge();
  assert.deepEqual(
    ['a', 'b', 'c'].map((name) => bench.condition('ippools', name, 'Ready')?.status),
    ['True', 'False', 'False'],
  );
  assert.match(bench.condition('ippools', 'b', 'Error')?.message ?? '', /has addresses of IPPool a/);
});

test('an invalid pool makes no other one invalid, and takes no address from it', () => {
  const scene = new PodScene();
  const pool = (name: string, age: number, ...ips: readonly string[]): void =>
    void scene.bench.put('ippools', {
      metadata: { name, creationTimestamp: `2026-01-01T00:00:0${age}Z` },
      spec: { subnet: 'ovn-default', ips },
    });
  pool('first', 1, '10.16.0.20..10.16.0.25');
  pool('broken', 2, '10.16.0.31', 'nonsense');
  pool('second', 3, '10.16.0.25..10.16.0.35');
  pool('third', 4, '10.16.0.30..10.16.0.35');
  scene.bench.converge();
  const ready = (): readonly (string | undefined)[] =>
    ['first', 'broken', 'second', 'third'].map((name) => scene.bench.condition('ippools', name, 'Ready')?.status);
  assert.deepEqual(ready(), ['True', 'False', 'False', 'True']);
  const message = scene.bench.condition('ippools', 'second', 'Error')?.message ?? '';
  assert.match(message, /^IPPool second: spec\.ips\[0\] "[^"]*" has addresses of IPPool first; /);
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_pool': 'third' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), '10.16.0.30');
  // The first conflict is fixed: the next pool is valid, and the one after it is not.
  scene.bench.edit('ippools', 'first', { ips: ['10.16.0.20'] });
  scene.bench.converge();
  assert.deepEqual(ready(), ['True', 'False', 'True', 'False']);
  assert.equal(scene.addressOf('shop/web'), '10.16.0.30');
});

test('a pool of an invalid Subnet waits, reports the fault with the command, and is ready once that is fixed', () => {
  const bench = setUp();
  bench.put('subnets', { metadata: { name: 'odd' }, spec: { cidrBlock: '10.1.0.0/24', gateway: '10.9.0.1' } });
  bench.put('ippools', { metadata: { name: 'of-odd' }, spec: { subnet: 'odd', ips: ['10.1.0.9'] } });
  bench.converge();
  const { status, reason, message } = bench.condition('ippools', 'of-odd', 'Ready') ?? {};
  assert.deepEqual([status, reason], ['False', 'WaitingForSubnet']);
  assert.match(
    message ?? '',
    /^IPPool of-odd: spec\.subnet "odd" gives no address: Subnet odd: spec\.gateway "10\.9\.0\.1".*; kubectl describe subnet odd$/,
  );
  assert.equal(bench.events.filter((event) => event.message === message).length, 1);
  assert.equal(bench.condition('ippools', 'my-pool', 'Ready')?.status, 'True');
  bench.edit('subnets', 'odd', { gateway: '10.1.0.1' });
  bench.converge();
  assert.equal(bench.condition('ippools', 'of-odd', 'Ready')?.status, 'True');
});

test('the status of the pool has its usage', () => {
  const bench = setUp();
  const none = { available: 0n, using: 0n, availableRange: '', usingRange: '' };
  bench.world.poolUsage.set('my-pool', {
    v4: { available: 9n, using: 1n, availableRange: '10.0.0.20-10.0.0.24', usingRange: '10.0.0.9' },
    v6: none,
  });
  bench.converge();
  const status = bench.object('ippools', 'my-pool')?.status;
  assert.deepEqual(
    [status?.['v4AvailableIPs'], status?.['v4UsingIPs'], status?.['v4UsingIPRange'], status?.['v6AvailableIPs']],
    [9n, 1n, '10.0.0.9', 0n],
  );
});

test('a pool with addresses outside of its Subnet is invalid, and delays no other', () => {
  const bench = setUp();
  bench.put('ippools', {
    metadata: { name: 'all', creationTimestamp: '2020-01-01T00:00:00Z' },
    spec: { subnet: 'red', ips: ['0.0.0.0/0'] },
  });
  bench.converge();
  assert.match(bench.condition('ippools', 'all', 'Error')?.message ?? '', /"0\.0\.0\.0\/0" is outside of Subnet red/);
  assert.equal(bench.condition('ippools', 'my-pool', 'Ready')?.status, 'True');
});

for (const ips of [['0.0.0.0/0'], ['10.16.0.0/8'], ['nonsense', '10.15.0.0..10.17.0.0']]) {
  test(`nor does it take ${ips.join(', ')} from valid ones: their counts are reported, and pods get their addresses`, () => {
    const scene = new PodScene();
    const pool = (name: string, items: readonly string[], creationTimestamp?: string): void =>
      void scene.bench.put('ippools', {
        metadata: { name, ...(creationTimestamp !== undefined && { creationTimestamp }) },
        spec: { subnet: 'ovn-default', ips: items },
      });
    pool('all', ips, '2020-01-01T00:00:00Z');
    pool('few', ['10.16.0.20..10.16.0.24']);
    scene.bench.converge();
    scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_pool': 'few' } });
    scene.bench.converge();
    assert.equal(scene.addressOf('shop/web'), '10.16.0.20');
    const counts = (name: string): unknown => scene.bench.object('ippools', name)?.status?.['v4AvailableIPs'];
    assert.deepEqual([counts('few'), counts('all')], [4n, 0n]);
  });
}

test('a pool without an allocatable address reports it, until it has one', () => {
  const bench = setUp();
  bench.put('ippools', { metadata: { name: 'none' }, spec: { subnet: 'red', ips: ['10.0.0.0', '10.0.0.1', '10.0.0.255'] } });
  bench.converge();
  const ineffectiveCondition = bench.condition('ippools', 'none', 'WithoutEffect');
  assert.deepEqual([ineffectiveCondition?.status, ineffectiveCondition?.reason], ['True', 'PoolNeverGiven']);
  assert.match(
    ineffectiveCondition?.message ?? '',
    /^IPPool none: spec\.ips "10\.0\.0\.0,10\.0\.0\.1,10\.0\.0\.255" has no address that Subnet red gives; .*kubectl edit ippool none$/,
  );
  assert.equal(bench.events.filter(({ object, reason }) => object === 'ippools/none' && reason === 'PoolNeverGiven').length, 1);
  assert.equal(bench.condition('ippools', 'my-pool', 'WithoutEffect'), undefined);
  bench.edit('ippools', 'none', { ips: ['10.0.0.0..10.0.0.2'] });
  bench.converge();
  assert.equal(bench.condition('ippools', 'none', 'WithoutEffect'), undefined);
});

test('an invalid pool takes no address from an older one, also where its name is a number', () => {
  const scene = new PodScene();
  scene.subnet('net', { cidrBlock: '10.99.0.0/24' });
  scene.bench.converge();
  for (const [name, ips] of [
    ['old', '10.99.0.10..10.99.0.20'],
    ['7', '10.99.0.15..10.99.0.30'],
  ]) {
    scene.bench.put('ippools', { metadata: { name: name ?? '' }, spec: { subnet: 'net', ips: [ips] } });
    scene.bench.converge();
  }
  assert.deepEqual(
    ['old', '7'].map((name) => scene.bench.condition('ippools', name, 'Ready')?.status),
    ['True', 'False'],
  );
  scene.pod('p', { annotations: { 'ovn.kubernetes.io/ip_pool': 'old' } });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/p'), '10.99.0.10');
});

test('items that overlap or touch are one range in the address set', () => {
  const bench = setUp();
  bench.edit('ippools', 'my-pool', { ips: ['10.0.0.20..10.0.0.23', '10.0.0.22..10.0.0.27', '10.0.0.28/30'] });
  bench.converge();
  assert.deepEqual(bench.list('Address_Set', 'my.pool', 'addresses'), ['10.0.0.20/30', '10.0.0.24/29']);
});
