/** State of the API server: liveness and readiness. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { conformance, wellAt } from '../context.ts';

export function serverStateCases(holder: Holder): void {
  test('each check has a path of its own, and can be excluded', async () => {
    const { http } = conformance(holder);
    for (const check of ['ping', 'log', 'etcd', 'poststarthook/start-apiextensions-controllers', 'autoregister-completion'])
      for (const endpoint of ['healthz', 'livez', 'readyz']) {
        const reply = await wellAt(http, `/${endpoint}/${check}`);
        assert.deepEqual([reply.status, reply.text], [200, 'ok'], `${endpoint}/${check}`);
      }
    assert.equal((await wellAt(http, '/readyz/informer-sync')).text, 'ok');
    assert.equal((await http.get('/livez/informer-sync')).status, 404);
    assert.equal((await http.get('/readyz/nothing')).status, 404);
    const verbose = (await wellAt(http, '/readyz?verbose&exclude=etcd')).text.split('\n');
    for (const line of [
      '[+]ping ok',
      '[+]etcd excluded: ok',
      '[+]informer-sync ok',
      '[+]poststarthook/rbac/bootstrap-roles ok',
      '[+]shutdown ok',
      'readyz check passed',
    ])
      assert.ok(verbose.includes(line), line);
  });
}
