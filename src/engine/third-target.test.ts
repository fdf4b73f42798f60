/**
 * A third target, of which only a list can be read and only single operations can be sent, as with `ip`: links and routes of a node. It needs
 * the interface and a World with its tables; reactor, rules, desired state and loop are those of the controller.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../timing/testing/manual-clock.ts';
import type { KernelOperation } from './testing/fake-kernel.ts';
import { FakeKernel } from './testing/fake-kernel.ts';
import { NodeAgent } from './testing/node-agent.ts';

const READ_MS = 1_000;

interface Scene {
  readonly kernel: FakeKernel;
  readonly clock: ManualClock;
}

function scene(): Scene {
  const kernel = new FakeKernel();
  kernel.foreign({ do: 'add-link', link: { name: 'eth0', mtu: 1500, up: true, alias: '' } });
  kernel.foreign({ do: 'replace-route', route: { to: '10.16.0.0/16', via: '192.0.2.1', dev: 'eth0', protocol: 'static' } });
  return { kernel, clock: new ManualClock() };
}

/** A started process over a node, with two pods and a Subnet. */
async function agent({ kernel, clock }: Scene, pods: readonly string[] = ['shop/web', 'shop/db']): Promise<NodeAgent> {
  const node = new NodeAgent(kernel, clock);
  for (const pod of pods) node.put(pod);
  node.put('shop/elsewhere', 'n2');
  node.putSubnet('net', '10.16.0.0/16,fd00:10:16::/112');
  await node.start().converged();
  return node;
}

const FOREIGN_ROUTE = '10.16.0.0/16 via 192.0.2.1 dev eth0 proto static';
const OWN_ROUTES = ['10.16.0.0/16 via 100.64.0.1 dev ovn0 proto kiln', 'fd00:10:16::/112 via 100.64.0.1 dev ovn0 proto kiln'];
const ALL_ROUTES = [OWN_ROUTES[0], FOREIGN_ROUTE, OWN_ROUTES[1]];

function done(operations: readonly KernelOperation[]): readonly string[] {
  return operations.map((operation) => operation.do);
}

test('what rules emit is made, and what needs a link is made once that link is observed', async () => {
  const { kernel, clock } = scene();
  await using node = await agent({ kernel, clock });
  assert.deepEqual(kernel.names, ['eth0', 'ovn0', 'veth-shop.db', 'veth-shop.web']);
  assert.deepEqual(kernel.routes, ALL_ROUTES);
  assert.deepEqual(done(kernel.applied), ['add-link', 'add-link', 'add-link', 'replace-route', 'replace-route']);
  assert.equal(kernel.rejected, 0, 'a route before its link would have been rejected');
  assert.deepEqual(node.target.plan(), []);
});

test('a process that starts anew writes nothing', async () => {
  const { kernel, clock } = scene();
  await (await agent({ kernel, clock }))[Symbol.asyncDispose]();
  const { length } = kernel.applied;
  await using second = await agent({ kernel, clock });
  await second.pass(10 * READ_MS);
  assert.equal(kernel.applied.length, length);
  assert.deepEqual(second.target.plan(), []);
});

test('before the first list nothing is written', async () => {
  const { kernel, clock } = scene();
  await using node = new NodeAgent(kernel, clock);
  node.put('shop/web');
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual([node.target.waitingFor, kernel.applied], [['the links and routes of the kernel'], []]);
  await node.start().converged();
  assert.deepEqual([node.target.waitingFor, kernel.applied.length], [[], 2]);
});

test('what another program changes is repaired with the next list, and nothing else is written', async () => {
  const { kernel, clock } = scene();
  await using node = await agent({ kernel, clock });
  const index = kernel.link('veth-shop.web')?.index ?? 0;
  kernel.applied.length = 0;
  kernel.foreign({ do: 'set-link', index, mtu: 1400, up: false });
  kernel.foreign({ do: 'delete-route', to: '10.16.0.0/16', protocol: 'kiln' });
  await node.pass(READ_MS);
  assert.deepEqual(kernel.applied, [
    { do: 'set-link', index, mtu: 1400, up: true },
    { do: 'replace-route', route: { to: '10.16.0.0/16', via: '100.64.0.1', dev: 'ovn0', protocol: 'kiln' } },
  ]);
  assert.deepEqual(kernel.routes, ALL_ROUTES);
  // Routes go with their link, and their rule waits for it again.
  kernel.foreign({ do: 'delete-link', index: kernel.link('ovn0')?.index ?? 0 });
  await node.pass(READ_MS);
  assert.deepEqual([kernel.routes, kernel.rejected], [ALL_ROUTES, 0]);
});

test('what no rule emits any longer is deleted, also if its pod went while no process ran; what others made stays', async () => {
  const { kernel, clock } = scene();
  const first = await agent({ kernel, clock });
  first.delete('shop/web');
  await first.converged();
  assert.deepEqual(kernel.names, ['eth0', 'ovn0', 'veth-shop.db']);
  await first[Symbol.asyncDispose]();
  kernel.applied.length = 0;
  await using second = await agent({ kernel, clock }, ['shop/new']);
  assert.deepEqual(kernel.names, ['eth0', 'ovn0', 'veth-shop.new']);
  assert.deepEqual(done(kernel.applied).toSorted(), ['add-link', 'delete-link']);
  assert.deepEqual([kernel.routes, second.problems], [ALL_ROUTES, []]);
});

test('a link of another program with an emitted name is reported and left alone, until it goes', async () => {
  const { kernel, clock } = scene();
  kernel.foreign({ do: 'add-link', link: { name: 'veth-shop.web', mtu: 1500, up: false, alias: 'of another program' } });
  const before = kernel.link('veth-shop.web');
  await using node = await agent({ kernel, clock });
  await node.pass(10 * READ_MS);
  assert.deepEqual(node.problems, ['shop/web: another program made the link veth-shop.web']);
  assert.deepEqual([kernel.link('veth-shop.web'), kernel.rejected], [before, 0]);
  assert.ok(kernel.link('veth-shop.db'), 'the others are made');
  kernel.foreign({ do: 'delete-link', index: before?.index ?? 0 });
  await node.pass(READ_MS);
  assert.deepEqual([kernel.link('veth-shop.web')?.alias, node.problems], ['kiln', []]);
});

test('a write that fails is tried again with growing delays and reported, and delays no other', async () => {
  const { kernel, clock } = scene();
  kernel.rejects = (operation) =>
    operation.do === 'add-link' && operation.link.name === 'veth-shop.web' ? 'Operation not permitted' : undefined;
  await using node = await agent({ kernel, clock });
  assert.deepEqual([kernel.names, kernel.routes], [['eth0', 'ovn0', 'veth-shop.db'], ALL_ROUTES]);
  assert.deepEqual(node.problems, ['shop/web: Operation not permitted']);
  assert.equal(kernel.rejected, 2, 'once more at once, since the state may have changed after it was read');
  for (let second = 0; second < 60; second++) await node.pass(READ_MS);
  assert.equal(kernel.rejected, 2 + 5, 'after 1, 2, 4, 8 and 16 seconds more');
  kernel.rejects = () => undefined;
  for (let second = 0; second < 30; second++) await node.pass(READ_MS);
  assert.deepEqual([kernel.link('veth-shop.web')?.up, node.problems], [true, []]);
});

test('a failing write ends with its output', async () => {
  const { kernel, clock } = scene();
  kernel.rejects = (operation) =>
    operation.do === 'add-link' && operation.link.name === 'veth-shop.web' ? 'Operation not permitted' : undefined;
  await using node = await agent({ kernel, clock });
  node.delete('shop/web');
  await node.converged();
  const { rejected } = kernel;
  await node.pass(60 * READ_MS);
  assert.deepEqual([kernel.rejected, node.problems, [...node.world.problems.entries()]], [rejected, [], []]);
});

test('a link that is made again under its name is not deleted by its old index', async () => {
  const { kernel, clock } = scene();
  await using node = await agent({ kernel, clock });
  const { index = 0 } = kernel.link('veth-shop.web') ?? {};
  // Another program takes the name after the list, and before the deletion.
  kernel.foreign({ do: 'delete-link', index });
  kernel.foreign({ do: 'add-link', link: { name: 'veth-shop.web', mtu: 9000, up: true, alias: 'of another program' } });
  node.delete('shop/web');
  await node.converged();
  assert.deepEqual([kernel.link('veth-shop.web')?.mtu, kernel.rejected], [9000, 1]);
  assert.deepEqual(node.target.plan(), []);
});

test('one pod among many costs the comparison and the write of one link', async () => {
  const costs = [];
  for (const size of [10, 1_000]) {
    const { kernel, clock } = scene();
    await using node = await agent(
      { kernel, clock },
      Array.from({ length: size }, (_, number) => `shop/p${number}`),
    );
    const { runs } = node.world.reactor;
    const before = [kernel.applied.length, node.target.compared, runs] as const;
    node.put('shop/one-more');
    await node.converged();
    costs.push([kernel.applied.length, node.target.compared, node.world.reactor.runs].map((count, place) => count - (before[place] ?? 0)));
  }
  assert.deepEqual(costs[1], costs[0]);
  assert.deepEqual(costs[0]?.slice(0, 2), [1, 2], 'one write; compared before it, and after its result was read');
});
