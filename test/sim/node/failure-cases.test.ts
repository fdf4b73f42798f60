/** Known failure cases of node agents, on the simulated node: each a short history whose end is judged as that of a drawn one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeRules } from '../../../src/agent/rules/rules.ts';
import { drawNode, replayNode } from './life.ts';
import { SETTINGS } from './simulated-agent.ts';
import { SimulatedNode } from './simulated-node.ts';
import { apply, begin, type NodeStep } from './step.ts';

const POD: NodeStep = { do: 'pod', name: 'a', second: false, annotateMs: 1, nonsense: false };
const AT_REST: NodeStep = { do: 'wait', ms: 3_000 };
const END: readonly NodeStep[] = [{ do: 'converge' }, { do: 'converge', empty: true }];

async function findings(...steps: readonly NodeStep[]): Promise<readonly string[]> {
  const life = await replayNode(1, [AT_REST, ...steps, ...END]);
  return life.findings.map(({ message }) => message);
}

test('N03: the agent is killed after each write of an ADD, or programs fail at each moment of it: nothing is left, and the next one works', async () => {
  for (let afterWrites = 0; afterWrites < 12; afterWrites += 1) {
    const kill: NodeStep = { do: 'kill', afterWrites, restartMs: 100 };
    assert.deepEqual(await findings(kill, POD, AT_REST), [], `killed after ${afterWrites + 1} writes`);
  }
  for (const ms of [1, 4, 8, 12, 16, 20, 30, 50, 100, 200])
    for (const done of [false, true]) {
      const fail: NodeStep = { do: 'programs', times: 2, done };
      assert.deepEqual(await findings(POD, { do: 'wait', ms }, fail, AT_REST), [], `programs fail after ${ms} ms`);
    }
});

test('N07: the Open_vSwitch database is away during a DEL: it fails until the port is gone', async () => {
  for (const how of ['disconnect', 'restart'] as const)
    assert.deepEqual(
      await findings(POD, AT_REST, { do: 'database', how, downMs: 9_000 }, { do: 'delete', name: 'a', how: 'graceful' }),
      [],
    );
});

/** A node at rest, with what its agent writes from then on. */
async function restingNode(): Promise<SimulatedNode> {
  const node = new SimulatedNode({ seed: 1, rules: () => nodeRules(SETTINGS), trace: () => undefined });
  node.byHand('node', () => begin(node));
  node.startAgent();
  await node.time.runUntil(20_000);
  node.writes.length = 0;
  return node;
}

test('N27, N28: pods change no packet filter, and a node at rest gets no write at all', async () => {
  const node = await restingNode();
  try {
    for (const name of ['a', 'b', 'c', 'd']) apply(node, { ...POD, name });
    await node.time.runUntil(40_000);
    assert.ok(node.kubelet.isIdle([...node.pods.values()]), 'all run');
    assert.ok(node.writes.length > 0);
    assert.deepEqual(
      node.writes.filter((what) => what.startsWith('nft')),
      [],
    );
    node.writes.length = 0;
    // Each target lists what there is dozens of times.
    await node.time.runUntil(240_000);
    assert.deepEqual(node.writes, []);
  } finally {
    node.agent?.kill();
    node.lab.stop();
  }
});

test('N53: a node whose date jumps: waits and retries follow the monotonic clock alone', async (t) => {
  const expected = (await drawNode(7, 30)).hash;
  const { now } = Date;
  let calls = 0;
  // Two days ahead, and back.
  t.mock.method(Date, 'now', () => now() + (calls++ % 2) * 2 * 86_400_000);
  assert.equal((await drawNode(7, 30)).hash, expected);
});
