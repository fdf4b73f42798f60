import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { networkInterfaces } from 'node:os';
import { test } from 'node:test';
import { until } from '../testing/until.ts';
import { PATIENCE_MS } from '../testing/patience.ts';
import { Metrics } from './metrics.ts';
import { parseBindAddress, serveOperations } from './operations-server.ts';

test('an address to serve at is a host and a port, or a port alone', () => {
  assert.deepEqual(parseBindAddress('127.0.0.1:10670'), { host: '127.0.0.1', port: 10_670 });
  assert.deepEqual(parseBindAddress(':8080'), { host: undefined, port: 8_080 });
  assert.deepEqual(parseBindAddress('[::1]:0'), { host: '::1', port: 0 });
  for (const text of ['', '10670', 'host', 'host:', ':70000', '[host]:1', '::1:80', 'a:b:1'])
    assert.equal(parseBindAddress(text), undefined, text);
});

test('probes name what the process waits for, metrics have the text format, other paths are not found', async () => {
  const metrics = new Metrics();
  metrics.read('kiln_leader', (report) => report({}, 1));
  metrics.count('kiln_transaction_total', { result: 'committed' }, 3);
  const missing = ['subnets', 'the Northbound database'];
  const server = await serveOperations({ address: { host: '127.0.0.1', port: 0 }, metrics, waitingFor: () => missing });
  const ask = async (path: string, init?: RequestInit): Promise<readonly [number, string]> => {
    const response = await fetch(`${server.url}${path}`, init);
    return [response.status, await response.text()];
  };
  try {
    assert.deepEqual(await ask('/healthz'), [200, 'ok\n']);
    assert.deepEqual(await ask('/readyz'), [503, 'waiting for subnets\nwaiting for the Northbound database\n']);
    missing.length = 0;
    assert.deepEqual(await ask('/readyz?verbose'), [200, 'ok\n']);
    const [status, text] = await ask('/metrics');
    assert.equal(status, 200);
    assert.match(text, /^# HELP kiln_leader .+\n# TYPE kiln_leader gauge\nkiln_leader 1$/m);
    assert.match(text, /^kiln_transaction_total\{result="committed"\} 3$/m);
    assert.match(text, /^process_cpu_seconds_total \d/m);
    assert.equal((await ask('/other'))[0], 404);
    assert.equal((await ask('/metrics', { method: 'POST' }))[0], 405);
    await assert.rejects(
      serveOperations({ address: { host: '127.0.0.1', port: Number(new URL(server.url).port) }, metrics, waitingFor: () => [] }),
      { code: 'EADDRINUSE' },
    );
  } finally {
    await server.close();
  }
});

/** An address of this host that is not loopback: a request from it looks like one from another host. */
const ELSEWHERE = Object.values(networkInterfaces())
  .flat()
  .find((one) => one?.internal === false && one.family === 'IPv4')?.address;

async function scrape(url: string, authorization?: string, method = 'GET'): Promise<readonly [number, string]> {
  const response = await fetch(url, { method, headers: authorization === undefined ? {} : { authorization } });
  return [response.status, await response.text()];
}

test('metrics are for this host and for clients with the token; probes are for every client', async () => {
  assert.ok(ELSEWHERE !== undefined, 'this host has an address beside loopback');
  const metrics = new Metrics();
  metrics.read('kiln_leader', (report) => report({}, 1));
  let token: string | undefined = 'a-token-of-enough-length';
  const server = await serveOperations({
    address: { host: undefined, port: 0 },
    metrics,
    waitingFor: () => [],
    token: () => token,
  });
  const { port } = new URL(server.url);
  const [here, elsewhere] = [`http://127.0.0.1:${port}`, `http://${ELSEWHERE}:${port}`];
  try {
    for (const path of ['/healthz', '/readyz']) assert.deepEqual(await scrape(`${elsewhere}${path}`), [200, 'ok\n']);
    assert.equal((await scrape(`${here}/metrics`))[0], 200);
    for (const bad of [undefined, '', 'Bearer', 'Bearer ', 'Bearer another-token-of-length', `Basic ${token}`, token, `Bearer ${token}x`]) {
      const [status, text] = await scrape(`${elsewhere}/metrics`, bad);
      assert.deepEqual([status, text.includes('kiln_leader')], [401, false], String(bad));
    }
    assert.match((await scrape(`${elsewhere}/metrics`, `Bearer ${token}`))[1], /^kiln_leader 1$/m);
    assert.equal((await scrape(`${elsewhere}/metrics`, undefined, 'HEAD'))[0], 401);
    for (token of [undefined, '']) assert.equal((await scrape(`${elsewhere}/metrics`, 'Bearer '))[0], 401, 'a token that cannot be read');
  } finally {
    await server.close();
  }
});

test('idle connections to the port of metrics are limited and closed, and probes are answered meanwhile', async () => {
  const server = await serveOperations({ address: { host: '127.0.0.1', port: 0 }, metrics: new Metrics(), waitingFor: () => [] });
  const port = Number(new URL(server.url).port);
  let closed = 0;
  const open = (text: string, drip = ''): void => {
    const socket = connect({ port, host: '127.0.0.1', localAddress: '127.0.0.2' }, () => socket.write(text));
    const timer = drip === '' ? undefined : setInterval(() => socket.write(drip), 50);
    socket
      .on('error', () => undefined)
      .once('close', () => {
        clearInterval(timer);
        closed++;
      });
    socket.resume();
  };
  try {
    for (let one = 0; one < 200; one++) open('');
    // Without a limit each of these would stay open for ever.
    open('GET /metrics HTTP/1.1\r\nX: ', 'x');
    open('GET /metrics HTTP/1.1\r\nHost: k\r\nContent-Length: 1000000\r\n\r\n', ' ');
    for (let times = 0; times < 5; times++) {
      const probe = request({ host: '127.0.0.1', port, path: '/healthz', agent: false }).end();
      const [response] = (await once(probe, 'response')) as [{ statusCode: number; resume: () => void }];
      response.resume();
      assert.equal(response.statusCode, 200);
    }
    await until(
      'all connections are closed',
      () => closed === 202,
      PATIENCE_MS,
      () => `${closed} of 202`,
    );
  } finally {
    await server.close();
  }
});
