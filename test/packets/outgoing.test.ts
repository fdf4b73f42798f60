/**
 * What pods send to the outside, by real packets: from which address and through which node, as Subnets say; beside kube-proxy's translation,
 * a firewall of iptables, and programs that flush everything.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import type { NodeStatus } from '../../src/agent/status/node-status.ts';
import type { Resource } from '../../src/kube/resource.ts';
import { onPath } from '../../lab/programs/executable.ts';
import { until } from '../../src/testing/until.ts';
import { Firewalld, hasFirewalld } from './firewalld.ts';
import { lostWhile } from './lost-packets.ts';
import { type AgentNode, type PacketCluster, type RunningPod, skip, startPackets } from './packet-cluster.ts';

const SUBNETS: Resource = { group: 'kubeovn.io', version: 'v1', plural: 'subnets', kind: 'Subnet', namespaced: false };
const OUTSIDE = '172.18.0.99';
/** A network behind the host outside, which only an egress gateway reaches. */
const BEYOND = '192.0.2.1';
const CLUSTER_IP = '10.96.0.50';
const HOST_PORT = '10.96.0.51';
/** As Docker leaves the chain of iptables. */
const DROPPING = 'table ip filter { chain FORWARD { type filter hook forward priority 0; policy drop; }; }';

let cluster: PacketCluster;
let one: AgentNode;
let two: AgentNode;
let outside: NetworkNamespace;
let web: RunningPod;
let db: RunningPod;
const stops: (() => Promise<unknown>)[] = [];

before(async () => {
  if (skip !== false) return;
  [cluster, one, two] = await startPackets(stops);
  outside = await cluster.underlay.addOutsideHost(`${OUTSIDE}/16`);
  stops.unshift(() => outside.delete());
  await watchSources(outside);
  for (const { node } of cluster.nodes) await watchSources(node.namespace);
  await subnet('red', { cidrBlock: '10.20.0.0/16', gateway: '10.20.0.1', enableLb: false, natOutgoing: true });
  web = await cluster.runPod('web', one, { 'ovn.kubernetes.io/logical_switch': 'red' });
  stops.unshift(() => web.sandbox.delete());
  db = await cluster.runPod('db', two);
  stops.unshift(() => db.sandbox.delete());
});
after(async () => {
  for (const stop of stops) await stop();
});

async function subnet(name: string, spec: object): Promise<void> {
  await cluster.create('Subnet', 'subnets', { metadata: { name }, spec });
}

async function change(name: string, spec: object): Promise<void> {
  await cluster.client.mergePatch(SUBNETS, { name }, { spec });
}

/** Keeps the sources of the echo requests that arrive. */
async function watchSources(namespace: NetworkNamespace): Promise<void> {
  const rule = 'icmp type echo-request add @sources { ip saddr }';
  const chain = `chain input { type filter hook input priority 0; ${rule}; }`;
  await namespace.run('nft', `table ip seen { set sources { type ipv4_addr; flags dynamic; size 1000; }; ${chain}; }`);
}

/** The sources that a namespace has seen since it was last asked. */
async function seenBy(namespace: NetworkNamespace): Promise<readonly string[]> {
  const { nftables } = JSON.parse(await namespace.run('nft', '-j', 'list', 'set', 'ip', 'seen', 'sources')) as {
    readonly nftables: readonly { readonly set?: { readonly elem?: readonly string[] } }[];
  };
  await namespace.run('nft', 'flush', 'set', 'ip', 'seen', 'sources');
  return nftables.flatMap(({ set }) => set?.elem ?? []).toSorted();
}

/** Sends from a pod until the address answers, and then tells which sources arrived with the last packets. */
async function sourcesAt(namespace: NetworkNamespace, from: RunningPod, to: string): Promise<readonly string[]> {
  await seenBy(namespace);
  assert.ok(await from.sandbox.reaches(to), `${from.address} reaches ${to}`);
  return await seenBy(namespace);
}

/** The sources, once they are as expected: a change of a Subnet takes a moment to arrive. */
async function untilSources(what: string, from: RunningPod, expected: readonly string[], to = OUTSIDE): Promise<void> {
  let seen: readonly string[] = [];
  await until(
    `${what}: ${expected.join()} at ${to}`,
    async () => {
      await seenBy(outside);
      await from.sandbox.reaches(to, { seconds: 1 });
      seen = await seenBy(outside);
      return seen.join() === expected.join();
    },
    60_000,
    () => `seen ${seen.join()}`,
  );
}

test('outside, a pod of a distributed Subnet has the address of its node; inside, its own', { skip }, async () => {
  await untilSources('distributed', web, [one.node.address]);
  await untilSources('distributed', db, [two.node.address]);
  for (const { node } of cluster.nodes) assert.deepEqual(await sourcesAt(node.namespace, web, node.address), [web.address], node.name);
  await watchSources(db.sandbox.namespace);
  assert.deepEqual(await sourcesAt(db.sandbox.namespace, web, db.address), [web.address], 'a pod of another Subnet');
});

test('natOutgoingPolicyRules: first match wins', { skip }, async () => {
  await outside.run('ip', 'route', 'add', '10.20.0.0/16', 'via', one.node.address);
  const forward = { action: 'forward', match: { dstIPs: `${OUTSIDE}/32` } };
  const others = { action: 'forward', match: { srcIPs: '10.20.200.0/24' } };
  await change('red', { natOutgoingPolicyRules: [{ action: 'nat', match: { srcIPs: web.address } }, forward] });
  await untilSources('nat comes first', web, [one.node.address]);
  await change('red', { natOutgoingPolicyRules: [others, forward] });
  await untilSources('forward', web, [web.address]);
  await change('red', { natOutgoingPolicyRules: [others] });
  await untilSources('a rule about other pods', web, [one.node.address]);
  await outside.run('ip', 'route', 'delete', '10.20.0.0/16');
});

test('centralized: through the node of the gateway, with its address or the one given, and through several', { skip }, async () => {
  await change('red', { gatewayType: 'centralized', gatewayNode: 'node-2' });
  await untilSources('by node-2', web, [two.node.address]);
  await two.node.namespace.run('ip', 'address', 'add', '172.18.0.222/16', 'dev', 'br-phy');
  await change('red', { gatewayNode: 'node-2:172.18.0.222' });
  await untilSources('with an address of its own', web, ['172.18.0.222']);
  for (const { node } of cluster.nodes) assert.deepEqual(await sourcesAt(node.namespace, web, node.address), [web.address], node.name);
  await change('red', { gatewayNode: 'node-1,node-2', enableEcmp: true });
  const seen = new Set<string>();
  await until('flows leave by one of two nodes', async () => {
    await seenBy(outside);
    await web.sandbox.reaches(OUTSIDE, { seconds: 1 });
    const [source, ...more] = await seenBy(outside);
    assert.deepEqual(more, []);
    if (source !== undefined) seen.add(source);
    return source === one.node.address || source === two.node.address;
  });
  assert.ok(!seen.has(web.address), 'never with its own address');
  await change('red', { gatewayType: 'distributed', gatewayNode: '', enableEcmp: false });
  await untilSources('distributed again', web, [one.node.address]);
});

test(
  'N26, N30: a Service that the node translates: the reply comes back, with a firewall that drops and a strict reverse path',
  { skip },
  async () => {
    const { namespace } = one.node;
    const cat = await cluster.runPod('cat', one);
    // As kube-proxy, Docker and a careful administrator have it.
    const translated = (hook: string): string =>
      `chain ${hook} { type nat hook ${hook} priority -100; ip daddr ${CLUSTER_IP} dnat to ${db.address}; ip daddr ${HOST_PORT} dnat to ${cat.address}; }`;
    const marked = `chain marks { type filter hook prerouting priority -101; ip saddr != 10.0.0.0/8 ip daddr ${CLUSTER_IP} meta mark set mark or 0x4000; }`;
    const masquerade = 'chain postrouting { type nat hook postrouting priority 100; meta mark & 0x4000 == 0x4000 masquerade; }';
    await namespace.run(
      'nft',
      ['table ip kube-proxy {', translated('prerouting'), translated('output'), marked, masquerade, '}'].join('\n'),
    );
    await namespace.run('nft', DROPPING);
    await namespace.run('sysctl', '-qw', 'net.ipv4.conf.all.rp_filter=1');
    await until('the firewall lets pods through', async () =>
      (await namespace.run('nft', 'list', 'chain', 'ip filter FORWARD')).includes('kiln'),
    );
    assert.ok(await web.sandbox.reaches(CLUSTER_IP), 'from a pod of another node');
    assert.ok(await namespace.reaches(CLUSTER_IP), 'from the node');
    assert.ok(await cat.sandbox.reaches(CLUSTER_IP), 'from a pod of the same Subnet');
    assert.ok(await cat.sandbox.reaches(HOST_PORT), 'from a pod to itself');
    for (const address of [CLUSTER_IP, HOST_PORT]) await outside.run('ip', 'route', 'add', `${address}/32`, 'via', one.node.address);
    assert.ok(await outside.reaches(CLUSTER_IP), 'from the outside to a pod of another node');
    await watchSources(cat.sandbox.namespace);
    assert.ok(await outside.reaches(HOST_PORT), 'from the outside to a pod of this node');
    assert.deepEqual(await seenBy(cat.sandbox.namespace), [OUTSIDE], 'which sees the client');
    await change('ovn-default', { gatewayType: 'centralized', gatewayNode: 'node-2' });
    await untilSources('by node-2', cat, [two.node.address]);
    // A connection from before keeps its path, so each attempt is a new one.
    await until(
      'its replies, which leave by another node otherwise, come back',
      async () => await outside.reaches(HOST_PORT, { seconds: 1 }),
    );
    await change('ovn-default', { gatewayType: 'distributed', gatewayNode: '' });
    await outside.run('ip', 'route', 'delete', `${HOST_PORT}/32`);
    assert.equal((await one.cni('DEL', 'cat', cat.sandbox)).exit, 0);
    await cat.sandbox.delete();
    await untilSources('and to the outside', web, [one.node.address]);
    // firewalld reloads: everything is gone for a moment.
    await namespace.run('nft', 'flush', 'ruleset');
    await namespace.run('nft', DROPPING);
    await untilSources('after a flush', web, [one.node.address]);
    await namespace.run('nft', 'delete', 'table', 'ip', 'filter');
    await outside.run('ip', 'route', 'delete', `${CLUSTER_IP}/32`);
  },
);

if (onPath('iptables') !== undefined)
  test(
    "kube-proxy's filter in iptables holds for pods, wherever it stands, and what nobody judges passes a policy that drops",
    { skip },
    async (t) => {
      const { namespace } = one.node;
      const iptables = async (...rule: readonly string[]): Promise<string> => await namespace.run('iptables', ...rule);
      const [noEndpoints, notFromHere] = ['10.96.0.60', '10.96.0.61'];
      t.after(() => namespace.run('nft', 'delete', 'table', 'ip', 'filter'));
      await iptables('--policy', 'FORWARD', 'DROP');
      // As Docker and the packages of distributions leave it. Ours are there before kube-proxy comes.
      await iptables('--append', 'FORWARD', '--jump', 'REJECT', '--reject-with', 'icmp-host-prohibited');
      const chain = async (): Promise<string> => await namespace.run('nft', '--stateless', 'list', 'chain', 'ip', 'filter', 'FORWARD');
      await until('our rules are there', async () => (await chain()).split('comment "kiln"').length === 3);
      await untilSources('before kube-proxy', web, [one.node.address]);
      // kube-proxy puts its own first, and another program puts one behind all.
      await iptables('--insert', 'FORWARD', '--destination', noEndpoints, '--match', 'conntrack', '--ctstate', 'NEW', '--jump', 'REJECT');
      await outside.run('ip', 'address', 'add', `${notFromHere}/32`, 'dev', 'eth0');
      await namespace.run('ip', 'route', 'add', `${notFromHere}/32`, 'via', OUTSIDE);
      await namespace.run('ip', 'route', 'add', `${noEndpoints}/32`, 'via', OUTSIDE);
      assert.ok(await web.sandbox.reaches(notFromHere), 'nobody has judged it yet');
      await iptables('--delete', 'FORWARD', '--jump', 'REJECT', '--reject-with', 'icmp-host-prohibited');
      await iptables('--append', 'FORWARD', '--destination', notFromHere, '--jump', 'DROP');
      await until('our rules are behind it', async () => /daddr 10\.96\.0\.61 [^]*comment "kiln"[^]*comment "kiln"/.test(await chain()));
      const attempt = async (address: string): Promise<string> => {
        const client = `require('net').connect(80, '${address}').on('connect', () => process.exit(console.log('open'))).on('error', (e) => console.log(e.code)).setTimeout(2000, () => process.exit(console.log('silent')))`;
        return (await web.sandbox.namespace.run(process.execPath, '-e', client)).trim();
      };
      assert.equal(await attempt(noEndpoints), 'ECONNREFUSED', 'a Service without endpoints');
      assert.equal(await attempt(notFromHere), 'silent', 'loadBalancerSourceRanges');
      assert.equal(await web.sandbox.reaches(notFromHere, { seconds: 2 }), false);
      await untilSources('what nobody judges', web, [one.node.address]);
      assert.ok(await namespace.reaches(web.address));
      const before = await chain();
      await one.killAgent();
      one.startAgent();
      await until('the agent sees what is right', async () => (await one.agentCommand('status')).exit === 0);
      assert.equal(await chain(), before, 'a restart writes nothing');
      for (const address of [noEndpoints, notFromHere]) await namespace.run('ip', 'route', 'delete', `${address}/32`);
      await outside.run('ip', 'address', 'delete', `${notFromHere}/32`, 'dev', 'eth0');
    },
  );

if (hasFirewalld)
  test('N26: firewalld: pods pass it, a reload of it keeps our rules, and the agent keeps its', { skip }, async () => {
    const { namespace } = one.node;
    const chains = async (): Promise<readonly string[]> =>
      (await namespace.run('nft', '--stateless', 'list', 'table', 'inet', 'firewalld').catch(() => '')).split('\n');
    const ours = async (): Promise<number> => (await chains()).filter((line) => line.includes('comment "kiln"')).length;
    const firewalld = await Firewalld.start(namespace, join(one.socket, '../firewalld'));
    try {
      await until('our rules are first in its chains', async () => (await ours()) === 3);
      await untilSources('with firewalld', web, [one.node.address]);
      assert.ok(await web.sandbox.reaches(one.node.address), 'a pod reaches its node');
      assert.ok(await namespace.reaches(db.address), 'the node reaches a pod');
      const table = await namespace.run('nft', '--stateless', 'list', 'table', 'inet', 'kiln');
      await firewalld.command('--reload');
      await until('our rules are back', async () => (await ours()) === 3);
      await untilSources('after its reload', web, [one.node.address]);
      assert.equal(await namespace.run('nft', '--stateless', 'list', 'table', 'inet', 'kiln'), table);
      const before = await chains();
      await one.killAgent();
      one.startAgent();
      await until('the agent sees what is right', async () => (await one.agentCommand('status')).exit === 0);
      assert.deepEqual(await chains(), before);
    } finally {
      await firewalld.stop();
    }
    assert.equal(await ours(), 0);
    await untilSources('without firewalld', web, [one.node.address]);
  });

test('N24: externalEgressGateway: to a host outside, with the address of the pod; flushed rules come back', { skip }, async () => {
  await outside.run('ip', 'address', 'add', `${BEYOND}/32`, 'dev', 'lo');
  await outside.run('ip', 'route', 'add', '10.20.0.0/16', 'via', one.node.address);
  const { namespace } = one.node;
  // Of another program: it stays.
  await namespace.run('ip', 'rule', 'add', 'from', '10.9.9.9', 'lookup', '999', 'priority', '999');
  const before = [await namespace.run('ip', 'rule', 'show'), await namespace.run('ip', 'route', 'show')];
  await change('red', { natOutgoing: false, externalEgressGateway: OUTSIDE, policyRoutingTableID: 1001, policyRoutingPriority: 1000 });
  await untilSources('through the gateway', web, [web.address], BEYOND);
  assert.ok(await web.sandbox.reaches(db.address), 'pods as before');
  const routing = async (): Promise<string> =>
    (await namespace.run('ip', 'rule', 'show')) + (await namespace.run('ip', 'route', 'show', 'table', '1001').catch(() => ''));
  const made = await routing();
  assert.match(made, new RegExp(`from ${web.address} lookup 1001`));
  await namespace.run('ip', 'rule', 'delete', 'priority', '1000');
  await namespace.run('ip', 'route', 'flush', 'table', '1001');
  await until('the rules are back', async () => (await routing()) === made);
  await change('red', { gatewayType: 'centralized', gatewayNode: 'node-2' });
  await outside.run('ip', 'route', 'replace', '10.20.0.0/16', 'via', two.node.address);
  await untilSources('through node-2', web, [web.address], BEYOND);
  await until('the rule of the pod is gone', async () => (await namespace.run('ip', 'rule', 'show')) === before[0]);
  assert.match(await two.node.namespace.run('ip', 'rule', 'show'), /from 10\.20\.0\.0\/16 lookup 1001/);
  await change('red', { natOutgoing: true, externalEgressGateway: '', gatewayType: 'distributed', gatewayNode: '' });
  await untilSources('translated again', web, [one.node.address]);
  const after = async (): Promise<readonly string[]> => [
    await namespace.run('ip', 'rule', 'show'),
    await namespace.run('ip', 'route', 'show'),
  ];
  await until('nothing of it is left', async () => (await after()).join() === before.join() && (await routing()) === before[0]);
});

/** Of Debian's containernetworking-plugins; it needs iptables. */
const PORTMAP = '/usr/lib/cni/portmap';

/** Calls the plugin portmap on the first node, as the runtime does after ours. */
async function portmap(command: 'ADD' | 'DEL', pod: RunningPod, mapping: object): Promise<void> {
  const configuration = {
    cniVersion: '1.0.0',
    name: 'kube-ovn',
    type: 'portmap',
    capabilities: { portMappings: true },
    runtimeConfig: { portMappings: [mapping] },
    prevResult: {
      cniVersion: '1.0.0',
      interfaces: [{ name: 'eth0', sandbox: pod.sandbox.namespace.path }],
      ips: [{ address: `${pod.address}/16`, interface: 0 }],
    },
  };
  const [file, ...words] = one.node.namespace.command(PORTMAP);
  const ran = spawn(file, words, {
    env: {
      PATH: process.env['PATH'],
      CNI_COMMAND: command,
      CNI_CONTAINERID: pod.sandbox.containerId,
      CNI_NETNS: pod.sandbox.namespace.path,
      CNI_IFNAME: 'eth0',
      CNI_PATH: '/usr/lib/cni',
    },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  let shown = '';
  for (const stream of [ran.stdout, ran.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (shown += text));
  ran.stdin.end(JSON.stringify(configuration));
  const [exit] = (await once(ran, 'exit')) as readonly unknown[];
  assert.equal(exit, 0, shown);
}

if (existsSync(PORTMAP) && onPath('iptables') !== undefined)
  test('hostPort, by the plugin portmap after ours: from the outside, which the pod sees, and from the node', { skip }, async (t) => {
    const { namespace } = one.node;
    const server = "require('net').createServer((socket) => socket.end(socket.remoteAddress)).listen(8080, () => console.log('serves'))";
    const [program, ...args] = web.sandbox.namespace.command(process.execPath, '-e', server);
    const listening = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => listening.kill('SIGKILL'));
    await once(listening.stdout, 'data');
    await outside.run('ethtool', '-K', 'eth0', 'tx', 'off');
    const ask = async (from: NetworkNamespace): Promise<string> => {
      const client = `require('net').connect(18080, '${one.node.address}').on('error', (e) => console.log(e.code)).setTimeout(2000, () => process.exit()).pipe(process.stdout)`;
      return (await from.run(process.execPath, '-e', client)).trim();
    };
    const mapping = { hostPort: 18080, containerPort: 8080, protocol: 'tcp' };
    await portmap('ADD', web, mapping);
    assert.equal(await ask(outside), `::ffff:${OUTSIDE}`);
    assert.equal(await ask(db.sandbox.namespace), '::ffff:100.64.0.2', 'a pod of another node, by the interface of this node');
    assert.equal(await ask(two.node.namespace), '::ffff:100.64.0.2', 'another node itself');
    assert.notEqual(await ask(namespace), '', 'the node itself');
    await portmap('DEL', web, mapping);
    assert.equal(await ask(outside), 'ECONNREFUSED');
    // The plugin leaves its chains.
    for (const family of ['ip', 'ip6']) await namespace.run('nft', 'delete', 'table', family, 'nat').catch(() => '');
  });

if (existsSync(PORTMAP) && onPath('iptables') !== undefined)
  test('N49: a client that keeps sending to a UDP hostPort reaches the next pod within two seconds of its start', { skip }, async (t) => {
    const { namespace } = one.node;
    const mapping = { hostPort: 18053, containerPort: 5300, protocol: 'udp' };
    const serve = async (pod: RunningPod, name: string): Promise<void> => {
      const server = `const socket = require('dgram').createSocket('udp4'); socket.on('message', (bytes, { port, address }) => socket.send('${name}', port, address)).bind(5300, () => console.log('serves'))`;
      const [program, ...args] = pod.sandbox.namespace.command(process.execPath, '-e', server);
      const serving = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
      t.after(() => serving.kill('SIGKILL'));
      await once(serving.stdout, 'data');
    };
    const next = await cluster.runPod('next', one, { 'ovn.kubernetes.io/logical_switch': 'red' });
    await serve(web, 'first');
    await serve(next, 'next');
    await portmap('ADD', web, mapping);
    const client = `const socket = require('dgram').createSocket('udp4'); socket.on('message', (bytes) => console.log(bytes.toString())).bind(40053);
      setInterval(() => socket.send('x', 18053, '${one.node.address}'), 100);`;
    const [program, ...args] = outside.command(process.execPath, '-e', client);
    const sending = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
    t.after(() => sending.kill('SIGKILL'));
    let last = '';
    sending.stdout.setEncoding('utf8').on('data', (text: string) => (last = text.trim().split('\n').at(-1) ?? ''));
    await until('the first pod answers', () => last === 'first');
    await portmap('DEL', web, mapping);
    await portmap('ADD', next, mapping);
    const since = performance.now();
    await until(
      'the next pod answers',
      () => last === 'next',
      30_000,
      () => last,
    );
    assert.ok(performance.now() - since < 2_000, `${Math.round(performance.now() - since)} ms`);
    await portmap('DEL', next, mapping);
    assert.equal((await one.cni('DEL', 'next', next.sandbox)).exit, 0);
    await cluster.deletePod('next');
    for (const family of ['ip', 'ip6']) await namespace.run('nft', 'delete', 'table', family, 'nat').catch(() => '');
  });

test('N21: the agent is killed and started: no packet is lost, and nothing is written', { skip }, async (t) => {
  const [program, ...args] = one.node.namespace.command('ip', 'monitor', 'link', 'address', 'route', 'rule');
  const monitor = spawn(program, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  t.after(() => monitor.kill('SIGKILL'));
  let changes = '';
  monitor.stdout.setEncoding('utf8').on('data', (text: string) => (changes += text));
  // It grows with each transaction.
  const database = async (): Promise<number> => (await stat(join(one.socket, '../ovs/conf.db'))).size;
  // The controller writes them into the status again.
  await until('the policy rules are back', async () => (await one.dump()).includes('ip saddr 10.20.200.0/24 accept'));
  const before = [await one.dump(), await database()];
  for (const pod of [web, db])
    assert.equal(
      await lostWhile(pod, pod === web ? OUTSIDE : web.address, async () => {
        await one.killAgent();
        one.startAgent();
        await until('the agent sees what is right', async () => (await one.agentCommand('status')).exit === 0);
      }),
      0,
    );
  assert.deepEqual([await one.dump(), await database()], before);
  monitor.kill('SIGTERM');
  assert.equal(changes, '');
});

test('Open vSwitch and ovn-controller are killed: nodes, pods and the outside reach each other again', { skip }, async () => {
  for (const name of ['ovn-controller', 'ovs-vswitchd', 'ovsdb-server'] as const) {
    await one.node.vswitch.kill(name);
    await one.node.vswitch.restart(name);
    await until(`pods after ${name}`, async () => await db.sandbox.reaches(web.address, { seconds: 1 }));
    await until(`the node after ${name}`, async () => await one.node.namespace.reaches(db.address, { seconds: 1 }));
    await untilSources(`after ${name}`, web, [one.node.address]);
  }
  await until('nothing differs', async () => (await one.agentCommand('status')).exit === 0);
});

test('kiln agent status and cleanup: what there is, what would go, and the node as it was', { skip }, async () => {
  const status = await one.agentCommand('status');
  assert.match(
    status.out,
    /^node node-1: 1 of 1 interfaces of pods are ready\n {2}default\/web eth0 {2}\w+_h {2}10\.20\.0\.\d+ {2}ready\n/,
  );
  assert.deepEqual([status.exit, status.err], [0, ''], status.out);
  const json = JSON.parse((await one.agentCommand('status', '-o', 'json')).out) as NodeStatus;
  assert.deepEqual([json.node, json.interfaces.length, json.differences], ['node-1', 1, []]);
  const early = await one.agentCommand('cleanup');
  assert.equal(early.exit, 1);
  assert.match(early.err, /^error: the node agent still runs\n/);

  await one.stopAgent();
  const none = await one.agentCommand('status');
  assert.equal(none.exit, 3);
  assert.match(none.err, /^error: the node agent does not answer at /);
  await one.node.vswitch.kill('ovn-controller', 'SIGTERM');
  await one.node.namespace.run('nft', DROPPING);
  await one.node.namespace.run('nft', 'insert rule ip filter FORWARD iifname "ovn0" counter accept comment "kiln"');
  await one.node.namespace.run('ip', 'rule', 'add', 'from', '10.20.0.9', 'lookup', '1001', 'priority', '1000', 'protocol', '111');
  const full = await one.dump();
  const dry = await one.agentCommand('cleanup', '--dry-run');
  assert.deepEqual([dry.exit, dry.err, await one.dump()], [0, '', full]);
  const done = await one.agentCommand('cleanup');
  assert.deepEqual([done.exit, done.err], [0, '']);
  assert.equal(done.out, dry.out.replaceAll('would remove', 'removed'));
  for (const what of [
    /port ovn0$/m,
    /port \w+_h of pod default\/web$/m,
    /device \w+_h$/m,
    /bridge br-int$/m,
    /table inet kiln/,
    /1 rules in chain FORWARD/,
  ])
    assert.match(done.out, what);
  await one.node.namespace.run('nft', 'delete', 'table', 'ip', 'filter');
  await one.node.namespace.run('ip', 'rule', 'delete', 'priority', '999');
  assert.equal(await one.dump(), one.before);
  assert.deepEqual(await one.agentCommand('cleanup'), { exit: 0, out: 'nothing of the agent is on this node\n', err: '' });
});
