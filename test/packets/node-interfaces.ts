/**
 * The node's own interface in a ProviderNetwork, by real links: names that are exchanged, other programs' hands, the agent killed, and
 * `kiln agent cleanup`. A neighbour sends to the node's address all the time.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { type AgentNode, type PacketCluster, skip } from './packet-cluster.ts';

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
const PROVIDER_NETWORKS: Resource = {
  group: 'kubeovn.io',
  version: 'v1',
  plural: 'provider-networks',
  kind: 'ProviderNetwork',
  namespaced: false,
};
const READY = 'net2.provider-network.kubernetes.io/ready';
const ERROR = 'net2.provider-network.kubernetes.io/err_mesg';
const ADDRESS = '172.31.0.2/24';
/** Of the same network, and no primary one: by text it is the first. */
const SECOND = '172.31.0.1/24';
const ADDRESS6 = 'fd31::2/64';
const ROUTE = '203.0.113.0/24 via 172.31.0.9';

let cluster: PacketCluster;
let one: AgentNode;
let neighbour: NetworkNamespace;
/** Addresses, routes and links of the node before it all. */
let original = '';

/** What the node has, as text: devices, addresses and routes of its second interface. */
async function state(): Promise<string> {
  const { namespace, vswitch } = one.node;
  const parts = [
    (await namespace.run('ip', '-brief', 'link', 'show')).replaceAll(/ .*/g, ''),
    await namespace.run('ip', '-brief', 'address', 'show', 'scope', 'global').then((text) => text.replaceAll(/\b(UP|DOWN|UNKNOWN) +/g, '')),
    // With what is secondary, and labels.
    (await namespace.run('ip', '-4', '-oneline', 'address', 'show', 'scope', 'global')).replaceAll(/^\d+: |\\.*$/gm, ''),
    await namespace.run('ip', 'route', 'show'),
    await vswitch.vsctl('list-br'),
    (await vswitch.vsctl('get', 'open_vswitch', '.', 'external_ids')).replaceAll(/[{}]/g, '').replaceAll(', ', '\n'),
  ];
  const isOfNetwork = (line: string): boolean => /eth2|net2|172\.31|203\.0\.113|fd31/.test(line);
  return parts.map((part) => part.trim().split('\n').filter(isOfNetwork).toSorted().join('\n')).join('\n---\n');
}

async function on(device: string): Promise<string> {
  const { namespace } = one.node;
  const addresses = await namespace.run('ip', '-brief', 'address', 'show', 'scope', 'global', 'dev', device).catch(() => '');
  return addresses + (await namespace.run('ip', 'route', 'show', 'dev', device).catch(() => ''));
}

async function has(device: string, ...texts: readonly string[]): Promise<boolean> {
  const found = await on(device);
  return texts.every((text) => found.includes(text));
}

async function metadata(): Promise<{ readonly labels?: Record<string, string>; readonly annotations?: Record<string, string> }> {
  return (await cluster.client.get<KubeObject>(NODES, { name: one.node.name })).metadata as never;
}

/** @returns the longest time without an answer to the neighbour's echo requests while `body` runs, in milliseconds */
async function silence(body: () => Promise<void>): Promise<number> {
  const ping = neighbour.ping('172.31.0.2');
  try {
    await ping.answered();
    await body();
    await ping.answered();
  } finally {
    await ping.end().catch(() => undefined);
  }
  return (await ping.end()).longestMs;
}

async function network(spec: object): Promise<void> {
  await cluster.client.mergePatch(PROVIDER_NETWORKS, { name: 'net2' }, { spec });
}

/** To be called once: the tests come after those of the file, on its cluster. @param stops what to call at the end, the first one first */
export function testNodeInterfaces(started: () => PacketCluster, stops: (() => Promise<unknown>)[]): void {
  const prepare = async (): Promise<void> => {
    cluster = started();
    [one] = cluster.nodes as [AgentNode];
    const { namespace } = one.node;
    await cluster.underlay.connect(namespace, 'eth2');
    await namespace.run('ip', 'address', 'add', ADDRESS, 'dev', 'eth2');
    await namespace.run('ip', 'address', 'add', SECOND, 'label', 'eth2:7', 'dev', 'eth2');
    await namespace.run('ip', 'address', 'add', ADDRESS6, 'dev', 'eth2', 'nodad');
    await namespace.run('ip', 'route', 'add', ...ROUTE.split(' '), 'metric', '50', 'dev', 'eth2');
    neighbour = await cluster.underlay.addOutsideHost('172.31.0.9/24', 'fd31::9/64');
    stops.unshift(() => neighbour.delete());
    await neighbour.run('ip', 'address', 'add', '203.0.113.1/32', 'dev', 'lo');
    original = await state();
  };

  test(
    'N44 exchangeLinkName: the bridge has name, addresses and routes of the interface; the neighbour hears the node throughout',
    { skip },
    async () => {
      await prepare();
      const gap = await silence(async () => {
        await cluster.create('ProviderNetwork', 'provider-networks', {
          metadata: { name: 'net2' },
          spec: { defaultInterface: 'eth2', exchangeLinkName: true, excludeNodes: ['node-2'] },
        });
        // It may die in the middle of the move.
        await until('the interface has its other name', async () =>
          (await one.node.namespace.run('ip', '-brief', 'link')).includes('br-net2'),
        );
        await one.killAgent();
        one.startAgent();
        await until('the network is ready', async () => (await metadata()).labels?.[READY] === 'true');
      });
      assert.ok(gap < 3_000, `${gap} ms without an answer`);
      assert.ok(await has('eth2', `${ADDRESS} ${SECOND}`, ADDRESS6, `${ROUTE} metric 50`), await on('eth2'));
      assert.match(await one.node.namespace.run('ip', '-4', 'address', 'show', 'dev', 'eth2'), /172\.31\.0\.1\/24 .*secondary eth2:7$/m);
      assert.equal((await on('br-net2')).includes('172.31'), false);
      assert.ok(await one.node.namespace.reaches('203.0.113.1'));
      assert.ok(await neighbour.reaches('fd31::2'));
      assert.equal((await metadata()).labels?.['net2.provider-network.kubernetes.io/interface'], 'eth2');
      const { vswitch } = one.node;
      assert.match(await vswitch.vsctl('get', 'open_vswitch', '.', 'external_ids:ovn-bridge-mappings'), /net2:eth2/);
      assert.equal((await vswitch.vsctl('list-ports', 'eth2')).trim(), 'br-net2');
    },
  );

  test('names exchanged back while the network stays, and the interface as it was when this node is left out', { skip }, async () => {
    const gap = await silence(async () => {
      await network({ exchangeLinkName: false });
      await until('the bridge has its own name', () => has('br-net2', `${ADDRESS} ${SECOND}`, ADDRESS6, `${ROUTE} metric 50`));
      await until('the network is ready', async () => (await metadata()).labels?.[READY] === 'true');
    });
    assert.ok(gap < 3_000, `${gap} ms without an answer`);
    await network({ excludeNodes: ['node-1', 'node-2'] });
    await until('all is as it was', async () => (await state()) === original).catch(async () => assert.equal(await state(), original));
    assert.equal((await metadata()).labels?.['net2.provider-network.kubernetes.io/exclude'], 'true');
  });

  test('N45, N46, N47 other hands: addresses put back or flushed, the bridge deleted, the interface gone', { skip }, async () => {
    await network({ excludeNodes: ['node-2'] });
    await until('the network is ready', async () => (await metadata()).labels?.[READY] === 'true');
    const { namespace, vswitch } = one.node;
    for (let round = 0; round < 3; round++) {
      await namespace.run('ip', 'address', 'flush', 'dev', 'br-net2');
      await namespace.run('ip', 'address', 'add', ADDRESS, 'dev', 'eth2');
      await until(
        'they are on the bridge',
        async () => (await has('br-net2', ADDRESS, `${ROUTE} metric 50`)) && !(await on('eth2')).includes('172'),
      );
      assert.ok(await neighbour.reaches('172.31.0.2'));
    }
    // As after a start of the node: the bridge is in the database, the addresses are on the interface, and no agent saw it happen.
    await one.killAgent();
    await namespace.run('ip', 'address', 'flush', 'dev', 'br-net2');
    for (const address of [ADDRESS, ADDRESS6]) await namespace.run('ip', 'address', 'add', address, 'dev', 'eth2');
    one.startAgent();
    await until('they are on the bridge', () => has('br-net2', ADDRESS, ADDRESS6));
    assert.ok(await neighbour.reaches('172.31.0.2'));

    await vswitch.vsctl('del-br', 'br-net2');
    await until('the bridge is back with all of it', () => has('br-net2', ADDRESS, ADDRESS6, `${ROUTE} metric 50`));
    assert.ok(await neighbour.reaches('172.31.0.2'));
  });

  test('kiln agent cleanup gives the interface back, under its own name; a dry run says so and changes nothing', { skip }, async () => {
    await network({ exchangeLinkName: true });
    await until('the network is ready', async () => (await metadata()).labels?.[READY] === 'true' && (await has('eth2', ADDRESS)));
    await until('names are exchanged', async () => (await one.node.vswitch.vsctl('list-br')).includes('eth2'));
    await until('the bridge has the addresses', () => has('eth2', ADDRESS, ADDRESS6));
    await one.stopAgent();
    const kept = await state();
    const dry = await one.agentCommand('cleanup', '--dry-run');
    assert.match(dry.out, /bridge eth2 of ProviderNetwork net2: its addresses and routes go back to br-net2/);
    assert.match(dry.out, /interface br-net2: its name is eth2 again/);
    assert.equal(await state(), kept);
    assert.match(dry.err, /left: bridge br-int: ovn-controller runs, and makes it again/);
    await one.node.vswitch.kill('ovn-controller', 'SIGTERM');
    const cleaned = await one.agentCommand('cleanup');
    assert.equal(cleaned.exit, 0, cleaned.out + cleaned.err);
    const now = await state();
    const ofNetwork = (text: string): string =>
      text
        .split('\n')
        .filter((line) => /eth2|net2|172\.31|203\.0\.113/.test(line))
        .join('\n');
    assert.equal(ofNetwork(now), ofNetwork(original));
    assert.ok(await neighbour.reaches('172.31.0.2'));
    await one.node.vswitch.restart('ovn-controller');
    one.startAgent();
    await until(
      'the next agent takes it again',
      async () => (await has('eth2', ADDRESS)) && (await one.node.vswitch.vsctl('list-br')).includes('eth2'),
    );
  });

  test('N47 the interface is gone before the network: nothing of it stays', { skip }, async () => {
    await one.node.namespace.run('ip', 'link', 'delete', 'br-net2');
    await until('the node says so', async () => /has no interface eth2/.test((await metadata()).annotations?.[ERROR] ?? ''));
    await cluster.client.delete(PROVIDER_NETWORKS, { name: 'net2' });
    const { vswitch } = one.node;
    await until('no bridge', async () => !/eth2|br-net2/.test(await vswitch.vsctl('list-br')));
    await until(
      'no mapping and no record',
      async () => !(await vswitch.vsctl('get', 'open_vswitch', '.', 'external_ids')).includes('net2'),
    );
    await until('no label', async () => Object.keys((await metadata()).labels ?? {}).every((key) => !key.startsWith('net2.')));
    assert.doesNotMatch(await one.node.namespace.run('ip', 'route', 'show'), /172\.31|203\.0\.113/);
  });

  test('a VLAN interface of the network is made where the kernel can, and the node says why where it cannot', { skip }, async () => {
    const { namespace } = one.node;
    const able = await namespace.run('ip', 'link', 'add', 'link', 'lo', 'name', 'try', 'type', 'vlan', 'id', '5').then(
      () => true,
      () => false,
    );
    if (able) await namespace.run('ip', 'link', 'delete', 'try');
    await cluster.create('ProviderNetwork', 'provider-networks', {
      metadata: { name: 'net3' },
      spec: { defaultInterface: 'eth0.100', autoCreateVlanSubinterfaces: true, excludeNodes: ['node-2'] },
    });
    await cluster.underlay.connect(namespace, 'eth0');
    const key = (suffix: string): string => `net3.provider-network.kubernetes.io/${suffix}`;
    if (able) await until('the network is ready', async () => (await metadata()).labels?.[key('ready')] === 'true');
    else await until('the node says why', async () => /^ip: .*type/s.test((await metadata()).annotations?.[key('err_mesg')] ?? ''));
    await cluster.client.delete(PROVIDER_NETWORKS, { name: 'net3' });
    await until('nothing of it is left', async () => {
      const links = await namespace.run('ip', '-brief', 'link');
      return !links.includes('eth0.100') && !links.includes('br-net3') && !JSON.stringify(await metadata()).includes('net3');
    });
  });
}
