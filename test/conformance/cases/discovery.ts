import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, since, wellAt } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { HttpsClient } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';
import { GROUP } from '../widgets.ts';

export function discoveryCases(holder: Holder): void {
  test('health and version are open to all', async () => {
    const { kubeconfigPath } = conformance(holder);
    const anonymous = await HttpsClient.fromKubeconfig(kubeconfigPath, true);
    for (const path of ['/healthz', '/livez', '/readyz']) {
      const reply = await wellAt(anonymous, path);
      assert.equal(reply.status, 200, path);
      assert.equal(reply.text, 'ok');
      assert.match(
        (await wellAt(anonymous, `${path}?verbose`)).text,
        new RegExp(`^\\[\\+\\]ping ok\\n[^]*\\n${path.slice(1)} check passed\\n$`),
      );
    }
    assert.equal((await conformance(holder).http.get('/livez/ping')).text, 'ok');
    assert.match(String((await anonymous.get('/version')).body['gitVersion']), /^v\d+\.\d+/);
    anonymous.close();
  });

  test('an unauthenticated request reads nothing', async () => {
    const { kubeconfigPath } = conformance(holder);
    const anonymous = await HttpsClient.fromKubeconfig(kubeconfigPath, true);
    const reply = await anonymous.get('/api/v1/namespaces');
    assert.ok(reply.status === 401 || reply.status === 403, String(reply.status));
    assert.equal(reply.body['kind'], 'Status');
    anonymous.close();
  });

  test('groups and resources', async () => {
    const { http } = conformance(holder);
    const groups = (await http.get('/apis')).body['groups'] as Fields[];
    for (const name of ['apps', 'apiextensions.k8s.io', 'coordination.k8s.io', GROUP])
      assert.ok(
        groups.some((group) => group['name'] === name),
        name,
      );
    const core = (await http.get('/api/v1')).body['resources'] as Fields[];
    const pods = core.find((resource) => resource['name'] === 'pods');
    assert.equal(pods?.['kind'], 'Pod');
    assert.equal(pods?.['namespaced'], true);
    assert.deepEqual(pods?.['shortNames'], ['po']);
    assert.ok(core.some((resource) => resource['name'] === 'pods/status'));
    assert.ok(core.some((resource) => resource['name'] === 'pods/eviction' && resource['kind'] === 'Eviction'));
    const own = (await http.get(`/apis/${GROUP}/v1`)).body['resources'] as Fields[];
    const widgets = own.find((resource) => resource['name'] === 'widgets');
    assert.deepEqual(
      [widgets?.['singularName'], widgets?.['namespaced'], widgets?.['kind'], widgets?.['shortNames'], widgets?.['categories']],
      ['widget', false, 'Widget', ['wi'], ['lab']],
    );
    assert.ok(
      own.some((resource) => resource['name'] === 'widgets/scale' && resource['kind'] === 'Scale' && resource['group'] === 'autoscaling'),
    );
    assert.equal(at((await http.get(`/apis/${GROUP}`)).body, 'preferredVersion', 'groupVersion'), `${GROUP}/v1`);
  });

  since(holder, 30, 'aggregated discovery', async () => {
    const { http } = conformance(holder);
    const reply = await http.get('/apis', {
      Accept: 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList,application/json',
    });
    assert.equal(reply.headers['content-type'], 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList');
    assert.equal(reply.body['kind'], 'APIGroupDiscoveryList');
    const own = (reply.body['items'] as Fields[]).find((item) => at(item, 'metadata', 'name') === GROUP);
    assert.deepEqual(at(own, 'versions', 0, 'freshness'), 'Current');
    const widgets = (at(own, 'versions', 0, 'resources') as Fields[]).find((resource) => resource['resource'] === 'widgets');
    assert.equal(widgets?.['scope'], 'Cluster');
  });

  test('the root names the paths', async () => {
    const { kubectl } = conformance(holder);
    const { paths } = JSON.parse(await kubectl.ok(['get', '--raw', '/'])) as { readonly paths: readonly string[] };
    for (const path of [
      '/api',
      '/api/v1',
      '/apis',
      '/apis/apps/v1',
      `/apis/${GROUP}/v1`,
      '/healthz',
      '/livez/ping',
      '/openapi/v2',
      '/version',
    ])
      assert.ok(paths.includes(path), path);
  });

  test('paths that do not exist', async () => {
    const { http } = conformance(holder);
    for (const path of ['/apis/no.such.group/v1/things', '/api/v1/things', '/nothing'])
      assert.equal((await http.get(path)).status, 404, path);
  });

  since(holder, 27, 'OpenAPI v3 names each group and describes custom kinds', async () => {
    const { http } = conformance(holder);
    const paths = (await http.get('/openapi/v3')).body['paths'] as Fields;
    const address = at(paths, `apis/${GROUP}/v1`, 'serverRelativeURL');
    const document = (await http.get(String(address))).body;
    const schemas = at(document, 'components', 'schemas') as Fields;
    const schema = schemas['com.example.lab.v1.Widget'];
    assert.equal(at(schema, 'properties', 'spec', 'properties', 'cidr', 'description'), 'The range of the widget.');
    const patch = at(document, 'paths', `/apis/${GROUP}/v1/widgets/{name}`, 'patch', 'parameters') as Fields[];
    assert.ok(patch.some((parameter) => parameter['name'] === 'fieldValidation'));
    assert.ok(patch.some((parameter) => parameter['name'] === 'dryRun'));
  });

  test('OpenAPI v2', async () => {
    const { http } = conformance(holder);
    const document = (await http.get('/openapi/v2')).body;
    assert.equal(document['swagger'], '2.0');
    const definitions = at(document, 'definitions') as Fields;
    const kinds = Object.values(definitions).flatMap((definition) => (at(definition, 'x-kubernetes-group-version-kind') ?? []) as Fields[]);
    assert.ok(kinds.some((kind) => kind['kind'] === 'Pod' && kind['group'] === ''));
  });

  test('kubectl api-resources and explain', async () => {
    const { kubectl } = conformance(holder);
    const resources = await kubectl.ok(['api-resources']);
    assert.match(resources, /^widgets\s+wi\s+lab\.example\.com\/v1\s+false\s+Widget$/m);
    assert.match(resources, /^pods\s+po\s+v1\s+true\s+Pod$/m);
    // Older servers publish the schema of a new kind some seconds after they serve it.
    await until('the kind is described', async () => (await kubectl.run(['explain', 'widget'])).code === 0);
    const explained = await kubectl.ok(['explain', 'widget.spec']);
    assert.match(explained, /cidr\s+<string> -required-\n\s+The range of the widget\./);
    assert.match(await kubectl.ok(['explain', 'pod.spec.containers']), /imagePullPolicy\s+<string>/);
  });

  test('may I?', async () => {
    const { kubectl } = conformance(holder);
    assert.equal((await kubectl.ok(['auth', 'can-i', 'create', 'pods'])).trim(), 'yes');
  });
}
