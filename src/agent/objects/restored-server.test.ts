/** The API server's data was restored from a backup: the agent's kinds are listed again, and no rule sees some from before and some from after. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Exchange } from '../../kube/testing/scripted-api.ts';
import { KINDS, ScriptedApi } from '../../kube/testing/scripted-api.ts';
import { AGENT_TABLES } from '../../kinds/generated/agent-tables.ts';
import { SILENT } from '../../runtime/log.ts';
import { until } from '../../testing/until.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { Retries } from '../retries.ts';
import { NodeWorld } from '../world/node-world.ts';
import { ObjectsTarget } from './objects-target.ts';

const node = (name: string): object => ({ metadata: { name, uid: `uid-${name}`, resourceVersion: '3' }, spec: {}, status: {} });

test('one silent watch that finds older data has all kinds listed again; rules wait for the last, and are woken', async () => {
  for (const { resource } of Object.values(AGENT_TABLES)) KINDS.set(resource.plural, resource.kind);
  const clock = new ManualClock();
  const api = await ScriptedApi.start();
  const world = new NodeWorld();
  let woken = 0;
  const log = { ...SILENT, warn: (message: string) => void warned.push(message) };
  const warned: string[] = [];
  const retries = new Retries(clock, world, () => undefined);
  const target = new ObjectsTarget({ client: api.client(), node: 'n1', world, retries, clock, log, wake: () => void woken++ });
  let version = '10';
  let nodes = ['n1', 'n2'];
  /** Lists that are not answered. */
  const held: Exchange[] = [];
  let holds: (exchange: Exchange) => boolean = () => false;
  api.handler = (exchange) => {
    if (exchange.isWatch) return void exchange.open();
    if (exchange.path.startsWith('/api/v1/nodes/')) return exchange.status(404, 'NotFound', 'no');
    if (exchange.query.get('limit') !== '1' && holds(exchange)) return void held.push(exchange);
    exchange.list(exchange.path === '/api/v1/nodes' ? nodes.map(node) : [], version);
  };
  try {
    target.start();
    await until('all is listed', () => target.observed);
    assert.deepEqual([...world.nodes.keys()], ['n1', 'n2']);
    nodes = ['n1'];
    version = '7';
    holds = (exchange) => exchange.path !== '/api/v1/nodes';
    await until('all watches are open', () => clock.timers >= Object.keys(world.tablesOfKinds()).length);
    clock.advance(75_000);
    await until('the node of after the backup is gone', () => world.nodes.peek('n2') === undefined);
    assert.equal(target.busy, true, 'no rule runs: the other kinds are from before');
    await until('the other kinds are listed', () => held.length >= Object.keys(world.tablesOfKinds()).length - 1);
    const before = woken;
    for (const exchange of held) exchange.list([], version);
    await until('they are from after it too', () => !target.busy);
    assert.ok(woken > before);
    assert.equal(warned.length, 1, warned.join());
  } finally {
    await target.stop();
    await api.close();
  }
});
