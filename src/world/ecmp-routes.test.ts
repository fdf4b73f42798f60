import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { staticRouteId } from '../nb/tables.ts';
import { Computed, Reactor } from '../engine/reactor.ts';
import { EcmpRoutes } from './ecmp-routes.ts';

const route = (prefix: string, nexthop: string, table = '', policy = 'dst-ip'): RowId =>
  staticRouteId('blue', table, policy, prefix, nexthop);

test('a group has the routes that differ in the next hop only, and no others', () => {
  const ecmp = new EcmpRoutes(new Reactor());
  const [one, other] = [route('10.0.0.0/8', '10.1.0.1'), route('10.0.0.0/8', '10.1.0.2')];
  for (const id of [one, other, route('10.0.0.0/9', '10.1.0.1'), route('10.0.0.0/8', '10.1.0.3', 'rtb')]) ecmp.put(id);
  ecmp.put(route('10.0.0.0/8', '10.1.0.4', '', 'src-ip'));
  ecmp.put(rowId('Logical_Switch_Port', 'blue||dst-ip|10.0.0.0/8|10.1.0.5'));
  assert.deepEqual([...ecmp.of(one)].toSorted(), [one, other]);
  assert.deepEqual([...ecmp.of(route('10.0.0.0/8', '10.1.0.77'))].toSorted(), [one, other], 'also for a route that does not exist');
  ecmp.take(one);
  assert.deepEqual([...ecmp.of(one)], [other]);
  ecmp.take(other);
  assert.equal(ecmp.of(one).size, 0);
});

test('a reader runs again for each route that is added to or removed from its group, and for no other', () => {
  const hops = ['10.1.0.1', '10.1.0.2', '10.1.0.3'];
  const step = fc.record({ put: fc.boolean(), prefix: fc.constantFrom('10.0.0.0/8', 'fd00::/8'), hop: fc.constantFrom(...hops) });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 20 }), (steps) => {
      const reactor = new Reactor();
      const ecmp = new EcmpRoutes(reactor);
      const there = new Set<RowId>();
      let runs = 0;
      const seen = new Computed(reactor, () => {
        runs++;
        return [...ecmp.of(route('10.0.0.0/8', '10.1.0.9'))].toSorted().join();
      });
      seen.get();
      for (const { put, prefix, hop } of steps) {
        const id = route(prefix, hop);
        if (put === there.has(id)) continue;
        const before = runs;
        if (put) {
          there.add(id);
          ecmp.put(id);
        } else {
          there.delete(id);
          ecmp.take(id);
        }
        reactor.runDue();
        const expected = hops.map((one) => route('10.0.0.0/8', one)).filter((one) => there.has(one));
        assert.equal(seen.get(), expected.toSorted().join());
        assert.equal(runs > before, prefix === '10.0.0.0/8');
      }
    }),
  );
});
