/** Known failure cases of nodes that only real packets, a real kernel or a real Open vSwitch show. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, open, readdir, readlink, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { NetworkNamespace } from '../../lab/node/namespace.ts';
import { Sandbox } from '../../lab/node/sandbox.ts';
import { installCniFiles } from '../../src/agent/install/cni-files.ts';
import { readNodeStatus } from '../../src/agent/status/read-node-status.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { runProgram } from '../../lab/programs/run-program.ts';
import { until } from '../../src/testing/until.ts';
import { KubeletOfTest } from './kubelet-process.ts';
import { type AgentNode, type PacketCluster, type RunningPod, skip, startPackets } from './packet-cluster.ts';

let cluster: PacketCluster;
let one: AgentNode;
let two: AgentNode;
const stops: (() => unknown)[] = [];
before(async () => {
  if (skip !== false) return;
  [cluster, one, two] = await startPackets(stops, { dualStack: true, diskMiB: 8 });
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

/** As kubelet asks. @param as who asks: kubelet, or another program of root @returns status and body, or the code of the failure, of each */
async function probes(
  as: Pick<KubeletOfTest, 'run'>,
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
  return JSON.parse(await as.run(process.execPath, '-e', script)) as readonly string[];
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
    await using kubelet = await KubeletOfTest.start(namespace);
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
    await until(
      'kubelet reaches them',
      async () => (await probes(kubelet, ['http', addresses[1] ?? '', 8080, '/red']))[0] === '200 red/red',
    );
    for (const address of addresses)
      assert.deepEqual(
        await probes(
          kubelet,
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
    // Every other program of the node is left alone, also one of root.
    assert.doesNotMatch((await probes(namespace, ['http', '10.77.0.5', 8080, '/red'])).join(), /red/);
    const tcp = await serve(blue.sandbox.namespace, WEB('blue', 8082));
    await until('the port is open', async () => (await probes(kubelet, ['tcp', '10.77.0.5', 8082]))[0] === 'open');
    tcp.end();
    await until('the port is closed', async () => (await probes(kubelet, ['tcp', '10.77.0.5', 8082]))[0] === 'ECONNREFUSED');

    // Neither Vpc reaches the other one or the listeners, and the node reaches nothing but what is probed.
    const listeners = await namespace.run('nft', 'list', 'table', 'inet', 'kiln-probes');
    const [, local = ''] = /8080 : 127\.0\.0\.1 \. (\d+)/.exec(listeners) ?? [];
    assert.notEqual(local, '', listeners);
    const fromPod = `require('net').connect({ host: '${one.node.address}', port: ${local}, timeout: 1000 }, () => console.log('open')).on('error', (e) => console.log(e.code)).on('timeout', () => process.exit())`;
    assert.doesNotMatch(await red.sandbox.namespace.run(process.execPath, '-e', fromPod), /open/);
    assert.ok(!(await namespace.reaches('10.77.0.5', { seconds: 1 })));
    assert.notEqual((await probes(kubelet, ['http', '10.77.0.5', 9999, '/']))[0]?.slice(0, 3), '200');

    const before = await handles(one);
    const many = Array.from({ length: 100 }, () => ['http', '10.77.0.5', 8080, '/red'] as const);
    assert.deepEqual(new Set(await probes(kubelet, ...many)), new Set(['200 red/red']));
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
    await until('the new agent listens', async () => (await probes(kubelet, ['http', '10.77.0.5', 8080, '/blue']))[0] === '200 blue/blue');
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

test('what the node reaches by its default route stays that host, for kubelet too: no pod takes its address', { skip }, async () => {
  const { namespace } = one.node;
  await using kubelet = await KubeletOfTest.start(namespace);
  const outside = await NetworkNamespace.create('outside');
  stops.unshift(() => outside.delete());
  await namespace.run('ip', 'link', 'add', 'out0', 'type', 'veth', 'peer', 'name', 'eth0', 'netns', outside.name);
  await namespace.run('ip', 'address', 'add', '198.51.100.2/24', 'dev', 'out0');
  await namespace.run('ip', 'link', 'set', 'out0', 'up');
  const before = (await namespace.run('ip', 'route', 'show', 'default')).trim().split(/\s+/);
  await namespace.run('ip', 'route', 'replace', 'default', 'via', '198.51.100.1', 'dev', 'out0');
  for (const address of ['198.51.100.1/24', '10.77.0.9/32']) await outside.run('ip', 'address', 'add', address, 'dev', 'eth0');
  await outside.run('ip', 'link', 'set', 'eth0', 'up');
  await serve(outside, WEB('balancer', 6443));
  const annotations = { 'ovn.kubernetes.io/logical_switch': 'red', 'ovn.kubernetes.io/ip_address': '10.77.0.9,fd77::9' };
  const readinessProbe = { httpGet: { path: '/', port: 6443 } };
  const thief = await cluster.runPod('thief', one, annotations, [{ name: 'main', image: 'busybox', readinessProbe }]);
  await serve(thief.sandbox.namespace, WEB('pod', 6443));
  await until('what nobody else has is led', async () => (await probes(kubelet, ['http', 'fd77::9', 6443, '/']))[0] === '200 pod/');
  const ask = async (): Promise<readonly string[]> => await probes(kubelet, ['http', '10.77.0.9', 6443, '/']);
  await until('it is told', async () =>
    /10\.77\.0\.9 is in use by another host/.test(JSON.stringify((await readNodeStatus(one.socket)).failures)),
  );
  assert.deepEqual(await ask(), ['200 balancer/']);
  await namespace.run('ip', 'link', 'delete', 'out0');
  await namespace.run('ip', 'route', 'replace', ...before);
  assert.equal((await one.cni('DEL', 'thief', thief.sandbox)).exit, 0);
  await cluster.deletePod('thief');
});

const NODES: Resource = { group: '', version: 'v1', plural: 'nodes', kind: 'Node', namespaced: false };
/** Whatever Subnets the namespace was bound to before. */
const SHARED = { 'ovn.kubernetes.io/logical_switch': 'ovn-default' };
let web: RunningPod;
let db: RunningPod;

/** The interface of the node in the join network, with its addresses and routes. */
async function joinInterface({ node: { namespace } }: AgentNode): Promise<string> {
  const parts = await Promise.all([
    namespace.run('ip', '-4', 'route', 'show', 'dev', 'ovn0'),
    namespace.run('ip', '-6', 'route', 'show', 'dev', 'ovn0'),
    namespace.run('ip', '-brief', 'address', 'show', 'dev', 'ovn0'),
  ]);
  return parts
    .join('')
    .replaceAll(/^fe80::.*\n/gm, '')
    .replaceAll(/fe80::\S+/g, 'of the link')
    .replaceAll(/ +/g, ' ');
}

test('N23: routes, addresses and the state of ovn0 that another program takes away are back within seconds', { skip }, async () => {
  [web, db] = [await cluster.runPod('web', one, SHARED), await cluster.runPod('db', two, SHARED)];
  const { namespace } = one.node;
  const shown = (): Promise<string> => joinInterface(one);
  const before = await shown();
  assert.match(before, /10\.16\.0\.0\/16[^]*fd00:10:16::/);
  for (const harm of [
    ['-4', 'route', 'flush', 'dev', 'ovn0'],
    ['-6', 'route', 'flush', 'dev', 'ovn0'],
    ['link', 'set', 'ovn0', 'down'],
    ['address', 'flush', 'dev', 'ovn0'],
  ]) {
    await namespace.run('ip', ...harm);
    const since = performance.now();
    // The state may be that of a moment before.
    let seen = '';
    const isBack = async (): Promise<boolean> => (seen = await shown()) === before;
    await until(`ovn0 is as it was after ${harm.join(' ')}`, isBack, undefined, () => `${before}and not\n${seen}`);
    const took = performance.now() - since;
    assert.ok(took < 15_000, `${harm.join(' ')}: ${Math.round(took)} ms`);
  }
  for (const address of db.address.split(',')) assert.ok(await namespace.reaches(address), address);
});

test('N23: ovn0 and mirror0 that another program deletes are made again, with their ports', { skip }, async () => {
  const { namespace } = one.node;
  const before = await joinInterface(one);
  const [to = ''] = db.address.split(',');
  for (const device of ['ovn0', 'mirror0']) {
    await namespace.run('ip', 'link', 'delete', device);
    await until(`${device} is there`, async () => (await namespace.run('ip', '-brief', 'link')).includes(`${device} `), 30_000);
    await until('nothing differs', async () => (await one.agentCommand('status')).exit === 0, 30_000);
  }
  let seen = '';
  const isBack = async (): Promise<boolean> => (seen = await joinInterface(one).catch(String)) === before;
  await until('ovn0 is as it was', isBack, 60_000, () => `${before}and not\n${seen}`);
  await until('the node reaches a pod of the other one', () => namespace.reaches(to), 30_000);
});

test('N23: ovn0 that another program deletes is made again though ovs-vswitchd reads late that its port went', { skip }, async () => {
  const { namespace, vswitch } = one.node;
  const interfaceRow = async (): Promise<string> =>
    (await vswitch.vsctl('--bare', '--columns=_uuid', 'find', 'interface', 'name=ovn0')).trim();
  await namespace.run('ip', 'link', 'delete', 'ovn0');
  await vswitch.kill('ovs-vswitchd', 'SIGSTOP');
  await until('its port is taken away', async () => (await interfaceRow()) === '', 30_000);
  await sleep(1000);
  // If ovs-vswitchd read both in one, nothing would have changed to it.
  assert.equal(await interfaceRow(), '', 'a port comes once ovs-vswitchd knows that the former one went');
  await vswitch.kill('ovs-vswitchd', 'SIGCONT');
  await until('ovn0 is there', async () => (await namespace.run('ip', '-brief', 'link')).includes('ovn0 '), 3000);
});

test('a device that another program deleted comes back, and what its pod sends arrives', { skip }, async () => {
  const lost = await cluster.runPod('lost', one, SHARED);
  const device = `${lost.sandbox.containerId.slice(0, 12)}_h`;
  await one.node.namespace.run('ip', 'link', 'delete', device);
  const [to = ''] = db.address.split(',');
  await until('the pod reaches another one', async () => await lost.sandbox.reaches(to, { seconds: 1 }), 60_000);
  assert.equal((await one.cni('DEL', 'lost', lost.sandbox)).exit, 0);
});

test('what other programs take from the port and the device of a pod that runs comes back, and its DEL works', { skip }, async () => {
  const hurt = await cluster.runPod('hurt', one, SHARED);
  const device = `${hurt.sandbox.containerId.slice(0, 12)}_h`;
  const [to = ''] = db.address.split(',');
  const harms: readonly (readonly [what: string, harm: () => Promise<unknown>])[] = [
    ["the node's end is down", () => one.node.namespace.run('ip', 'link', 'set', device, 'down')],
    ["the node's end is smaller", () => one.node.namespace.run('ip', 'link', 'set', device, 'mtu', '600')],
    ['no keys of the Interface', () => one.node.vswitch.vsctl('clear', 'interface', device, 'external_ids')],
  ];
  for (const [what, harm] of harms) {
    await harm();
    await until(what, async () => await hurt.sandbox.reaches(to, { seconds: 1, size: 1300 }), 30_000);
  }
  assert.equal((await one.cni('DEL', 'hurt', hurt.sandbox)).exit, 0);
  assert.doesNotMatch(await one.node.vswitch.vsctl('list-ports', 'br-int'), new RegExp(device));
});

/** A router says that it is one, as the kernel wants it: from an address of the link, to such a one, with the largest hop limit. */
async function advertise(router: NetworkNamespace, to: string): Promise<void> {
  const message = String.raw`\x86\x00\x00\x00\x40\x00\x07\x08\0\0\0\0\0\0\0\0`;
  await router.run('bash', '-c', `printf '${message}' | socat -u - 'IP6-SENDTO:[${to}%r0]:58'`);
}

test(
  'a node with a default route of a router that announces itself keeps it, and hears the router again, once the agent lets it forward',
  { skip },
  async () => {
    const { namespace } = two.node;
    const router = await NetworkNamespace.create('router');
    stops.unshift(() => router.delete());
    await two.stopAgent();
    await namespace.run('sysctl', '-qw', 'net.ipv6.conf.all.forwarding=0');
    await namespace.run('ip', 'link', 'add', 'ra0', 'type', 'veth', 'peer', 'name', 'r0', 'netns', router.path);
    await namespace.run('sysctl', '-qw', 'net.ipv6.conf.ra0.accept_dad=0');
    // What answers as a host is no router any more.
    await router.run('sysctl', '-qw', 'net.ipv6.conf.r0.accept_dad=0', 'net.ipv6.conf.r0.hop_limit=255', 'net.ipv6.conf.all.forwarding=1');
    await namespace.run('ip', 'link', 'set', 'ra0', 'up');
    await router.run('ip', 'link', 'set', 'r0', 'up');
    const routes = async (): Promise<string> => await namespace.run('ip', '-6', 'route', 'show', 'default', 'dev', 'ra0');
    let own = '';
    await until('the node has a default route', async () => {
      own = /fe80::[0-9a-f:]+/.exec(await namespace.run('ip', '-6', 'address', 'show', 'dev', 'ra0'))?.[0] ?? '';
      if (own !== '') await advertise(router, own).catch(() => '');
      return (await routes()).includes('proto ra');
    });
    two.startAgent();
    await until('the node forwards', async () => (await namespace.run('sysctl', '-n', 'net.ipv6.conf.all.forwarding')).trim() === '1');
    assert.match(await routes(), /proto ra/);
    await namespace.run('ip', '-6', 'route', 'delete', 'default', 'dev', 'ra0');
    await advertise(router, own);
    await until('it hears the router', async () => (await routes()).includes('proto ra'), 5_000);
    assert.equal(
      (await namespace.run('sysctl', '-n', 'net.ipv6.conf.br-phy.accept_ra')).trim(),
      '1',
      'where it heard none nothing is changed',
    );
    await namespace.run('ip', 'link', 'delete', 'ra0');
  },
);

/** Sends so many datagrams. @returns how many came back */
async function datagrams(from: NetworkNamespace, to: string, count: number): Promise<number> {
  const script = `
    const socket = require('node:dgram').createSocket('${to.includes(':') ? 'udp6' : 'udp4'}'); let got = 0, sent = 0;
    socket.on('message', () => (got += 1));
    const timer = setInterval(() => { if (sent++ < ${count}) return socket.send(Buffer.alloc(600, sent), 5300, '${to}');
      clearInterval(timer); setTimeout(() => { console.log(got); process.exit(); }, 1000); }, 5);`;
  return Number(await from.run(process.execPath, '-e', script));
}

test('N36, N37: large packets from outside are told their size, and arrive; no datagram is lost for its checksum', { skip }, async () => {
  const outside = await cluster.underlay.addOutsideHost('172.18.0.98/16');
  stops.unshift(() => outside.delete());
  const [address = ''] = web.address.split(',');
  await outside.run('ip', 'route', 'add', '10.16.0.0/16', 'via', one.node.address);
  assert.ok(await outside.reaches(address));
  const large = await outside.run('sh', '-c', `ping -n -c 3 -W 2 -M do -s 1472 ${address} 2>&1 || true`);
  assert.match(large, /Frag needed and DF set \(mtu = 1400\)|mtu=1400/);
  const server = `require('node:http').createServer((request, response) => { let size = 0; request.on('data', (chunk) => (size += chunk.length)).on('end', () => response.end(Buffer.alloc(size, 'x'))); }).listen(8080, () => console.log('serves'))`;
  await serve(web.sandbox.namespace, server);
  const upload = `
    const request = require('node:http').request({ host: '${address}', port: 8080, method: 'POST', timeout: 20000 }, (response) => {
      let size = 0; response.on('data', (chunk) => (size += chunk.length)).on('end', () => console.log(size)); }).on('error', (error) => console.log(error.code));
    request.end(Buffer.alloc(3_000_000, 'x'));`;
  assert.equal((await outside.run(process.execPath, '-e', upload)).trim(), '3000000');
  // What is true of pods is not of the node.
  assert.doesNotMatch(await outside.run('ip', 'route', 'get', one.node.address), /mtu/);
  const echo = `for (const type of ['udp4', 'udp6']) { const socket = require('node:dgram').createSocket({ type, ipv6Only: type === 'udp6' }); socket.on('message', (bytes, { port, address }) => socket.send(bytes, port, address)).bind(5300, () => console.log('serves')); }`;
  await serve(db.sandbox.namespace, echo);
  for (const to of db.address.split(',')) {
    assert.equal(await datagrams(web.sandbox.namespace, to, 200), 200, `from a pod to ${to}`);
    assert.equal(await datagrams(one.node.namespace, to, 200), 200, `from a node to ${to}`);
  }
});

test('a Subnet with IPv6 alone: pods across nodes, in packets of the whole MTU', { skip }, async () => {
  await subnet('six', { cidrBlock: 'fd66::/64', protocol: 'IPv6' });
  const pods = [
    await cluster.runPod('six-1', one, { 'ovn.kubernetes.io/logical_switch': 'six' }),
    await cluster.runPod('six-2', two, { 'ovn.kubernetes.io/logical_switch': 'six' }),
  ] as const;
  assert.match(pods[0].address, /^fd66::/);
  assert.ok(await pods[0].sandbox.reaches(pods[1].address));
  assert.ok(await pods[0].sandbox.reaches(pods[1].address, { size: 1400 - 48 }));
  const [, other = ''] = web.address.split(',');
  assert.ok(await pods[1].sandbox.reaches(other), `a pod of another Subnet: ${other}`);
  assert.ok(await one.node.namespace.reaches(pods[1].address), 'from a node');
  for (const [index, { sandbox }] of pods.entries())
    assert.equal((await (index === 0 ? one : two).cni('DEL', `six-${index + 1}`, sandbox)).exit, 0);
});

/** Writes until nothing more fits. @returns frees it */
async function fill(folder: string): Promise<() => Promise<void>> {
  const file = join(folder, 'filling');
  const handle = await open(file, 'w');
  for (let size = 65_536; size > 0; size = size > 1 ? size >> 4 : 0)
    while (
      await handle.write(Buffer.alloc(size)).then(
        ({ bytesWritten }) => bytesWritten === size,
        () => false,
      )
    );
  await handle.close();
  return () => rm(file, { force: true });
}

/** Writes to the Open_vSwitch database until it has no room: the last page of its file may have some on a full disk. */
async function fillDatabase({ node: { vswitch } }: AgentNode): Promise<void> {
  const fits = async (size: number, round: number): Promise<boolean> =>
    await vswitch.vsctl('--no-wait', 'set', 'open_vswitch', '.', `external_ids:filling=${String(round).padEnd(size, 'x')}`).then(
      () => true,
      () => false,
    );
  for (const size of [1_000, 10]) for (let round = 0; await fits(size, round); round++);
}

test(
  'N52: the disk of the Open_vSwitch database is full: the ADD says so, and is done once there is room; an installation leaves no half file',
  { skip },
  async () => {
    const free = await fill(two.disk);
    await fillDatabase(two);
    await cluster.createPod('full', two, SHARED);
    const sandbox = await Sandbox.create('full', 'full'.padEnd(64, 'f'));
    const added = two.cni('ADD', 'full', sandbox);
    let said = '';
    await until(
      'status names the cause',
      async () => {
        said = (await two.agentCommand('status')).out;
        return /port fullff\w+_h.*I\/O error/.test(said);
      },
      30_000,
      () => said,
    );
    await free();
    const { exit, output } = await added;
    assert.equal(exit, 0, output);
    assert.ok(await web.sandbox.reaches((JSON.parse(output) as { ips: { address: string }[] }).ips[0]?.address.split('/')[0] ?? ''));
    assert.equal((await two.cni('DEL', 'full', sandbox)).exit, 0);
    await two.node.vswitch.vsctl('remove', 'open_vswitch', '.', 'external_ids', 'filling');
    await sandbox.delete();

    const small = join(two.disk, '../small');
    await mkdir(small);
    await runProgram(['mount', '-t', 'tmpfs', '-o', 'size=1m', 'kiln-test', small]);
    try {
      const plugin = join(two.disk, '../plugin');
      await runProgram(['dd', 'if=/dev/zero', `of=${plugin}`, 'bs=1M', 'count=3', 'status=none']);
      const places = { binaries: join(small, 'bin'), configurations: join(small, 'conf'), socket: '/s', priority: '01' };
      await assert.rejects(installCniFiles({ plugin, ...places }), /bin\/kube-ovn cannot be written: .*(?:ENOSPC|no space left)/i);
      assert.deepEqual([await readdir(places.binaries), await readdir(places.configurations)], [[], []]);
    } finally {
      await runProgram(['umount', small]);
    }
    // Room for its folder, and not for the socket.
    await runProgram(['mount', '-t', 'tmpfs', '-o', 'nr_inodes=2', 'kiln-test', small]);
    try {
      const ran = await two.agentCommand(...two.flags, `--socket=${join(small, 'run', 'agent.sock')}`);
      assert.equal(ran.exit, 3);
      assert.match(ran.err, /the socket \S+\/small\/run\/agent\.sock for the CNI plugin, which cannot be made: .*ENOSPC.*df -i/);
      assert.deepEqual(await readdir(small), []);
    } finally {
      await runProgram(['umount', small]);
    }
  },
);

async function setAddresses(node: AgentNode, ...addresses: readonly string[]): Promise<void> {
  const status = { addresses: addresses.map((address) => ({ type: 'InternalIP', address })) };
  await cluster.client.mergePatch<KubeObject>(NODES, { name: node.node.name }, { status }, { subresource: 'status' });
}

/** Tunnels of all chassis, and pods across nodes. */
async function untilTunnels(...expected: readonly string[]): Promise<void> {
  let seen = '';
  await until(
    `tunnels end at ${expected.join()}`,
    async () => {
      seen = (await cluster.ovn.sbctl('--bare', '--columns=ip', 'list', 'encap')).trim().split(/\s+/).toSorted().join();
      return seen === expected.toSorted().join();
    },
    60_000,
    () => seen,
  );
  const since = performance.now();
  for (const address of db.address.split(','))
    await until(`pods reach ${address}`, async () => await web.sandbox.reaches(address, { seconds: 1 }), 30_000);
  assert.ok(performance.now() - since < 30_000);
}

test('N42: a node gets another address, then tunnels go over IPv6: pods reach each other again', { skip }, async () => {
  const { namespace } = one.node;
  await untilTunnels(one.node.address, two.node.address);
  await namespace.run('ip', 'address', 'delete', `${one.node.address}/16`, 'dev', 'br-phy');
  await namespace.run('ip', 'address', 'add', '172.18.0.50/16', 'dev', 'br-phy');
  await namespace.run('ip', 'route', 'replace', 'default', 'via', cluster.underlay.router);
  await setAddresses(one, '172.18.0.50', one.node.address6 ?? '');
  await untilTunnels('172.18.0.50', two.node.address);
  const six = cluster.nodes.map(({ node }) => node.address6 ?? '');
  for (const node of cluster.nodes) await setAddresses(node, node.node.address6 ?? '');
  await untilTunnels(...six);
  // What fits through such a tunnel, in packets of a pod that is made now.
  const late = await cluster.runPod('late', one, SHARED);
  assert.match(await late.sandbox.namespace.run('ip', 'link', 'show', 'dev', 'eth0'), /mtu 1380 /);
  assert.ok(await late.sandbox.reaches(db.address.split(',')[0] ?? '', { size: 1380 - 28 }));
  assert.equal((await one.cni('DEL', 'late', late.sandbox)).exit, 0);
});

test('N43: a node that is wiped joins again: one chassis, with tunnels, of each host', { skip }, async () => {
  assert.equal((await two.cni('DEL', 'db', db.sandbox)).exit, 0);
  await two.stopAgent();
  for (const name of ['ovn-controller', 'ovs-vswitchd', 'ovsdb-server'] as const) await two.node.vswitch.kill(name);
  await two.node.vswitch.stop();
  for (const file of await readdir(two.disk)) if (file.includes('conf.db')) await rm(join(two.disk, file));
  await setAddresses(two, two.node.address, two.node.address6 ?? '');
  await setAddresses(one, '172.18.0.50', one.node.address6 ?? '');
  await two.node.setUp();
  two.startAgent();
  await until('the bridge is there', async () => (await two.node.vswitch.vsctl('list-br')).includes('br-int'));
  await two.node.vswitch.restart('ovn-controller');
  db = await cluster.runPod('db-2', two, SHARED);
  await untilTunnels('172.18.0.50', two.node.address);
  const chassis = (await cluster.ovn.sbctl('--bare', '--columns=name', 'list', 'chassis')).trim().split(/\s+/);
  assert.deepEqual(chassis.toSorted(), ['node-1', 'node-2']);
});
