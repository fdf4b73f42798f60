/** Known failure cases of nodes that only real packets, a real kernel or a real Open vSwitch show. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdir, readlink } from 'node:fs/promises';
import { after, before, test } from 'node:test';
import type { NetworkNamespace } from '../../lab/node/namespace.ts';
import { until } from '../../src/testing/until.ts';
import { type AgentNode, PacketCluster, type RunningPod, skip } from './packet-cluster.ts';

let cluster: PacketCluster;
let one: AgentNode;
const stops: (() => unknown)[] = [];
before(async () => {
  if (skip !== false) return;
  cluster = await PacketCluster.start({ dualStack: true });
  stops.unshift(() => cluster[Symbol.asyncDispose]());
  const [first] = cluster.nodes;
  assert.ok(first);
  one = first;
});
after(async () => {
  for (const stop of stops) await stop();
});

/** Runs a script of Node in a namespace until the test ends. It prints a line when it serves. */
async function serve(namespace: NetworkNamespace, script: string): Promise<{ readonly lines: string[]; readonly end: () => void }> {
  const [program, ...args] = namespace.command(process.execPath, '-e', script);
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines: string[] = [];
  child.stdout.setEncoding('utf8').on('data', (text: string) => void lines.push(...text.trim().split('\n')));
  const end = (): void => void child.kill('SIGKILL');
  stops.unshift(end);
  await once(child.stdout, 'data');
  return { lines, end };
}

const WEB = (name: string, port: number): string => `
  require('node:http').createServer((request, response) => response.end('${name}' + request.url)).listen(${port}, () => console.log('serves'));`;

/** As kubelet asks, as root. @returns status and body, or the code of the failure, of each */
async function probes(
  node: AgentNode,
  ...asked: readonly (readonly [kind: 'http' | 'tcp', host: string, port: number, path?: string])[]
): Promise<readonly string[]> {
  const script = `
    const { get } = require('node:http'), { connect } = require('node:net');
    const http = (host, port, path) => new Promise((resolve) => get({ host, port, path, agent: false, timeout: 2000, headers: { 'user-agent': 'kube-probe/1.34' } }, (response) => {
      let body = ''; response.on('data', (chunk) => (body += chunk)).on('end', () => resolve(response.statusCode + ' ' + body));
    }).on('error', (error) => resolve(error.code)).on('timeout', function () { this.destroy(); }));
    const tcp = (host, port) => new Promise((resolve) => { const socket = connect({ host, port, timeout: 2000 }, () => { socket.destroy(); resolve('open'); })
      .on('error', (error) => resolve(error.code)).on('timeout', () => { socket.destroy(); resolve('no answer'); }); });
    (async () => { const results = []; for (const [kind, ...rest] of ${JSON.stringify(asked)}) results.push(await (kind === 'http' ? http : tcp)(...rest));
      console.log(JSON.stringify(results)); })();`;
  return JSON.parse(await node.node.namespace.run(process.execPath, '-e', script)) as readonly string[];
}

async function handles(node: AgentNode): Promise<{ readonly all: number; readonly namespaces: number }> {
  const folder = `/proc/${node.pid}/fd`;
  const names = await readdir(folder);
  const links = await Promise.all(names.map((name) => readlink(`${folder}/${name}`).catch(() => '')));
  return { all: names.length, namespaces: links.filter((link) => link.startsWith('net:')).length };
}

async function subnet(name: string, spec: object): Promise<void> {
  await cluster.create('Subnet', 'subnets', { metadata: { name }, spec });
}

test(
  'N50, N18: kubelet probes pods of two Vpcs with one address, each its own; no handle is left, and nothing once they go',
  { skip },
  async () => {
    const { namespace } = one.node;
    const pods: RunningPod[] = [];
    const httpGet = { path: '/health', port: 8080 };
    const containers = {
      red: [
        {
          name: 'main',
          image: 'busybox',
          livenessProbe: { httpGet: { ...httpGet, path: '/red' } },
          readinessProbe: { httpGet: { path: '/', port: 8081 } },
        },
      ],
      blue: [
        {
          name: 'main',
          image: 'busybox',
          livenessProbe: { httpGet: { ...httpGet, path: '/blue' } },
          readinessProbe: { tcpSocket: { port: 8082 }, periodSeconds: 1 },
        },
      ],
    };
    for (const name of ['red', 'blue'] as const) {
      await cluster.create('Vpc', 'vpcs', { metadata: { name: `vpc-${name}` }, spec: {} });
      await subnet(name, { vpc: `vpc-${name}`, namespaces: ['default'], cidrBlock: '10.77.0.0/24,fd77::/64', protocol: 'Dual' });
      const annotations = { 'ovn.kubernetes.io/logical_switch': name, 'ovn.kubernetes.io/ip_address': '10.77.0.5,fd77::5' };
      pods.push(await cluster.runPod(name, one, annotations, containers[name]));
    }
    const [red, blue] = pods;
    assert.ok(red && blue);
    await serve(red.sandbox.namespace, WEB('red', 8080));
    await serve(red.sandbox.namespace, WEB('red', 8081));
    await serve(blue.sandbox.namespace, WEB('blue', 8080));
    const addresses = ['10.77.0.5', 'fd77::5'];
    await until('the listeners are there', async () => (await namespace.run('nft', 'list', 'tables')).includes('kiln-probes'));
    await until('kubelet reaches them', async () => (await probes(one, ['http', addresses[1] ?? '', 8080, '/red']))[0] === '200 red/red');
    for (const address of addresses)
      assert.deepEqual(
        await probes(
          one,
          ['http', address, 8080, '/red'],
          ['http', address, 8080, '/blue'],
          ['http', address, 8081, '/'],
          // What is no probe of the pods.
          ['http', address, 8080, '/admin'],
          // A port that nobody has opened.
          ['tcp', address, 8082],
        ),
        ['200 red/red', '200 blue/blue', '200 red/', 'ECONNRESET', 'ECONNREFUSED'],
      );
    const tcp = await serve(blue.sandbox.namespace, WEB('blue', 8082));
    await until('the port is open', async () => (await probes(one, ['tcp', '10.77.0.5', 8082]))[0] === 'open');
    tcp.end();
    await until('the port is closed', async () => (await probes(one, ['tcp', '10.77.0.5', 8082]))[0] === 'ECONNREFUSED');

    // Neither Vpc reaches the other one or the listeners, and the node reaches nothing but what is probed.
    const listeners = await namespace.run('nft', 'list', 'table', 'inet', 'kiln-probes');
    const [, local = ''] = /8080 : 127\.0\.0\.1 \. (\d+)/.exec(listeners) ?? [];
    assert.notEqual(local, '', listeners);
    const fromPod = `require('net').connect({ host: '${one.node.address}', port: ${local}, timeout: 1000 }, () => console.log('open')).on('error', (e) => console.log(e.code)).on('timeout', () => process.exit())`;
    assert.doesNotMatch(await red.sandbox.namespace.run(process.execPath, '-e', fromPod), /open/);
    assert.ok(!(await namespace.reaches('10.77.0.5', { seconds: 1 })));
    assert.notEqual((await probes(one, ['http', '10.77.0.5', 9999, '/']))[0]?.slice(0, 3), '200');

    const before = await handles(one);
    const many = Array.from({ length: 100 }, () => ['http', '10.77.0.5', 8080, '/red'] as const);
    assert.deepEqual(new Set(await probes(one, ...many)), new Set(['200 red/red']));
    for (let time = 0; time < 5; time += 1) {
      const name = `short-${time}`;
      const short = await cluster.runPod(name, one);
      assert.equal((await one.cni('DEL', name, short.sandbox)).exit, 0);
      await short.sandbox.delete();
    }
    await until('handles are as before', async () => (await handles(one)).all <= before.all + 5);
    assert.deepEqual([before.namespaces, (await handles(one)).namespaces], [0, 0]);

    // A new agent finds the pods, and leads kubelet to its own listeners.
    await one.killAgent();
    one.startAgent();
    await until('the new agent listens', async () => (await probes(one, ['http', '10.77.0.5', 8080, '/blue']))[0] === '200 blue/blue');
    for (const [name, { sandbox }] of [
      ['red', red],
      ['blue', blue],
    ] as const) {
      assert.equal((await one.cni('DEL', name, sandbox)).exit, 0);
      await cluster.deletePod(name);
    }
    await until('nothing of it is left', async () => !(await namespace.run('nft', 'list', 'tables')).includes('kiln-probes'));
  },
);
