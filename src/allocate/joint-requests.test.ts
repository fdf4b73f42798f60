import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { Output } from '../compile/output.ts';
import type { AddressRequest } from '../world/reservations.ts';
import { AllocationBench, ip, pool, request } from './testing/allocation-bench.ts';

const early = '2026-01-01T00:00:00Z';
const late = '2026-01-02T00:00:00Z';

/** The requests of a pod, one in each Subnet. */
function pod(name: string, subnets: readonly string[], since = early, more: Partial<AddressRequest> = {}): readonly Output[] {
  const claimants = subnets.map((_, i) => `${name}.k${i}#uid-${name}`);
  return subnets.map((subnet, i) => request(claimants[i] ?? '', { subnets: [subnet], since, together: claimants, ...more }));
}

function using(bench: AllocationBench, subnet: string): bigint | undefined {
  return bench.step.ledger.usage(subnet)?.v4?.using;
}

const tiny = [pool('s1', '10.0.0.0/30'), pool('s2', '10.1.0.0/30')];

test('a pod that cannot have all addresses holds none, and reports what it cannot have', () => {
  const bench = new AllocationBench().hold('s1', '10.0.0.2').say(...tiny, ...pod('a', ['s1', 's2']));
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], ['NoAvailableAddress', undefined]);
  assert.equal(using(bench, 's2'), 0n);
  bench.free('10.0.0.2');
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], ['s1 10.0.0.2', 's2 10.1.0.2']);
});

test('two pods need the last addresses of the same Subnets, in any order: the older gets both, then the other', () => {
  const a = pod('a', ['s1', 's2']);
  const b = pod('b', ['s2', 's1'], late);
  const bench = new AllocationBench().say(...tiny, ...b, ...a);
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], ['s1 10.0.0.2', 's2 10.1.0.2']);
  assert.deepEqual([bench.answer('b.k0#uid-b'), bench.answer('b.k1#uid-b')], ['NoAvailableAddress', 'NoAvailableAddress']);
  bench.say(...tiny, ...b);
  assert.deepEqual([bench.answer('b.k0#uid-b'), bench.answer('b.k1#uid-b')], ['s2 10.1.0.2', 's1 10.0.0.2']);
});

test('two interfaces in a Subnet with one free address: neither is held, and a pod with one interface gets it', () => {
  const bench = new AllocationBench().say(...tiny, ...pod('a', ['s1', 's1']));
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], [undefined, 'NoAvailableAddress']);
  assert.equal(using(bench, 's1'), 0n);
  bench.say(...tiny, ...pod('a', ['s1', 's1']), request('b#1', { since: late }));
  assert.equal(bench.answer('b#1'), 's1 10.0.0.2');
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], ['NoAvailableAddress', 'NoAvailableAddress']);
});

test('a failure also names an address that was free when another pod takes it', () => {
  const waiting = pod('a', ['s1', 's2']);
  const bench = new AllocationBench().hold('s1', '10.0.0.2').say(...tiny, ...waiting);
  assert.equal(bench.answer('a.k1#uid-a'), undefined);
  bench.say(...tiny, ...waiting, request('b#1', { since: late, subnets: ['s2'] }));
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], ['NoAvailableAddress', 'NoAvailableAddress']);
  bench.say(...tiny, ...waiting);
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], ['NoAvailableAddress', undefined]);
});

test('a freed address goes to a pod that can use it, not to one that lacks another address', () => {
  const bench = new AllocationBench().hold('s1', '10.0.0.2').hold('s2', '10.1.0.2');
  bench.say(...tiny, ...pod('a', ['s1', 's2']), request('b#1', { since: late, subnets: ['s2'] }));
  bench.free('10.1.0.2');
  assert.equal(bench.answer('b#1'), 's2 10.1.0.2');
  assert.equal(using(bench, 's2'), 1n);
});

test('a granted request by name fails with the present reason when its Subnet gets another network, and is granted again', () => {
  const named = request('a#1', { v4: '10.0.0.2' });
  const bench = new AllocationBench().say(pool('s1', '10.0.0.0/30'), named);
  assert.equal(bench.answer('a#1'), 's1 10.0.0.2');
  const words = (): string => {
    const answer = bench.world.reservations.peek('a#1');
    return answer?.kind === 'failed' ? answer.message : '';
  };
  bench.say(pool('s1', '10.9.0.0/30'), named);
  assert.match(words(), /the address 10\.0\.0\.2 cannot be allocated in Subnet "s1"/);
  bench.say({ kind: 'pool', subnet: 's1', v6: 'fd00::/120', gateways: ['fd00::1'], gatewayMacs: [], excludeIps: [], named: [] }, named);
  assert.match(words(), /the address 10\.0\.0\.2 is IPv4, and Subnet "s1" is IPv6/);
  assert.equal(using(bench, 's1'), undefined);
  bench.say(pool('s1', '10.0.0.0/30', { gateways: ['10.0.0.2'] }), named);
  assert.match(words(), /the address 10\.0\.0\.2 is the gateway of Subnet "s1"/);
  bench.say(pool('s1', '10.0.0.0/30'), named);
  assert.equal(bench.answer('a#1'), 's1 10.0.0.2');
});

test('a request of a group gets the address that another one of the group releases', () => {
  const subnets = [...tiny, pool('s3', '10.2.0.0/30')];
  const bench = new AllocationBench().say(...subnets, ...pod('a', ['s1']));
  assert.equal(bench.answer('a.k0#uid-a'), 's1 10.0.0.2');
  bench.say(...subnets, ...pod('a', ['s3', 's1']));
  assert.deepEqual([bench.answer('a.k0#uid-a'), bench.answer('a.k1#uid-a')], ['s3 10.2.0.2', 's1 10.0.0.2']);
});

/** All possible operations, over few values so that they collide. */
type Act =
  | { readonly kind: 'pod'; readonly name: string; readonly subnets: readonly string[]; readonly last: number }
  | { readonly kind: 'leave'; readonly name: string }
  | { readonly kind: 'take' | 'free'; readonly subnet: string; readonly last: number }
  | { readonly kind: 'pool'; readonly subnet: string; readonly prefix: number };

const subnetName = fc.constantFrom('s1', 's2', 's3');
const podName = fc.constantFrom('a', 'b', 'c', 'd', 'e');
const act: fc.Arbitrary<Act> = fc.oneof(
  fc.record({
    kind: fc.constant('pod' as const),
    name: podName,
    subnets: fc.array(subnetName, { minLength: 1, maxLength: 3 }),
    last: fc.integer({ min: 0, max: 6 }),
  }),
  fc.record({ kind: fc.constant('leave' as const), name: podName }),
  fc.record({ kind: fc.constantFrom('take' as const, 'free' as const), subnet: subnetName, last: fc.integer({ min: 2, max: 6 }) }),
  fc.record({ kind: fc.constant('pool' as const), subnet: subnetName, prefix: fc.constantFrom(29, 30) }),
);

/** A cluster around the step: after a grant an IP object appears, and the pod then requests exactly its addresses. */
class Cluster {
  readonly bench = new AllocationBench();
  readonly #pods = new Map<string, Extract<Act, { readonly kind: 'pod' }>>();
  readonly #prefixes = new Map([...['s1', 's2', 's3'].entries()].map(([i, name]) => [name, 30 - (i % 2)]));

  do(act: Act): void {
    if (act.kind === 'pod') {
      this.#leave(act.name);
      this.#pods.set(act.name, act);
    } else if (act.kind === 'leave') this.#leave(act.name);
    else if (act.kind === 'pool') this.#prefixes.set(act.subnet, act.prefix);
    else if (act.kind === 'take') this.bench.hold(act.subnet, `${blockOf(act.subnet)}.${act.last}`);
    else this.bench.world.ips.delete(`${blockOf(act.subnet)}.${act.last}`);
    this.bench.say(...this.outputs());
    for (const claimant of this.bench.desired.addresses.claimants) this.#record(claimant);
    this.bench.say(...this.outputs());
  }

  outputs(): readonly Output[] {
    const pools = [...this.#prefixes].map(([name, prefix]) => pool(name, `${blockOf(name)}.0/${prefix}`));
    return [...pools, ...[...this.#pods.values()].flatMap((one) => this.#requests(one))];
  }

  #requests({ name, subnets, last }: Extract<Act, { readonly kind: 'pod' }>): readonly Output[] {
    const claimants = subnets.map((_, i) => `${name}.k${i}#uid-${name}`);
    const open = claimants.filter((claimant) => !this.bench.world.ips.has(portOf(claimant)));
    return subnets.map((subnet, i) => {
      const claimant = claimants[i] ?? '';
      const spec = this.bench.world.ips.peek(portOf(claimant))?.spec;
      if (spec !== undefined) return request(claimant, { subnets: [spec.subnet ?? ''], v4: spec.v4IpAddress ?? '', yields: true });
      const byName = last > 1 && i === 0 ? { v4: `${blockOf(subnet)}.${last}` } : {};
      return request(claimant, { subnets: [subnet], ...byName, ...(open.length > 1 && { together: open }) });
    });
  }

  #record(claimant: string): void {
    const answer = this.bench.world.reservations.peek(claimant);
    if (answer?.kind !== 'granted') return;
    this.bench.world.ips.set(portOf(claimant), object(claimant, answer.subnet, answer.v4));
  }

  #leave(name: string): void {
    this.#pods.delete(name);
    for (const port of [...this.bench.world.ips.keys()]) if (port.startsWith(`${name}.`)) this.bench.world.ips.delete(port);
  }
}

function blockOf(subnet: string): string {
  return `10.${subnet.slice(1)}.0`;
}

function portOf(claimant: string): string {
  return claimant.split('#')[0] ?? '';
}

function object(claimant: string, subnet: string, address: string): ReturnType<typeof ip> {
  const made = ip({ subnet, address });
  const [name = '', uid = ''] = claimant.split('#');
  return { ...made, metadata: { ...made.metadata, name, uid: `ip-${name}`, annotations: { 'kiln.io/pod-uid': uid } } };
}

function requestsOf({ desired }: AllocationBench): readonly AddressRequest[] {
  return [...desired.addresses.claimants].flatMap((claimant) => desired.addresses.request(claimant) ?? []);
}

test('after any history no pod holds a part of its addresses, and a new process answers every request the same', () => {
  fc.assert(
    fc.property(fc.array(act, { maxLength: 25 }), (acts) => {
      const cluster = new Cluster();
      for (const one of acts) {
        cluster.do(one);
        const { bench } = cluster;
        for (const { claimant, together = [] } of requestsOf(bench)) {
          const granted = bench.world.reservations.peek(claimant)?.kind === 'granted';
          if (together.length > 1) assert.ok(!granted, `${claimant} holds a part`);
          if (!granted) assert.deepEqual(bench.step.ledger.bindings('reservation', claimant), new Map());
        }
        const fresh = new AllocationBench();
        for (const [name, one] of bench.world.ips.entries()) fresh.world.ips.set(name, one);
        fresh.say(...cluster.outputs());
        const answers = ({ world, desired }: AllocationBench): unknown =>
          [...desired.addresses.claimants].toSorted().map((claimant) => [claimant, world.reservations.peek(claimant)]);
        assert.deepEqual(answers(bench), answers(fresh));
      }
    }),
    { numRuns: 150 },
  );
});
