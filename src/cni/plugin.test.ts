/** The plugin against an agent's socket: what it sends is Kube-OVN's, what it prints is the specification's. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, before, beforeEach, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { call } from './plugin.ts';
import { VERSIONS } from './versions.ts';

const folder = mkdtempSync(join(tmpdir(), 'kiln-cni-'));
const socket = join(folder, 'agent.sock');

/** As Kube-OVN's daemon answers for a pod of both families. */
const REPLY = {
  ips: [
    { protocol: 'IPv4', ip: '10.16.0.5', cidr: '10.16.0.0/16', gateway: '10.16.0.1' },
    { protocol: 'IPv6', ip: 'fd00:10:16::5', cidr: 'fd00:10:16::/112', gateway: 'fd00:10:16::1' },
  ],
  mac_address: '00:00:00:aa:bb:cc',
  routes: null,
  mtu: 1400,
  nicname: 'eth0',
  dns: {},
};
let answer: { readonly status: number; readonly body: string };
let asked: { readonly path: string | undefined; readonly body: unknown }[];
const agent = createServer((request, response) => {
  let text = '';
  request.setEncoding('utf8').on('data', (chunk: string) => (text += chunk));
  request.on('end', () => {
    asked.push({ path: request.url, body: JSON.parse(text) });
    response.writeHead(answer.status).end(answer.body);
  });
});
before(() => new Promise<void>((listening) => agent.listen(socket, listening)));
after(() => {
  agent.close();
  rmSync(folder, { recursive: true });
});
beforeEach(() => {
  asked = [];
  answer = { status: 200, body: JSON.stringify(REPLY) };
});

const ENV = {
  CNI_COMMAND: 'ADD',
  CNI_CONTAINERID: 'c0ffee',
  CNI_NETNS: '/run/netns/a',
  CNI_IFNAME: 'eth0',
  CNI_PATH: '/opt/cni/bin',
  CNI_ARGS: 'IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=web-0;K8S_POD_INFRA_CONTAINER_ID=c0ffee',
};
const conf = (more: object = {}): string =>
  JSON.stringify({ cniVersion: '1.1.0', name: 'kube-ovn', type: 'kube-ovn', server_socket: socket, ...more });

async function run(command: string, input = conf(), env: object = {}): Promise<{ readonly exit: number; readonly output: Printed }> {
  const { exit, output } = await call({ ...ENV, CNI_COMMAND: command, ...env }, input);
  return { exit, output: (output === '' ? undefined : JSON.parse(output)) as Printed };
}

type Printed = Readonly<Record<string, unknown>> & { readonly code: number; readonly msg: string; readonly details: string };

test('ADD sends the request of Kube-OVN', async () => {
  await run(
    'ADD',
    conf({ provider: 'net1.shop.ovn', routes: [{ dst: '10.0.0.0/8', gw: '10.16.0.254' }], dns: { nameservers: ['10.96.0.10'] } }),
  );
  assert.deepEqual(asked, [
    {
      path: '/api/v1/add',
      body: {
        cni_type: 'kube-ovn',
        pod_name: 'web-0',
        pod_namespace: 'shop',
        container_id: 'c0ffee',
        net_ns: '/run/netns/a',
        if_name: 'eth0',
        provider: 'net1.shop.ovn',
        routes: [{ dst: '10.0.0.0/8', gw: '10.16.0.254' }],
        dns: { nameservers: ['10.96.0.10'], domain: '', search: [], options: [] },
        vf_driver: '',
        vhost_user_socket_name: '',
        deviceID: '',
        vhost_user_socket_volume_name: '',
        vhost_user_socket_consumption: '',
      },
    },
  ]);
});

test('the uid of the pod goes to the agent where the runtime gives it', async () => {
  await run('ADD', conf(), { CNI_ARGS: `${ENV.CNI_ARGS};K8S_POD_UID=u-1` });
  for (const { body } of asked) assert.partialDeepStrictEqual(body, { pod_uid: 'u-1' });
  assert.equal(asked.length, 1);
});

const NOT_YET_INTERFACES = ['0.1.0', '0.2.0', undefined, ''] as const;
for (const version of NOT_YET_INTERFACES)
  test(`the result in version ${version === undefined ? 'none' : JSON.stringify(version)}: one address of each family`, async () => {
    const { exit, output } = await run('ADD', conf({ cniVersion: version }));
    assert.equal(exit, 0);
    const expected = {
      cniVersion: version || '0.1.0',
      ip4: { ip: '10.16.0.5/16', gateway: '10.16.0.1', routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }] },
      ip6: { ip: 'fd00:10:16::5/112', gateway: 'fd00:10:16::1', routes: [{ dst: '::/0', gw: 'fd00:10:16::1' }] },
      dns: {},
    };
    assert.deepEqual(output, expected);
    const [first] = REPLY.ips;
    answer = { status: 200, body: JSON.stringify({ ips: [first], routes: [{ dst: '10.0.0.0/8', gw: '10.16.0.254' }] }) };
    const single = (await run('ADD', conf({ cniVersion: version, dns: { domain: 'shop.example' } }))).output;
    assert.deepEqual(single, {
      cniVersion: expected.cniVersion,
      ip4: { ip: '10.16.0.5/16', gateway: '10.16.0.1', routes: [{ dst: '10.0.0.0/8', gw: '10.16.0.254' }] },
      dns: { nameservers: [], domain: 'shop.example', search: [], options: [] },
    });
  });

for (const version of ['0.1.0', '0.3.0', undefined, '', '2.0.0', 5])
  test(`DEL in version ${JSON.stringify(version) ?? 'none'}, which another plugin may have answered`, async () => {
    answer = { status: 204, body: '' };
    assert.deepEqual(await run('DEL', conf({ cniVersion: version })), { exit: 0, output: undefined });
    assert.partialDeepStrictEqual(asked, [{ path: '/api/v1/del', body: { container_id: 'c0ffee', if_name: 'eth0' } }]);
  });

for (const version of VERSIONS.filter((one) => !['0.1.0', '0.2.0'].includes(one)))
  test(`N12: the result in version ${version}`, async () => {
    const { exit, output } = await run('ADD', conf({ cniVersion: version }));
    const old = version.startsWith('0.');
    assert.equal(exit, 0);
    assert.deepEqual(output, {
      cniVersion: version,
      interfaces: [{ name: 'eth0', mac: '00:00:00:aa:bb:cc', ...(version === '1.1.0' ? { mtu: 1400 } : {}), sandbox: '/run/netns/a' }],
      ips: [
        { ...(old ? { version: '4' } : {}), interface: 0, address: '10.16.0.5/16', gateway: '10.16.0.1' },
        { ...(old ? { version: '6' } : {}), interface: 0, address: 'fd00:10:16::5/112', gateway: 'fd00:10:16::1' },
      ],
      routes: [
        { dst: '0.0.0.0/0', gw: '10.16.0.1' },
        { dst: '::/0', gw: 'fd00:10:16::1' },
      ],
      dns: {},
    });
  });

test('addresses alone for another plugin: provider, socket and routes of its ipam field, and no interface', async () => {
  const ipam = { type: 'kube-ovn', server_socket: socket, provider: 'mac.shop' };
  const { output } = await run('ADD', JSON.stringify({ cniVersion: '1.0.0', name: 'mac', type: 'macvlan', ipam }));
  assert.equal('interfaces' in output, false);
  assert.deepEqual(output['ips'], [
    { address: '10.16.0.5/16', gateway: '10.16.0.1' },
    { address: 'fd00:10:16::5/112', gateway: 'fd00:10:16::1' },
  ]);
  assert.equal(asked.length, 1);
  for (const { body } of asked) assert.partialDeepStrictEqual(body, { cni_type: 'macvlan', provider: 'mac.shop' });
});

test("the agent's own reason reaches the pod's Event", async () => {
  answer = { status: 500, body: JSON.stringify({ error: 'no address allocated to pod shop/web-0 provider ovn' }) };
  const { exit, output } = await run('ADD');
  assert.equal(exit, 1);
  assert.deepEqual(output, {
    cniVersion: '1.1.0',
    code: 11,
    msg: 'the node agent did not add interface eth0 of pod shop/web-0',
    details: 'no address allocated to pod shop/web-0 provider ovn',
  });
});

test('a request that the agent cannot read will not be read the next time either', async () => {
  answer = { status: 400, body: JSON.stringify({ error: 'field routes[0] of the request is null', code: 'RequestInvalid' }) };
  const { code, details } = (await run('ADD')).output;
  assert.deepEqual([code, details], [7, 'field routes[0] of the request is null']);
});

test('an answer that says nothing, or no JSON, is a failure', async () => {
  answer = { status: 200, body: '' };
  assert.equal((await run('ADD')).output.code, 11);
  answer = { status: 200, body: '<html>' };
  assert.equal((await run('ADD')).output.code, 6);
});

test('N04, N05, N06: DEL: 204 without a body is success, and what is gone needs no agent', async () => {
  answer = { status: 204, body: '' };
  assert.deepEqual(await run('DEL'), { exit: 0, output: undefined });
  assert.equal(asked[0]?.path, '/api/v1/del');
  const nobody = conf({ server_socket: join(folder, 'absent.sock') });
  for (const CNI_NETNS of ['', '/run/netns/gone'])
    assert.deepEqual(await run('DEL', nobody, { CNI_NETNS }), { exit: 0, output: undefined });
  const { exit, output } = await run('DEL', nobody, { CNI_NETNS: folder, CNI_ARGS: '' });
  assert.deepEqual([exit, output.code], [1, 11]);
  assert.match(output.details, /nothing answers on .*absent\.sock .*kubectl get pods/);
});

test('CHECK sends what the runtime kept of this interface, without what other plugins added', async () => {
  answer = { status: 204, body: '' };
  const prevResult = {
    cniVersion: '1.1.0',
    interfaces: [
      { name: 'br0' },
      { name: 'eth0', mac: '00:00:00:aa:bb:cc', sandbox: '/run/netns/a' },
      { name: 'eth0', sandbox: '/run/netns/b' },
    ],
    ips: [
      { interface: 1, address: '10.16.0.5/16', gateway: '10.16.0.1' },
      { interface: 0, address: '192.0.2.1/24' },
      { address: '192.0.2.2/24' },
    ],
    routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }, { dst: '10.0.0.0/8' }],
  };
  assert.equal((await run('CHECK', conf({ prevResult }))).exit, 0);
  const expected = { mac: '00:00:00:aa:bb:cc', addresses: ['10.16.0.5/16'], routes: [{ dst: '0.0.0.0/0', gw: '10.16.0.1' }] };
  assert.partialDeepStrictEqual(asked[0]?.body, { previous: expected });
  await run('CHECK');
  assert.equal(Object.hasOwn(asked[1]?.body ?? {}, 'previous'), false);
  const { output } = await run('CHECK', conf({ prevResult: { ips: ['none'] } }));
  assert.equal(output, undefined);
  assert.match(
    (await run('CHECK', conf({ prevResult: { interfaces: 'none' } }))).output.msg,
    /field interfaces of the network configuration is no list/,
  );
});

test('CHECK, GC and STATUS succeed with an agent that does not have them', async () => {
  answer = { status: 404, body: 'not found' };
  for (const command of ['CHECK', 'GC', 'STATUS'])
    assert.equal((await run(command, conf({ 'cni.dev/valid-attachments': [] }))).exit, 0, command);
});

test('GC sends what the runtime knows, and without such a list nothing', async () => {
  await run('GC');
  assert.deepEqual(asked, []);
  await run('GC', conf({ 'cni.dev/valid-attachments': [{ containerID: 'c0ffee', ifname: 'eth0' }] }));
  assert.deepEqual(asked, [{ path: '/api/v1/gc', body: { attachments: [{ container_id: 'c0ffee', if_name: 'eth0' }] } }]);
});

test('STATUS: code 50 while no ADD would succeed', async () => {
  answer = { status: 503, body: JSON.stringify({ error: 'ovn-controller is not connected' }) };
  const { exit, output } = await run('STATUS');
  assert.deepEqual([exit, output.code, output.details], [1, 50, 'ovn-controller is not connected']);
});

test('the program waits for its configuration, which a runtime may write later', async () => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'main.ts')], { env: { CNI_COMMAND: 'VERSION' }, stdio: 'pipe' });
  const output = text(child.stdout);
  const errors = text(child.stderr);
  const ended = await Promise.race([once(child, 'close'), sleep(1_000)]);
  assert.equal(ended, undefined, ended === undefined ? '' : await errors);
  child.stdin.end(JSON.stringify({ cniVersion: '1.1.0' }));
  assert.match(await output, /"supportedVersions"/);
});

test('VERSION', async () => {
  const { output } = await run('VERSION', JSON.stringify({ cniVersion: '0.4.0' }));
  assert.deepEqual(output, { cniVersion: '0.4.0', supportedVersions: ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'] });
  assert.equal((await run('VERSION', '')).exit, 0);
});

for (const [what, command, input, env, code] of [
  ['an unknown command', 'UPDATE', conf(), {}, 4],
  ['a version of the future', 'ADD', conf({ cniVersion: '2.0.0' }), {}, 1],
  ['a version that is no text', 'ADD', conf({ cniVersion: 1 }), {}, 1],
  ['CHECK without a version', 'CHECK', conf({ cniVersion: undefined }), {}, 4],
  ['GC before it existed', 'GC', conf({ cniVersion: '1.0.0' }), {}, 4],
  ['no JSON', 'ADD', '{', {}, 6],
  ['no object', 'ADD', '[]', {}, 6],
  ['no socket', 'ADD', conf({ server_socket: '' }), {}, 7],
  ['a route of another type', 'ADD', conf({ routes: ['a'] }), {}, 6],
  ['a container that begins with a hyphen', 'DEL', conf(), { CNI_CONTAINERID: '-a' }, 4],
  ['no container', 'ADD', conf(), { CNI_CONTAINERID: '' }, 4],
  ['a container outside of its folder', 'ADD', conf(), { CNI_CONTAINERID: '../x' }, 4],
  ['a long name of an interface', 'ADD', conf(), { CNI_IFNAME: 'a234567890123456' }, 4],
  ['the folder above as an interface', 'ADD', conf(), { CNI_IFNAME: '..' }, 4],
  ['no namespace', 'ADD', conf(), { CNI_NETNS: '' }, 4],
  ['no pod', 'ADD', conf(), { CNI_ARGS: 'K8S_POD_NAME=web-0' }, 4],
] as const)
  test(`refused, and the agent is not asked: ${what}`, async () => {
    const { exit, output } = await run(command, input, env);
    assert.deepEqual([exit, output.code], [1, code], JSON.stringify(output));
    assert.deepEqual(asked, []);
  });
