import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from './metrics.ts';
import { parseBindAddress, serveOperations } from './operations-server.ts';

test('an address to serve at is a host and a port, or a port alone', () => {
  assert.deepEqual(parseBindAddress('127.0.0.1:10670'), { host: '127.0.0.1', port: 10_670 });
  assert.deepEqual(parseBindAddress(':8080'), { host: undefined, port: 8_080 });
  assert.deepEqual(parseBindAddress('[::1]:0'), { host: '::1', port: 0 });
  for (const text of ['', '10670', 'host', 'host:', ':70000', '[host]:1', '::1:80', 'a:b:1'])
    assert.equal(parseBindAddress(text), undefined, text);
});

test('probes say what is waited for, metrics are what a scraper reads, and nothing else is there', async () => {
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
