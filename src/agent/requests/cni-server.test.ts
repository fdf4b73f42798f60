/** The socket of the plugin: it comes back when its file is removed, and refuses what it cannot read. */
import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { ask } from '../../cni/agent-socket.ts';
import { SILENT } from '../../runtime/log.ts';
import { until } from '../../testing/until.ts';
import { type Clock, systemClock } from '../../timing/clock.ts';
import { NodeWorld } from '../world/node-world.ts';
import { CniServer } from './cni-server.ts';
import { RequestsTarget } from './requests-target.ts';

/** Timers of seconds take milliseconds. */
const hasty: Clock = { ...systemClock, now: () => systemClock.now(), setTimeout: (work, ms) => systemClock.setTimeout(work, ms / 100) };

test('N10: a socket whose file is removed is made again; fields that are no text are named', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-cni-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, 'agent.sock');
  const requests = new RequestsTarget(new NodeWorld(), systemClock, () => {});
  const server = new CniServer({ socket, requests, notReady: () => [], status: () => assert.fail(), clock: hasty, log: SILENT });
  await server.listen();
  t.after(() => server.close());
  const answers = async (): Promise<boolean> => (await ask(socket, '/livez', {}, 1_000)).kind === 'answer';
  assert.ok(await answers());
  for (let time = 0; time < 2; time += 1) {
    rmSync(socket);
    assert.equal(await answers(), false);
    await until('it answers again', answers);
  }
  const bad = { container_id: 'c', net_ns: '/run/netns/a', pod_name: 'web', pod_namespace: 'shop', provider: '' };
  for (const [more, status, reason] of [
    [{}, 400, /field if_name of the request is missing, and must be a text/],
    [{ if_name: 'a b' }, 400, /field if_name of the request is "a b", no name of an interface/],
    [{ if_name: 'net1', deviceID: '0000:01:00.2' }, 500, /net1 of pod shop\/web is for SR-IOV/],
  ] as const) {
    const answer = await ask(socket, '/api/v1/add', { ...bad, ...more }, 5_000);
    assert.ok(answer.kind === 'answer');
    assert.equal(answer.status, status);
    assert.match(answer.body.replaceAll('\\"', '"'), reason);
  }
});

test('a socket that cannot be made is named, with nothing left; one that another agent serves stays its', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-cni-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const serverOf = (socket: string): CniServer => {
    const requests = new RequestsTarget(new NodeWorld(), systemClock, () => {});
    return new CniServer({ socket, requests, notReady: () => [], status: () => assert.fail(), clock: hasty, log: SILENT });
  };
  // Longer than the name of a socket may be.
  const long = join(folder, 'run', 'x'.repeat(200));
  const server = serverOf(long);
  await assert.rejects(
    server.listen(),
    /the socket \S+\/run\/x+ for the CNI plugin, which cannot be made: .*EINVAL.*; df -h \S+\/run; df -i/,
  );
  assert.deepEqual([readdirSync(folder), server.waitingFor.length], [[], 1]);
  await server.close();
  const socket = join(folder, 'agent.sock');
  const [first, second] = [serverOf(socket), serverOf(socket)];
  await first.listen();
  t.after(() => first.close());
  await assert.rejects(second.listen(), /another agent of this node answers on \S+agent\.sock/);
  assert.equal((await ask(socket, '/livez', {}, 1_000)).kind, 'answer');
});

test('what is no request is answered with a code: too long, no JSON, or ended before its end', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-cni-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, 'agent.sock');
  const requests = new RequestsTarget(new NodeWorld(), systemClock, () => {});
  const server = new CniServer({ socket, requests, notReady: () => [], status: () => assert.fail(), clock: hasty, log: SILENT });
  await server.listen();
  t.after(() => server.close());
  const raw = async (body: string, length = body.length): Promise<string> =>
    await new Promise((resolve) => {
      const client = connect(socket);
      let heard = '';
      client.on('data', (chunk) => (heard += String(chunk))).on('close', () => resolve(heard));
      client.on('error', () => undefined);
      client.end(`POST /api/v1/add HTTP/1.0\r\nhost: a\r\ncontent-length: ${length}\r\n\r\n${body}`);
    });
  assert.match(
    await raw(`"${'x'.repeat(8 * 1024 * 1024)}"`),
    /^HTTP\/1\.1 413 [^]*"the request has 8388610 bytes.*"code":"RequestTooLarge"/,
  );
  assert.match(await raw('{"pod_name":'), /^HTTP\/1\.1 400 [^]*"the request is no JSON: .*"code":"RequestInvalid"/);
  await raw('{', 10);
  assert.match(await raw('[]'), /400 [^]*"the request is a list, and must be a JSON object"/);
});

test('an ADD into the network namespace of the node is refused before anything is made; a DEL for it succeeds', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-cni-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const link = join(folder, 'node');
  symlinkSync('/proc/self/ns/net', link);
  const world = new NodeWorld();
  const requests = new RequestsTarget(world, systemClock, () => {});
  requests.restored();
  const server = new CniServer({ socket: '', requests, notReady: () => [], status: () => assert.fail(), clock: hasty, log: SILENT });
  const { signal } = new AbortController();
  for (const net_ns of ['/proc/self/ns/net', `/proc/${process.pid}/ns/net`, link]) {
    const body = { container_id: 'c', net_ns, pod_name: 'web', pod_namespace: 'shop', provider: '', if_name: 'eth0' };
    const { status, body: refusal } = await server.reply('/api/v1/add', body, signal);
    assert.partialDeepStrictEqual([status, refusal], [400, { code: 'RequestInvalid', field: 'net_ns' }]);
    assert.ok(JSON.stringify(refusal).includes(`is \\"${net_ns}\\", the network namespace of the node itself`));
    assert.deepEqual([...world.attachments.keys()], []);
    assert.deepEqual(await server.reply('/api/v1/del', body, signal), { status: 204 });
  }
});

test('an ADD into the namespace of a process that the agent does not see names hostPID; a DEL for it succeeds', async () => {
  const world = new NodeWorld();
  const requests = new RequestsTarget(world, systemClock, () => {});
  requests.restored();
  const server = new CniServer({ socket: '', requests, notReady: () => [], status: () => assert.fail(), clock: hasty, log: SILENT });
  const { signal } = new AbortController();
  const body = { container_id: 'c', net_ns: '/proc/4194305/ns/net', pod_name: 'web', pod_namespace: 'shop', provider: '', if_name: 'eth0' };
  const { status, body: refusal } = await server.reply('/api/v1/add', body, signal);
  assert.partialDeepStrictEqual([status, refusal], [400, { code: 'RequestInvalid', field: 'net_ns' }]);
  assert.match(JSON.stringify(refusal), /needs hostPID: true in the agent's pod; .*--set agent\.hostPID=true/);
  assert.deepEqual([...world.attachments.keys()], []);
  assert.deepEqual(await server.reply('/api/v1/del', body, signal), { status: 204 });
});

test('an ADD into the network namespace of the node as a gateway is refused, whichever path leads there', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-cni-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const [gateway, link] = [join(folder, 'gateway'), join(folder, 'link')];
  const world = new NodeWorld();
  const requests = new RequestsTarget(world, systemClock, () => {});
  const server = new CniServer({
    ...{ socket: '', requests, gatewayNamespace: gateway, notReady: () => [], status: () => assert.fail(), clock: hasty, log: SILENT },
  });
  const body = { container_id: 'c', net_ns: link, pod_name: 'web', pod_namespace: 'shop', provider: '', if_name: 'eth0' };
  symlinkSync(gateway, link);
  // It is not there yet, and then another one.
  assert.equal((await server.reply('/api/v1/add', body, AbortSignal.abort())).status, 500);
  writeFileSync(gateway, '');
  const { status, body: refusal } = await server.reply('/api/v1/add', body, new AbortController().signal);
  assert.partialDeepStrictEqual([status, refusal], [400, { code: 'RequestInvalid', field: 'net_ns' }]);
  assert.match(JSON.stringify(refusal), /of this node as an external gateway .*; ls -iL /);
  assert.deepEqual([...world.attachments.keys()], []);
});

test('CHECK: routes that other plugins made on other interfaces are not looked for', async () => {
  const previous: unknown[] = [];
  const requests = { check: (_: unknown, one: unknown) => Promise.resolve((previous.push(one), { ok: true, reply: undefined })) };
  const server = new CniServer({
    ...{
      socket: '',
      requests: requests as unknown as RequestsTarget,
      notReady: () => [],
      status: () => assert.fail(),
      clock: hasty,
      log: SILENT,
    },
  });
  const body = { container_id: 'c', net_ns: '/run/netns/a', pod_name: 'web', pod_namespace: 'shop', provider: 'ovn', if_name: 'eth0' };
  const routes = [
    { dst: '0.0.0.0/0', gw: '10.16.0.1' },
    { dst: '10.99.0.1/32', gw: '192.0.2.1' },
    { dst: '::/0', gw: 'fd00:10:16::1' },
  ];
  const addresses = ['10.16.0.5/16', 'FD00:10:16:0::5/112'];
  const { signal } = new AbortController();
  assert.equal(
    (await server.reply('/api/v1/check', { ...body, previous: { mac: '00:00:00:AA:BB:01', addresses, routes } }, signal)).status,
    204,
  );
  const expected = {
    mac: '00:00:00:aa:bb:01',
    addresses: ['10.16.0.5/16', 'fd00:10:16::5/112'],
    routes: [
      { destination: '0.0.0.0/0', gateway: '10.16.0.1' },
      { destination: '::/0', gateway: 'fd00:10:16::1' },
    ],
  };
  assert.deepEqual(previous, [expected]);
  for (const [wrong, field] of [
    [[], 'previous'],
    [{ mac: 7, addresses, routes }, 'previous.mac'],
    [{ mac: '', addresses: ['10.16.0.5'], routes }, 'previous.addresses[0]'],
    [{ mac: '', addresses, routes: [{ dst: 'x', gw: 'y' }] }, 'previous.routes[0]'],
  ] as const)
    assert.partialDeepStrictEqual(await server.reply('/api/v1/check', { ...body, previous: wrong }, signal), {
      status: 400,
      body: { field },
    });
});

test('what changes something is asked with POST alone', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'kiln-cni-'));
  t.after(() => rmSync(folder, { recursive: true }));
  const socket = join(folder, 'agent.sock');
  const requests = new RequestsTarget(new NodeWorld(), systemClock, () => {});
  const server = new CniServer({ socket, requests, notReady: () => [], status: () => assert.fail(), clock: hasty, log: SILENT });
  await server.listen();
  t.after(() => server.close());
  const asked = async (method: string, path: string): Promise<unknown> =>
    await new Promise((resolve, reject) =>
      httpRequest({ socketPath: socket, method, path, agent: false }, (answer) => {
        answer.resume();
        resolve([answer.statusCode, answer.headers.allow]);
      })
        .on('error', reject)
        .end(),
    );
  for (const method of ['GET', 'PUT', 'DELETE'])
    for (const path of ['/api/v1/add', '/api/v1/del', '/api/v1/check', '/api/v1/gc'])
      assert.deepEqual(await asked(method, path), [405, 'POST'], `${method} ${path}`);
  assert.deepEqual(await asked('GET', '/livez'), [200, undefined]);
});
