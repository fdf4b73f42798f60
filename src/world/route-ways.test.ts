import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { staticRouteId } from '../nb/tables.ts';
import { Computed, Reactor } from './reactor.ts';
import { RouteWays } from './route-ways.ts';

const route = (prefix: string, nexthop: string, table = '', policy = 'dst-ip'): RowId =>
  staticRouteId('blue', table, policy, prefix, nexthop);

test('routes of one way are found by any of them, those that differ in more than the next hop are not', () => {
  const ways = new RouteWays(new Reactor());
  const [one, other] = [route('10.0.0.0/8', '10.1.0.1'), route('10.0.0.0/8', '10.1.0.2')];
  for (const id of [one, other, route('10.0.0.0/9', '10.1.0.1'), route('10.0.0.0/8', '10.1.0.3', 'rtb')]) ways.put(id);
  ways.put(route('10.0.0.0/8', '10.1.0.4', '', 'src-ip'));
  ways.put(rowId('Logical_Switch_Port', 'blue||dst-ip|10.0.0.0/8|10.1.0.5'));
  assert.deepEqual([...ways.of(one)].toSorted(), [one, other]);
  assert.deepEqual([...ways.of(route('10.0.0.0/8', '10.1.0.77'))].toSorted(), [one, other], 'one that is not there asks as well');
  ways.take(one);
  assert.deepEqual([...ways.of(one)], [other]);
  ways.take(other);
  assert.equal(ways.of(one).size, 0);
});

test('who asked is told of what comes to a way and leaves it, whatever the order, and of nothing else', () => {
  const hops = ['10.1.0.1', '10.1.0.2', '10.1.0.3'];
  const step = fc.record({ put: fc.boolean(), prefix: fc.constantFrom('10.0.0.0/8', 'fd00::/8'), hop: fc.constantFrom(...hops) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const reactor = new Reactor();
      const ways = new RouteWays(reactor);
      const there = new Set<RowId>();
      let runs = 0;
      const seen = new Computed(reactor, () => {
        runs++;
        return [...ways.of(route('10.0.0.0/8', '10.1.0.9'))].toSorted().join();
      });
      seen.get();
      for (const { put, prefix, hop } of steps) {
        const id = route(prefix, hop);
        if (put === there.has(id)) continue;
        const before = runs;
        if (put) {
          there.add(id);
          ways.put(id);
        } else {
          there.delete(id);
          ways.take(id);
        }
        reactor.settle();
        const expected = hops.map((one) => route('10.0.0.0/8', one)).filter((one) => there.has(one));
        assert.equal(seen.get(), expected.toSorted().join());
        assert.equal(runs > before, prefix === '10.0.0.0/8');
      }
    }),
  );
});
