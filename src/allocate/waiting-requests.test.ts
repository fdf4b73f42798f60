import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Mac } from '../net/mac.ts';
import { AllocationBench, ip, pool, request } from './testing/allocation-bench.ts';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';

test('a request that waited in one Subnet and was granted in another leaves the next address of the first to waiting requests', () => {
  const tiny = pool('s1', '10.0.0.0/30');
  const other = pool('s2', '10.1.0.0/29');
  const bench = new AllocationBench()
    .hold('s1', '10.0.0.2')
    .say(tiny, other, request('old#1', { since: early }), request('young#1', { since: late }));
  assert.equal(bench.answer('young#1'), 'NoAvailableAddress');
  bench.say(tiny, other, request('old#1', { since: early, subnets: ['s2'] }), request('young#1', { since: late }));
  assert.equal(bench.answer('old#1'), 's2 10.1.0.2');
  bench.free('10.0.0.2');
  assert.equal(bench.answer('young#1'), 's1 10.0.0.2');
});

test('a claimant that gets an address in another Subnet leaves the first', () => {
  const subnets = [pool('s1', '10.0.0.0/30'), pool('s2', '10.1.0.0/29')];
  const bench = new AllocationBench().say(...subnets, request('a#1', { since: early }), request('b#1', { since: late }));
  assert.deepEqual([bench.answer('a#1'), bench.answer('b#1')], ['s1 10.0.0.2', 'NoAvailableAddress']);
  bench.say(...subnets, request('a#1', { since: early, subnets: ['s2'] }), request('b#1', { since: late }));
  assert.deepEqual([bench.answer('a#1'), bench.answer('b#1')], ['s2 10.1.0.2', 's1 10.0.0.2']);
});

test('an IP object with a new Subnet is in use only there', () => {
  const bench = new AllocationBench().say(pool('s1', '10.0.0.0/29'), pool('s2', '10.1.0.0/29')).hold('s1', '10.0.0.2').run();
  assert.equal(bench.step.ledger.usage('s1')?.v4?.usingRange, '10.0.0.2');
  bench.hold('s2', '10.0.0.2').run();
  assert.equal(bench.step.ledger.usage('s1')?.v4?.using, 0n);
  assert.equal(bench.step.ledger.holdersIn('s2', 1).count, 1);
});

test('an address that the oldest waiting request cannot use goes to the next', () => {
  // 10.0.0.4 to 10.0.0.6 are in the pool; 10.0.0.2 and 10.0.0.3 in the default pool.
  const subnet = pool('s1', '10.0.0.0/29', { named: [{ name: 'p', ips: ['10.0.0.4..10.0.0.6'] }] });
  const bench = new AllocationBench();
  for (let last = 2; last <= 6; last++) bench.hold('s1', `10.0.0.${last}`);
  bench.say(
    subnet,
    request('a#1', { since: early, pools: ['p'] }),
    request('b#1', { since: early, pools: ['p'] }),
    request('c#1', { since: late }),
    request('d#1', { since: late }),
  );
  bench.free('10.0.0.3');
  assert.equal(bench.answer('a#1'), 'NoAvailableAddress');
  assert.equal(bench.answer('c#1'), 's1 10.0.0.3');
  assert.equal(bench.answer('d#1'), 'NoAvailableAddress');
  bench.free('10.0.0.5');
  assert.equal(bench.answer('a#1'), 's1 10.0.0.5');
  assert.equal(bench.answer('b#1'), 'NoAvailableAddress');
});

test('a requested excluded address is granted when its holder releases it', () => {
  const subnet = pool('s1', '10.0.0.0/29', { excludeIps: ['10.0.0.2..10.0.0.6'] });
  const bench = new AllocationBench().hold('s1', '10.0.0.5').say(subnet, request('a#1', { v4: '10.0.0.5' }));
  assert.equal(bench.answer('a#1'), 'AddressConflict');
  bench.free('10.0.0.5');
  assert.equal(bench.answer('a#1'), 's1 10.0.0.5');
});

test('a granted request is answered again when the networks or the gateway of its Subnet change', () => {
  const bench = new AllocationBench().say(pool('s1', '10.0.0.0/29'), request('a#1'));
  assert.equal(bench.answer('a#1'), 's1 10.0.0.2');
  bench.say(pool('s1', '10.0.0.0/29', { gateways: ['10.0.0.2'] }), request('a#1'));
  assert.equal(bench.answer('a#1'), 's1 10.0.0.1');
  bench.say(pool('s1', '10.9.0.0/29'), request('a#1'));
  assert.equal(bench.answer('a#1'), 's1 10.9.0.2');
});

test('a Subnet with only excluded addresses grants waiting requests by name', () => {
  const subnet = pool('s1', '10.0.0.0/29', { excludeIps: ['10.0.0.2..10.0.0.6'] });
  const waiting = request('a#1', { v4: '10.0.0.5' });
  const bench = new AllocationBench().say(waiting);
  assert.equal(bench.answer('a#1'), 'NoSubnet');
  bench.say(waiting, subnet);
  assert.equal(bench.answer('a#1'), 's1 10.0.0.5');
});

test('a requested MAC is granted when its holder has another one', () => {
  const mac = '00:00:00:aa:bb:cc';
  const bench = new AllocationBench().say(pool('s1', '10.0.0.0/29'), request('a#1', { mac }), request('b#1', { since: late, mac }));
  assert.equal(bench.answer('b#1'), 'AddressConflict');
  bench.say(pool('s1', '10.0.0.0/29'), request('a#1', { mac: '00:00:00:aa:bb:dd' }), request('b#1', { since: late, mac }));
  assert.equal(bench.answer('b#1'), 's1 10.0.0.3');
});

test('a pool that moves to another Subnet reports its usage there', () => {
  const named = [{ name: 'p', ips: ['10.1.0.2'] }];
  const bench = new AllocationBench().say(
    pool('s1', '10.0.0.0/29', { named: [{ name: 'p', ips: ['10.0.0.2'] }] }),
    pool('s2', '10.1.0.0/29'),
  );
  bench.step.usage.publish(0, 0);
  bench.say(pool('s2', '10.1.0.0/29', { named }), pool('s1', '10.0.0.0/29'));
  bench.step.usage.publish(1, 0);
  assert.equal(bench.world.poolUsage.peek('p')?.v4.availableRange, '10.1.0.2');
  bench.say(pool('s2', '10.1.0.0/29'), pool('s1', '10.0.0.0/29'));
  bench.step.usage.publish(2, 0);
  assert.equal(bench.world.poolUsage.peek('p'), undefined);
});

test("a request for an address of an IP object without a pod is granted when that IP object becomes the pod's", () => {
  const bench = new AllocationBench();
  const own = { subnet: 's1', address: '10.0.0.5', name: 'a', uid: 'ip-a' };
  bench.world.ips.set('a', ip({ ...own, podUid: undefined }));
  bench.say(pool('s1', '10.0.0.0/29'), request('a#1', { v4: '10.0.0.5' }));
  assert.equal(bench.answer('a#1'), 'AddressConflict');
  bench.world.ips.set('a', ip({ ...own, podUid: '1' }));
  assert.equal(bench.run().answer('a#1'), 's1 10.0.0.5');
});

test('a request that waits for one family reports the other as soon as that is the first missing one', () => {
  const subnet = pool('s1', '10.0.0.0/29', { v6: 'fd00::/125', gateways: ['10.0.0.1', 'fd00::1'] });
  const bench = new AllocationBench().hold('s1', 'fd00::5').say(subnet, request('both#1', { v6: 'fd00::5' }));
  assert.match(bench.message('both#1'), /the address fd00::5/);
  for (let last = 2; last <= 6; last++) bench.hold('s1', `10.0.0.${last}`);
  bench.run();
  assert.match(bench.message('both#1'), /no free IPv4 address/);
});

test('an address that the Subnet never allocates is reported before one that may become free', () => {
  const subnet = pool('s1', '10.0.0.0/30', { v6: 'fd00::/125', gateways: ['10.0.0.1', 'fd00::1'] });
  const bench = new AllocationBench().hold('s1', '10.0.0.2').say(subnet, request('a#1', { v6: 'fd00:9::5' }));
  assert.equal(bench.answer('a#1'), 'AddressOutOfRange');
});

test('a request that waits for a MAC reports its address once another claimant has that', () => {
  const mac = '00:00:00:aa:bb:cc' as Mac;
  const subnet = pool('s1', '10.0.0.0/29', { gatewayMacs: [mac] });
  const bench = new AllocationBench().say(subnet, request('a#1', { v4: '10.0.0.5', mac }));
  assert.match(bench.message('a#1'), /the MAC/);
  bench.hold('s1', '10.0.0.5').run();
  assert.match(bench.message('a#1'), /the address 10\.0\.0\.5/);
});

test('all requests that wait in a Subnet are answered again with each change, oldest first', () => {
  const bench = new AllocationBench();
  for (let last = 2; last <= 6; last++) bench.hold('s1', `10.0.0.${last}`);
  const names = ['c', 'b', 'a'];
  bench.say(pool('s1', '10.0.0.0/29'), ...names.map((name, i) => request(`${name}#1`, { since: `2026-01-0${i + 1}T00:00:00Z` })));
  for (const [i, last] of [4, 2, 3].entries()) {
    bench.free(`10.0.0.${last}`);
    assert.deepEqual(
      names.map((name) => bench.answer(`${name}#1`)?.startsWith('s1')),
      names.map((_, at) => at <= i),
    );
  }
});

test('a request that waits for a free address reports when the last one of a pool that it may not use is taken', () => {
  const subnet = pool('s1', '10.0.0.0/30', { named: [{ name: 'p', ips: ['10.0.0.2'] }] });
  const bench = new AllocationBench().say(subnet, request('a#1'));
  assert.match(bench.message('a#1'), /the free ones are kept for IPPool "p"/);
  bench.hold('s1', '10.0.0.2').run();
  assert.doesNotMatch(bench.message('a#1'), /are kept/);
});
