/** State of the API server: liveness, readiness and metrics. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, wellAt } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';
import { definition, GROUP } from '../widgets.ts';

const SERVICES = '/apis/apiregistration.k8s.io/v1/apiservices';
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

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

  test('the components of the cluster can only be read, with a warning', async () => {
    const { http, kubectl } = conformance(holder);
    let shown = { stdout: '', stderr: '' };
    // A database that is slow just now is reported as unhealthy.
    await until('the database is well', async () => {
      shown = await kubectl.run(['get', 'cs']);
      return !/^etcd-0 +Unhealthy/m.test(shown.stdout);
    });
    assert.match(shown.stderr, /^Warning: v1 ComponentStatus is deprecated in v1\.19\+$/m);
    assert.match(shown.stdout, /^NAME +STATUS +MESSAGE +ERROR *\n/);
    assert.match(shown.stdout, /^etcd-0 +Healthy +(?:ok|\{"health":"true"[^\n]*\}) *$/m);
    const list = (await http.get('/api/v1/componentstatuses')).body;
    assert.deepEqual(list['metadata'], {});
    const names = (list['items'] as Fields[]).map((item) => String(at(item, 'metadata', 'name')));
    assert.deepEqual(names.toSorted(), ['controller-manager', 'etcd-0', 'scheduler']);
    const one = await http.get('/api/v1/componentstatuses/etcd-0');
    assert.deepEqual([one.body['kind'], at(one.body, 'metadata', 'name')], ['ComponentStatus', 'etcd-0']);
    assert.equal(at(one.body, 'metadata', 'creationTimestamp') ?? null, null);
    const none = await http.get('/api/v1/componentstatuses/nobody');
    // An internal error in older releases.
    assert.match(`${none.status}: ${message(none)}`, /^(?:404: componentstatus "nobody" not found|500: Component not found: nobody)$/);
    assert.equal((await http.send('POST', '/api/v1/componentstatuses', {})).status, 405);
    assert.equal((await http.send('DELETE', '/api/v1/componentstatuses/etcd-0')).status, 405);
    const watch = await http.get('/api/v1/componentstatuses?watch=true');
    assert.deepEqual([watch.status, message(watch)], [405, 'watch is not supported on resources of kind "componentstatuses"']);
  });

  test('an APIService for each group version, those of custom kinds with their kind', async () => {
    const { http, kubectl } = conformance(holder);
    const listed = await kubectl.ok(['get', 'apiservices']);
    assert.match(listed, /^NAME +SERVICE +AVAILABLE +AGE\n/);
    for (const name of ['v1.', 'v1.apps', 'v1.apiextensions.k8s.io', 'v1.networking.k8s.io', `v1.${GROUP}`])
      assert.match(listed, new RegExp(`^${name.replaceAll('.', '\\.')} +Local +True +\\S+$`, 'm'));
    assert.doesNotMatch(listed, /apiregistration/);
    const core = (await http.get(`${SERVICES}/v1.`)).body;
    assert.deepEqual(core['spec'], { version: 'v1', groupPriorityMinimum: 18000, versionPriority: 1 });
    assert.equal(at(core, 'status', 'conditions', 0, 'reason'), 'Local');
    const group = `${fresh('registered')}.example.com`;
    const name = `v1.${group}`;
    const crd = JSON.parse(JSON.stringify(definition('things', 'Thing', 'Cluster')).replaceAll(GROUP, group)) as Fields;
    await http.send('POST', DEFINITIONS, crd);
    await until('the group is registered', async () => (await http.get(`${SERVICES}/${name}`)).status === 200);
    const registered = (await http.get(`${SERVICES}/${name}`)).body;
    assert.deepEqual(registered['spec'], { group, version: 'v1', groupPriorityMinimum: 1000, versionPriority: 100 });
    const { uid } = registered['metadata'] as Fields;
    await http.send('DELETE', `${SERVICES}/${name}`);
    await until('it is registered again', async () => {
      const again = at((await http.get(`${SERVICES}/${name}`)).body, 'metadata', 'uid');
      return again !== undefined && again !== uid;
    });
    await http.send('DELETE', `${DEFINITIONS}/things.${group}`);
    await until('the group is registered no more', async () => (await http.get(`${SERVICES}/${name}`)).status === 404);
  });

  test('an APIService of another server is validated and stored, and reports that no server answers for it', async () => {
    const { http, kubectl } = conformance(holder);
    const group = `${fresh('other')}.example.com`;
    const service = (name: string, spec: Fields): Fields => ({
      ...{ apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', metadata: { name } },
      spec: { group, version: 'v1', ...spec },
    });
    const priorities = { groupPriorityMinimum: 100, versionPriority: 100 };
    const rejected: readonly (readonly [item: Fields, pattern: RegExp])[] = [
      [service('x', priorities), /metadata\.name: Invalid value: "x": must be `spec\.version\+"\."\+spec\.group`: "v1\./],
      [service(`v1.${group}`, {}), /groupPriorityMinimum: Invalid value: 0: must be positive and less than 20000, spec\.versionPriority: /],
      [service(`v1.${group}`, { ...priorities, service: { name: 'x' } }), /spec\.service\.namespace: Required value$/],
    ];
    for (const [item, pattern] of rejected) {
      const reply = await http.send('POST', SERVICES, item);
      assert.equal(reply.status, 422, reply.text);
      assert.match(message(reply), pattern);
    }
    const named = { insecureSkipTLSVerify: true, service: { namespace: 'kube-system', name: 'nobody' } };
    const made = await http.send('POST', SERVICES, service(`v1.${group}`, { ...priorities, ...named }));
    assert.equal(made.status, 201, made.text);
    assert.equal(at(made.body, 'spec', 'service', 'port'), 443);
    await until('it is told of', async () =>
      / kube-system\/nobody +False \(ServiceNotFound\) /.test(await kubectl.ok(['get', 'apiservice', `v1.${group}`])),
    );
    await kubectl.ok(['delete', 'apiservice', `v1.${group}`]);
  });

  test('metrics count requests by verb and resource', async () => {
    const { http, kubectl } = conformance(holder);
    const reply = await http.get('/metrics');
    assert.equal(reply.status, 200);
    assert.match(String(reply.headers['content-type']), /^text\/plain; version=0\.0\.4/);
    assert.match(reply.text, /^kubernetes_build_info\{.*git_version="v1\..*\} 1$/im);
    for (const name of ['process_cpu_seconds_total', 'process_resident_memory_bytes', 'process_start_time_seconds'])
      assert.match(reply.text, new RegExp(`^${name} [0-9.e+]+$`, 'm'));
    const counted = (text: string): number =>
      text
        .split('\n')
        .filter((line) => line.startsWith('apiserver_request_total{'))
        .filter((line) =>
          ['resource="limitranges"', 'code="200"', 'verb="LIST"', 'scope="namespace"', 'version="v1"'].every((label) =>
            line.includes(label),
          ),
        )
        .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0);
    const before = counted(reply.text);
    for (let times = 0; times < 3; times++) await http.get('/api/v1/namespaces/default/limitranges');
    const after = await kubectl.ok(['get', '--raw', '/metrics']);
    assert.ok(counted(after) >= before + 3, `${before}, then ${counted(after)}`);
    assert.match(after, /^apiserver_request_duration_seconds_bucket\{.*le="\+Inf".*\} \d+$/m);
  });
}
