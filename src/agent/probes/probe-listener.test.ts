/** What of a connection reaches a pod, with pods that are servers of this process. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { createServer, get, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, get as getTls } from 'node:https';
import { type AddressInfo, connect, createServer as createTcpServer, type Server } from 'node:net';
import { after, test } from 'node:test';
import { CertificateAuthority } from '../../certificates/authority.ts';
import type { ProbedPodOutput } from '../world/outputs.ts';
import type { HttpProbe } from '../world/probe.ts';
import { ProbeListenerServer } from './probe-listener.ts';

const authority = new CertificateAuthority('test', { from: Date.now() - 1_000, until: Date.now() + 3_600_000 });
const { certificate: cert, key } = authority.issue({ name: { commonName: 'test' }, purpose: 'server' });
const stops: (() => void)[] = [];
after(() => {
  for (const stop of stops) stop();
});

/** Answers with its name and the path, 503 for a path with `bad`, and a redirect for `moved`. */
async function podServer(name: string, tls = false): Promise<number> {
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    if (request.url === '/moved') return void response.writeHead(302, { location: '/new' }).end();
    response.writeHead(request.url?.includes('bad') === true && name === 'sick' ? 503 : 200).end(`${name}${request.url}`);
  };
  const server: Server = tls ? createTlsServer({ cert, key }, answer) : createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  stops.push(() => server.close());
  return (server.address() as AddressInfo).port;
}

function probe(path: string, more: Partial<HttpProbe> = {}): HttpProbe {
  return { kind: 'http', port: 80, tls: false, path, headers: [], ...more };
}

/** The path of the namespace is the port of the pod's server. */
async function listener(...pods: readonly (readonly [name: string, port: number, probes: ProbedPodOutput['probes']])[]): Promise<number> {
  const server = new ProbeListenerServer('10.0.0.5', ({ namespacePath }) => connect(Number(namespacePath), '127.0.0.1'));
  server.pods = pods.map(([pod, port, probes]) => ({
    ...{ kind: 'probed-pod', registries: [], address: '10.0.0.5', port: 80, pod, namespacePath: String(port), probes },
  }));
  stops.push(() => void server.close());
  return await server.listen();
}

/** As kubelet asks. @returns status and body, or the code of the failure */
async function ask(port: number, path: string, headers: Readonly<Record<string, string>> = {}, tls = false): Promise<string> {
  const request = (tls ? getTls : get)({ port, path, headers, host: '127.0.0.1', agent: false, rejectUnauthorized: false });
  return await new Promise((resolve) => {
    request.on('error', (error: NodeJS.ErrnoException) => resolve(error.code ?? error.message));
    request.on('response', (response) => {
      let body = '';
      response.setEncoding('utf8').on('data', (text: string) => (body += text));
      response.on('end', () => resolve(`${response.statusCode} ${body}`));
    });
  });
}

test("N50: pods with one address and port: each request goes to the pod whose probe it is, and to nobody if it is nobody's", async () => {
  const [red, blue] = [await podServer('red'), await podServer('blue')];
  const port = await listener(
    ['a/red', red, [probe('red'), probe('/same', { headers: [['X-Pod', 'red']] })]],
    ['b/blue', blue, [probe('/blue?x=1'), probe('/same', { headers: [['X-Pod', 'blue']] })]],
  );
  assert.equal(await ask(port, '/red'), '200 red/red');
  assert.equal(await ask(port, '/blue?x=1'), '200 blue/blue?x=1');
  assert.equal(await ask(port, '/same', { 'x-pod': 'blue' }), '200 blue/same');
  for (const path of ['/blue', '/same', '/admin', '/red/../blue?x=1']) assert.equal(await ask(port, path), 'ECONNRESET', path);
});

test('equal probes of two pods: one that is well answers; a closed port, and a redirect of the pod', async () => {
  const [well, sick] = [await podServer('well'), await podServer('sick')];
  const port = await listener(['a/sick', sick, [probe('/bad'), probe('/bad2')]], ['b/well', well, [probe('/bad'), probe('/moved')]]);
  assert.equal(await ask(port, '/bad'), '200 well/bad');
  assert.equal(await ask(port, '/bad2'), '503 sick/bad2');
  assert.equal(await ask(port, '/new'), 'ECONNRESET');
  assert.match(await ask(port, '/moved'), /^302/);
  assert.equal(await ask(port, '/new'), '200 well/new');
  const closed = await listener(['a/gone', 1, [probe('/')]]);
  assert.equal(await ask(closed, '/'), 'ECONNRESET');
});

test('HTTPS: the request is looked at as well', async () => {
  const port = await listener(['a/red', await podServer('red', true), [probe('/live', { tls: true })]]);
  assert.equal(await ask(port, '/live', {}, true), '200 red/live');
  assert.notEqual((await ask(port, '/admin', {}, true)).slice(0, 3), '200');
  assert.equal(await ask(port, '/live'), 'ECONNRESET');
});

test('gRPC: HTTP/2 passes where a probe is of that kind; bytes of others never', async () => {
  const seen: string[] = [];
  const pod = createTcpServer((socket) => {
    socket.on('data', (bytes) => {
      seen.push(bytes.toString());
      socket.end('frames');
    });
  });
  pod.listen(0, '127.0.0.1');
  await once(pod, 'listening');
  stops.push(() => pod.close());
  const { port: own } = pod.address() as AddressInfo;
  const send = async (port: number, text: string): Promise<string> => {
    const socket = connect(port, '127.0.0.1').on('error', () => undefined);
    let got = '';
    socket.on('data', (bytes) => (got += bytes.toString()));
    socket.write(text);
    await new Promise((resolve) => socket.once('close', resolve));
    return got;
  };
  const preface = 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n';
  const grpc = await listener(['a/red', own, [{ kind: 'grpc', port: 80 }]]);
  assert.equal(await send(grpc, preface), 'frames');
  assert.deepEqual(seen, [preface]);
  const tcp = await listener(['a/red', own, [{ kind: 'tcp', port: 80, periodMs: 1_000 }]]);
  for (const port of [grpc, tcp])
    for (const text of ['SSH-2.0\r\n\r\n', 'POST / HTTP/1.1\r\n\r\n']) assert.equal(await send(port, text), '');
  assert.equal(await send(tcp, preface), '');
  assert.deepEqual(seen, [preface]);
});
