import assert from 'node:assert/strict';
import { test } from 'node:test';
import { keysOf, pairsOf } from './domain.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { World } from '../world/world.ts';
import type { Rule } from '../compile/rule.ts';
import { Compiler } from './compiler.ts';
import { Desired } from '../compile/desired.ts';

const META = { uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

test('while a rule fails for an object, its rows are undecided and those of others are not; its recovery is reported', () => {
  const world = new World(DEFAULT_SETTINGS);
  const broken = new Set(['shop/web', 's1\nn1']);
  let recovered = 0;
  const rule = (name: string, over: Rule['over']): Rule => ({
    name,
    over,
    run: (seen, key) => {
      seen.namespaces.get('switch');
      if (broken.has(key)) throw new Error('a bug');
      return [];
    },
  });
  const failures: string[] = [];
  const compiler = new Compiler(
    world,
    new Desired(world),
    [rule('pods', ({ pods }) => keysOf(pods)), rule('pairs', ({ subnets, nodes }) => pairsOf(keysOf(subnets), keysOf(nodes)))],
    ({ rule: name, key }) => failures.push(`${name} ${key}`),
    () => recovered++,
  );
  for (const name of ['web', 'db']) {
    world.pods.set(`shop/${name}`, { apiVersion: 'v1', kind: 'Pod', metadata: { name, namespace: 'shop', ...META }, spec: {} });
  }
  world.subnets.set('s1', { apiVersion: 'kubeovn.io/v1', kind: 'Subnet', metadata: { name: 's1', ...META }, spec: {} });
  world.nodes.set('n1', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'n1', ...META }, spec: {} });
  world.reactor.runDue();
  assert.deepEqual(failures.toSorted(), ['pairs s1\nn1', 'pods shop/web']);
  const undecided = (): string[] =>
    ['pod/shop/web', 'pod/shop/db', 'subnet//s1', 'node//n1', 'vpc//s2'].filter((owner) => compiler.failsFor(owner));
  assert.deepEqual(undecided(), ['pod/shop/web', 'subnet//s1', 'node//n1']);

  broken.clear();
  world.namespaces.set('switch', { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'switch', ...META } });
  world.reactor.runDue();
  assert.deepEqual(undecided(), []);
  assert.ok(recovered > 0);

  broken.add('shop/web');
  world.namespaces.delete('switch');
  world.reactor.runDue();
  assert.deepEqual(undecided(), ['pod/shop/web']);
  world.pods.delete('shop/web');
  assert.deepEqual(undecided(), []);
});
