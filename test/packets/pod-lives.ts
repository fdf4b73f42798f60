/** Known failure cases of a pod's beginning and end, and of programs that are away meanwhile, on the nodes of the file that calls it. */
import assert from 'node:assert/strict';
import { readdir, readlink, stat } from 'node:fs/promises';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Sandbox } from '../../lab/node/sandbox.ts';
import { until } from '../../src/testing/until.ts';
import { lostWhile } from './lost-packets.ts';
import { type AgentNode, type PacketCluster, type RunningPod, skip } from './packet-cluster.ts';

/** Whatever Subnets the namespace is bound to. */
const SHARED = { 'ovn.kubernetes.io/logical_switch': 'ovn-default' };
/** Rows that a start of a node left, as many as a busy node may have after some of them. */
const STALE = 500;
/** Between two echo requests. */
const PERIOD_MS = 10;

export function testPodLives(cluster: () => PacketCluster): void {
  const nodes = (): readonly [AgentNode, AgentNode] => {
    const [one, two] = cluster().nodes;
    assert.ok(one && two);
    return [one, two];
  };

  test(
    'N04, N05: a DEL succeeds at once, however often, after a failed ADD, without a namespace, and of an unknown container',
    { skip },
    async () => {
      const [one] = nodes();
      await cluster().createPod('refused', one, SHARED);
      const sandbox = await Sandbox.create('refused', 'refused'.padEnd(64, 'e'));
      const { namespace, containerId } = sandbox;
      assert.equal((await one.cni('ADD', 'nobody', { containerId, namespace: { path: '/run/netns/absent' } })).exit, 1);
      const of = [
        { containerId, namespace },
        { containerId: 'unknown'.padEnd(64, 'e'), namespace },
        { containerId, namespace: { path: '' } },
        { containerId, namespace: { path: '/run/netns/absent' } },
      ];
      for (const called of [...of, ...of]) assert.deepEqual(await timed(one, 'refused', called), DONE);
      for (const path of ['', namespace.path]) {
        assert.equal((await one.cni('ADD', 'refused', sandbox)).exit, 0);
        assert.deepEqual((await rowsOf(one)).length, 1);
        if (path !== '') await sandbox.delete();
        assert.deepEqual(await timed(one, 'refused', { containerId, namespace: { path } }), DONE);
        assert.deepEqual([await rowsOf(one), await linksOf(one)], [[], []]);
      }
      await cluster().deletePod('refused');
    },
  );

  test('N11: a gateway does not answer: the ADD says so, ends with its pod, and no process stays in the namespace', { skip }, async () => {
    const [one] = nodes();
    const { ovn } = cluster();
    await cluster().create('Subnet', 'subnets', {
      metadata: { name: 'silent' },
      spec: { cidrBlock: '10.78.0.0/24', gateway: '10.78.0.1' },
    });
    await cluster().createPod('early', one, { 'ovn.kubernetes.io/logical_switch': 'silent' });
    await ovn.nbctl('acl-add', 'silent', 'from-lport', '3000', 'arp', 'drop');
    const sandbox = await Sandbox.create('early', 'early'.padEnd(64, 'e'));
    const adding = one.cni('ADD', 'early', sandbox);
    await until('the agent says why', async () => (await one.agentCommand('status')).out.includes('gateway 10.78.0.1'));
    await cluster().deletePod('early');
    const since = performance.now();
    const { exit, output } = await adding;
    assert.ok(performance.now() - since < 5_000, `${Math.round(performance.now() - since)} ms`);
    assert.equal(exit, 1);
    assert.match(output, /was deleted while its interface was made/);
    await until('no process is in the namespace', async () => (await processesIn(sandbox)).length === 0, 5_000);
    assert.deepEqual(await timed(one, 'early', sandbox), DONE);
    await sandbox.delete();
    await ovn.nbctl('acl-del', 'silent');
  });

  test('N14: the port of a pod that runs is deleted while no agent runs: the next one makes it again', { skip }, async () => {
    const [one, two] = nodes();
    const [near, far] = [await cluster().runPod('near', one, SHARED), await cluster().runPod('far', two, SHARED)];
    const [port = ''] = await rowsOf(one);
    await one.stopAgent();
    await one.node.vswitch.vsctl('del-port', 'br-int', port);
    assert.ok(!(await reach(far, near, 1)));
    one.startAgent();
    await until('the port is back', async () => (await rowsOf(one)).includes(port), 30_000);
    await until('its packets arrive', () => reach(far, near, 1), 30_000);
    assert.equal((await one.cni('CHECK', 'near', near.sandbox)).exit, 0);
    await remove(cluster(), one, 'near', near);
    await remove(cluster(), two, 'far', far);
  });

  test(`N15: a node started again with ${STALE} rows of pods that are gone: they go, and the first ADD is quick`, { skip }, async () => {
    const [one] = nodes();
    const { vswitch } = one.node;
    await one.stopAgent();
    const rows = Array.from({ length: STALE }, (_, at) => {
      const id = `${at}`.padStart(12, '0');
      const ids = {
        'iface-id': `old-${at}.default`,
        vendor: 'kube-ovn',
        pod_name: `old-${at}`,
        pod_namespace: 'default',
        pod_netns: `/run/netns/old-${at}`,
        'kiln.io/container': id.padEnd(64, '0'),
        'kiln.io/interface': 'eth0',
        'kiln.io/provider': 'ovn',
      };
      const settings = Object.entries(ids).map(([key, value]) => `external_ids:${key}="${value}"`);
      return ['--', 'add-port', 'br-int', `${id}_h`, '--', 'set', 'interface', `${id}_h`, ...settings];
    });
    // The arguments of one program have a limit.
    for (let at = 0; at < STALE; at += 50) await vswitch.vsctl('--no-wait', ...rows.slice(at, at + 50).flat());
    assert.equal((await rowsOf(one)).length, STALE);
    await cluster().createPod('first', one, SHARED);
    const sandbox = await Sandbox.create('first', 'first'.padEnd(64, 'e'));
    one.startAgent();
    const since = performance.now();
    await until('an ADD succeeds', async () => (await one.cni('ADD', 'first', sandbox)).exit === 0, 60_000);
    const took = Math.round(performance.now() - since);
    // A machine may be slow, but the rows that are near have not been waited for.
    assert.ok(took < 10_000 || (await rowsOf(one)).length > 1, `the first ADD was done ${took} ms after the start`);
    await until('no other row is near', async () => (await rowsOf(one)).length === 1, 60_000);
    assert.doesNotMatch(await vswitch.vsctl('--columns=name,error', 'list', 'interface'), /No such device/);
    await remove(cluster(), one, 'first', { address: '', sandbox });
  });

  test(
    'N19: ovn-controller starts again under traffic: no packet is lost; ovs-vswitchd: pods reach each other within a moment',
    { skip },
    async (t) => {
      const [one, two] = nodes();
      const [near, far] = [await cluster().runPod('near', one, SHARED), await cluster().runPod('far', two, SHARED)];
      const { vswitch } = one.node;
      let next: RunningPod | undefined;
      let fewest = Number.POSITIVE_INFINITY;
      const watching = new AbortController();
      const flows = (async () => {
        while (!watching.signal.aborted) {
          const shown = await vswitch.ofctl('dump-aggregate', 'br-int').catch(() => '');
          fewest = Math.min(fewest, Number(/flow_count=(\d+)/.exec(shown)?.[1] ?? fewest));
          await sleep(20);
        }
      })();
      const missing = await lost(near, far, async () => {
        await vswitch.kill('ovn-controller');
        await vswitch.restart('ovn-controller');
        // It works through everything before it installs the flows of a new port.
        next = await cluster().runPod('next', one, SHARED);
      });
      watching.abort();
      await flows;
      t.diagnostic(`ovn-controller: ${missing} packets of 10 ms lost, at least ${fewest} flows`);
      assert.ok(fewest > 0, 'there are flows at each moment');
      assert.ok(missing < 100, `${missing} packets were lost`);
      const without = await lost(near, far, async () => {
        await vswitch.kill('ovs-vswitchd');
        await vswitch.restart('ovs-vswitchd');
        await until('pods reach each other', () => reach(near, far, 1), 30_000);
      });
      t.diagnostic(`ovs-vswitchd: ${without} packets of 10 ms lost`);
      if (next !== undefined) await remove(cluster(), one, 'next', next);
      await remove(cluster(), one, 'near', near);
      await remove(cluster(), two, 'far', far);
    },
  );

  test(
    'N20: the Southbound database is away, and ovn-controller starts again meanwhile: pods that run lose nothing',
    { skip },
    async () => {
      const [one, two] = nodes();
      const [near, far] = [await cluster().runPod('near', one, SHARED), await cluster().runPod('far', two, SHARED)];
      await cluster().ovn.kill('sb');
      const missing = await lost(near, far, async () => {
        await sleep(2_000);
        await one.node.vswitch.kill('ovn-controller');
        await one.node.vswitch.restart('ovn-controller');
        await sleep(5_000);
      });
      assert.ok(missing <= 2, `${missing} packets were lost`);
      assert.match(await one.node.vswitch.appctl('ovn-controller', 'connection-status'), /not connected/);
      await cluster().ovn.restart('sb');
      const late = await cluster().runPod('afterwards', one, SHARED);
      assert.ok(await reach(far, late, 10));
      await remove(cluster(), one, 'afterwards', late);
      await remove(cluster(), one, 'near', near);
      await remove(cluster(), two, 'far', far);
    },
  );
}

const DONE = { exit: 0, output: '', quick: true };

/** A DEL. kubelet waits for it, so it must not wait for anything. */
async function timed(node: AgentNode, pod: string, sandbox: Parameters<AgentNode['callPlugin']>[2]): Promise<object> {
  const since = performance.now();
  const done = await node.cni('DEL', pod, sandbox);
  return { ...done, quick: performance.now() - since < 10_000 };
}

/** Names of the Interfaces of pods. */
async function rowsOf({ node }: AgentNode): Promise<readonly string[]> {
  return (await node.vswitch.vsctl('list-ports', 'br-int')).split('\n').filter((name) => name.endsWith('_h'));
}

async function linksOf({ node }: AgentNode): Promise<readonly string[]> {
  return (await node.namespace.run('ip', '-brief', 'link', 'show')).split('\n').filter((line) => /^\w+_h@/.test(line));
}

/** Of its addresses the first. */
function firstOf({ address }: RunningPod): string {
  return address.split(',')[0] ?? '';
}

/** Of echo requests each 10 ms. */
async function lost(from: RunningPod, to: RunningPod, meanwhile: () => Promise<unknown>): Promise<number> {
  return await lostWhile(from, firstOf(to), meanwhile, PERIOD_MS);
}

async function reach(from: RunningPod, to: RunningPod, seconds: number): Promise<boolean> {
  return await from.sandbox.reaches(firstOf(to), { seconds });
}

async function remove(cluster: PacketCluster, node: AgentNode, name: string, { sandbox }: RunningPod): Promise<void> {
  assert.equal((await node.cni('DEL', name, sandbox)).exit, 0);
  await sandbox.delete();
  await cluster.deletePod(name);
}

/** Processes whose network namespace is that of a sandbox. */
async function processesIn({ namespace }: Sandbox): Promise<readonly string[]> {
  const { ino } = await stat(namespace.path);
  const found = await Promise.all(
    (await readdir('/proc'))
      .filter((name) => /^\d+$/.test(name))
      .map(async (pid) => ((await readlink(`/proc/${pid}/ns/net`).catch(() => '')) === `net:[${ino}]` ? [pid] : [])),
  );
  return found.flat();
}
