/** Known failure cases of node agents, on the simulated node: each a short history whose end is judged as that of a drawn one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nodeRules } from '../../../src/agent/rules/rules.ts';
import { portKey } from '../../../src/agent/world/port-keys.ts';
import { NodeJudge } from './judge.ts';
import type { Sandbox } from './kubelet.ts';
import { drawNode, replayNode } from './life.ts';
import { keysOf } from './open-vswitch.ts';
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

test('what another program takes inside of a pod comes back, also in the middle of an ADD', async () => {
  for (const what of ['pod-address', 'pod-route', 'pod-link', 'pod-mac'] as const) {
    const harm: NodeStep = { do: 'harm', what, number: 0 };
    assert.deepEqual(await findings(POD, AT_REST, harm), [], what);
    assert.deepEqual(await findings(POD, { do: 'wait', ms: 150 }, harm), [], `${what} early`);
  }
});

test('a port that Open vSwitch opened again for a device that is made again is not removed any more', async () => {
  const steps: readonly NodeStep[] = [
    { ...POD, name: 'a' },
    { ...POD, name: 'b' },
    { do: 'wait', ms: 7_000 },
    { do: 'harm', what: 'link', number: 0 },
    { do: 'harm', what: 'link-down', number: 1 },
    { do: 'wait', ms: 20 },
    ...END,
  ];
  for (let seed = 40_090; seed < 40_100; seed += 1) assert.deepEqual((await replayNode(seed, steps)).findings, [], String(seed));
});

test('a device of the node that is deleted before the agent saw it comes back', async () => {
  for (const what of ['node-link', 'mirror-link'] as const)
    assert.deepEqual(
      (
        await replayNode(9001, [
          { do: 'harm', what, number: 0 },
          { do: 'converge', empty: true },
        ])
      ).findings,
      [],
      what,
    );
});

test('N07: the Open_vSwitch database is away during a DEL: it fails until the port is gone', async () => {
  for (const how of ['disconnect', 'restart'] as const)
    assert.deepEqual(
      await findings(POD, AT_REST, { do: 'database', how, downMs: 9_000 }, { do: 'delete', name: 'a', how: 'graceful' }),
      [],
    );
});

test('a DEL removes a port whose Interface lost its keys to another program', async () => {
  const steps: readonly NodeStep[] = [
    { ...POD, name: 'b' },
    { do: 'wait', ms: 7_000 },
    { do: 'transaction', what: 'reject' },
    { do: 'harm', what: 'keys', number: 0 },
    { do: 'wait', ms: 5 },
    { do: 'converge', empty: true },
  ];
  assert.deepEqual((await replayNode(5051, steps)).findings, []);
});

test('an interface of a forgotten sandbox goes though another pod, without that interface, has the name of its pod', async () => {
  const steps: readonly NodeStep[] = [
    { ...POD, name: 'e', second: true, annotateMs: 300 },
    { do: 'wait', ms: 7_000 },
    { do: 'api-away', ms: 90_000 },
    { do: 'delete', name: 'e', how: 'forget' },
    { ...POD, name: 'e' },
    { do: 'converge' },
  ];
  assert.deepEqual((await replayNode(5044, steps)).findings, []);
});

test('a DEL is not answered while the removal of a link is due that a killed program made', async () => {
  const steps: readonly NodeStep[] = [
    { ...POD, name: 'c' },
    { do: 'converge' },
    { do: 'sandbox', name: 'c', first: 'new', keepsNamespace: true },
    { do: 'programs', times: 4, done: true },
    { do: 'wait', ms: 100 },
    { do: 'converge', empty: true },
  ];
  assert.deepEqual((await replayNode(5015, steps)).findings, []);
});

test('a device of the node that another program deleted is made again with its port, also after a restart of the agent', async () => {
  const lost: NodeStep = { do: 'harm', what: 'node-link', number: 0 };
  assert.deepEqual(await findings(POD, AT_REST, lost), []);
  for (const restartMs of [1, 8_000])
    assert.deepEqual(await findings(POD, AT_REST, { do: 'kill', afterWrites: 0, restartMs }, lost, { ...POD, name: 'b' }), []);
});

interface Added {
  readonly status: number;
  readonly error: string;
  readonly ms: number;
}

/** An ADD of the plugin, while time goes on. @returns its answer, and how long that took */
async function added(node: SimulatedNode, { id, pod, path }: Pick<Sandbox, 'id' | 'pod' | 'path'>): Promise<Added> {
  const since = node.time.now;
  const body = { cni_type: 'kiln-cni', pod_name: pod.name, pod_namespace: 'default', container_id: id, net_ns: path, if_name: 'eth0' };
  const answers: Added[] = [];
  void node.agent?.ask('/api/v1/add', { ...body, provider: 'ovn' }, new AbortController().signal).then((reply) => {
    const { error = '' } = (reply?.body ?? {}) as { readonly error?: string };
    answers.push({ status: reply?.status ?? 0, error, ms: node.time.now - since });
  });
  while (answers.length === 0 && node.time.now - since < 61_000) await node.time.runUntil(node.time.now + 10);
  const [answer] = answers;
  assert.ok(answer !== undefined, 'no answer');
  return answer;
}

/** Of each Interface of a pod: its container, and whether its flows are installed. */
function portsOf(node: SimulatedNode): readonly string[] {
  return [...node.vswitch.database.rows('Interface').values()].flatMap((row) => {
    const keys = keysOf(row);
    const container = keys.get(portKey.container);
    return container === undefined ? [] : [`${keys.get(portKey.port)} ${container} ${keys.get('ovn-installed') ?? 'false'}`];
  });
}

async function withRestingNode(run: (node: SimulatedNode) => Promise<void>): Promise<void> {
  const node = await restingNode();
  try {
    await run(node);
  } finally {
    node.agent?.kill();
    node.lab.stop();
  }
}

test('N01: the ADD of a sandbox that is removed already comes late: it fails, and the port of the living one is untouched', () =>
  withRestingNode(async (node) => {
    const judge = new NodeJudge(node);
    // The ADD waits for an address.
    apply(node, { ...POD, annotateMs: 5_000 });
    await node.time.runUntil(node.time.now + 1_000);
    const [first] = node.kubelet.sandboxes.values();
    assert.equal(first?.state, 'adding');
    first.abort.abort();
    await node.time.runUntil(node.time.now + 10_000);
    const [second, ...others] = node.kubelet.sandboxes.values();
    assert.deepEqual([second?.state, others], ['ready', []]);
    assert.notEqual(second?.id, first.id);
    const late = await added(node, first);
    assert.equal(late.status, 500);
    assert.match(late.error, /network namespace \S+ of pod default\/a does not exist/);
    await node.time.runUntil(node.time.now + 5_000);
    assert.deepEqual(portsOf(node), [`a.default ${second?.id} true`]);
    assert.deepEqual(judge.take(), []);
  }));

test('N02: a pod is made again under its name while ovn-controller is slow: its ADD ends when the flows of its own port are installed', () =>
  withRestingNode(async (node) => {
    apply(node, POD);
    await node.time.runUntil(node.time.now + 3_000);
    node.switches.stop();
    apply(node, { do: 'recreate', name: 'a', annotateMs: 1, removed: false });
    await node.time.runUntil(node.time.now + 4_000);
    const sandboxes = (): readonly string[] => [...node.kubelet.sandboxes.values()].map(({ state }) => state);
    assert.deepEqual(sandboxes(), ['adding']);
    const [{ id } = { id: '' }] = node.kubelet.sandboxes.values();
    assert.deepEqual(portsOf(node), [`a.default ${id} false`]);
    node.byHand('node', () => node.switches.start());
    await node.time.runUntil(node.time.now + 2_000);
    assert.deepEqual([sandboxes(), portsOf(node)], [['ready'], [`a.default ${id} true`]]);
  }));

test('N06: the API server is away: a DEL works as ever, an ADD of a pod that is not known fails at once and says why', () =>
  withRestingNode(async (node) => {
    apply(node, POD);
    await node.time.runUntil(node.time.now + 3_000);
    const judge = new NodeJudge(node);
    assert.equal(portsOf(node).length, 1);
    apply(node, { do: 'api-away', ms: 60_000 });
    await node.time.runUntil(node.time.now + 2_000);
    const since = node.time.now;
    apply(node, { do: 'delete', name: 'a', how: 'graceful' });
    while (node.kubelet.sandboxes.size > 0) await node.time.runUntil(node.time.now + 10);
    assert.deepEqual(portsOf(node), []);
    assert.ok(node.time.now - since < 5_000, `${node.time.now - since} ms`);
    const stranger = { id: 'f'.repeat(64), path: '/run/netns/b', pod: { name: 'b', uid: '', interfaces: [], wanted: true } };
    node.kernel.addNamespace(stranger.path);
    const refused = await added(node, stranger);
    assert.equal(refused.status, 500);
    assert.match(refused.error, /pod default\/b is not observed on node n1: /);
    assert.ok(refused.ms < 5_000, `${refused.ms} ms`);
    node.kernel.removeNamespace(stranger.path);
    assert.deepEqual(await judge.converge(true), []);
  }));

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

test('a DEL after a restart of the node removes a port though another program cleared the keys of its Interface', () =>
  withRestingNode(async (node) => {
    apply(node, { ...POD, second: true });
    await node.time.runUntil(node.time.now + 40);
    const judge = new NodeJudge(node);
    apply(node, { do: 'reboot', downMs: 100, removedFirst: false });
    apply(node, { do: 'harm', what: 'keys', number: 0 });
    assert.deepEqual(await judge.converge(true), []);
    assert.deepEqual(portsOf(node), []);
  }));
