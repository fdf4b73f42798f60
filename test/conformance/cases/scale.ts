import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, newNamespace, since, version } from '../context.ts';
import type { Fields, RawReply } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';
import { widget, WIDGETS } from '../widgets.ts';

const STRANGER = '00000000-0000-0000-0000-000000000000';
const KINDS = [
  ['apps', 'v1', 'deployments', 'Deployment'],
  ['apps', 'v1', 'replicasets', 'ReplicaSet'],
  ['apps', 'v1', 'statefulsets', 'StatefulSet'],
] as const;

interface Scaled {
  readonly path: string;
  readonly name: string;
  readonly namespace: string;
  readonly qualified: string;
}

const replicasOf = (reply: RawReply): unknown => at(reply.body, 'spec', 'replicas');

export function scaleCases(holder: Holder): void {
  const http = (): ReturnType<typeof conformance>['http'] => conformance(holder).http;

  /** A workload kind with `replicas`, without pods: no controller keeps writing it. */
  const workload = async ([group, groupVersion, plural, kind]: (typeof KINDS)[number], paused = true): Promise<Scaled> => {
    const namespace = await newNamespace(holder);
    const collection = `/apis/${group}/${groupVersion}/namespaces/${namespace}/${plural}`;
    const labels = { app: 'web', tier: 'b' };
    const selector = { matchLabels: { tier: 'b' }, matchExpressions: [{ key: 'app', operator: 'In', values: ['x', 'web'] }] };
    const made = await http().send('POST', collection, {
      apiVersion: `${group}/${groupVersion}`,
      kind,
      metadata: { name: 'web' },
      spec: {
        replicas: 0,
        ...(kind === 'Deployment' && { paused }),
        ...(kind === 'StatefulSet' && { serviceName: 'web' }),
        selector,
        template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: 'registry.example/app:1' }] } },
      },
    });
    assert.equal(made.status, 201, made.text);
    return { path: `${collection}/web`, name: 'web', namespace, qualified: `${plural}.${group}` };
  };
  const customObject = async (fields: Fields): Promise<Scaled> => {
    const name = fresh('scaled');
    const made = await http().send('POST', WIDGETS, widget(name, fields));
    assert.equal(made.status, 201, made.text);
    return { path: `${WIDGETS}/${name}`, name, namespace: '', qualified: 'widgets.lab.example.com' };
  };
  const scaleOf = (item: Scaled, fields: Fields = {}, metadata: Fields = {}): Fields => ({
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: { name: item.name, ...(item.namespace === '' ? {} : { namespace: item.namespace }), ...metadata },
    ...fields,
  });
  const put = async (item: Scaled, fields: Fields, metadata: Fields = {}, query = ''): Promise<RawReply> =>
    http().send('PUT', `${item.path}/scale${query}`, scaleOf(item, fields, metadata));
  /** The generation changes with the spec only, not with the annotations and status of a controller. */
  const generation = async ({ path }: Scaled): Promise<unknown> => at((await http().get(path)).body, 'metadata', 'generation');
  const statusAndMessage = (reply: RawReply): readonly [number, string] => [reply.status, message(reply)];

  test('a Scale has the selector in the form of a query', async () => {
    for (const kind of KINDS) {
      const item = await workload(kind);
      const read = await http().get(`${item.path}/scale`);
      assert.equal(read.status, 200, read.text);
      assert.deepEqual([read.body['kind'], read.body['apiVersion']], ['Scale', 'autoscaling/v1']);
      assert.deepEqual(read.body['status'], { replicas: 0, selector: 'app in (web,x),tier=b' });
    }
  });

  test('an object that does not exist cannot be scaled', async () => {
    // The names in messages of 1.20, by kind.
    const unread: Readonly<Record<string, string>> = {
      deployments: 'deployments/scale.apps',
      replicasets: 'replicasets/scale.apps',
      statefulsets: 'statefulsets.apps',
    };
    for (const kind of KINDS) {
      const item = await workload(kind);
      const nobody = { ...item, path: item.path.replace(/web$/, 'nobody'), name: 'nobody' };
      assert.deepEqual(statusAndMessage(await http().get(`${nobody.path}/scale`)), [
        404,
        `${holder.minor > 20 ? nobody.qualified : unread[kind[2]]} "nobody" not found`,
      ]);
      const missing = [404, `${item.qualified} "nobody" not found`];
      assert.deepEqual(statusAndMessage(await put(nobody, { spec: { replicas: 1 } })), missing);
      assert.deepEqual(statusAndMessage(await http().patch(`${nobody.path}/scale`, 'merge-patch', { spec: { replicas: 1 } })), missing);
    }
    assert.deepEqual(statusAndMessage(await http().get(`${WIDGETS}/nobody/scale`)), [404, 'widgets.lab.example.com "nobody" not found']);
    const patched = await http().patch(`${WIDGETS}/nobody/scale`, 'merge-patch', { spec: { replicas: 1 } });
    assert.deepEqual(statusAndMessage(patched), [404, 'widgets.lab.example.com "nobody" not found']);
  });

  test('the server rejects a Scale of another name, namespace or kind', async () => {
    for (const item of [await workload(KINDS[0]), await customObject({ replicas: 1 })]) {
      const before = await generation(item);
      const spec = { replicas: 3 };
      assert.deepEqual(statusAndMessage(await put(item, { spec }, { name: 'other' })), [
        400,
        `the name of the object (other) does not match the name on the URL (${item.name})`,
      ]);
      assert.deepEqual(statusAndMessage(await put(item, { spec }, { name: '' })), [
        400,
        `the name of the object (${item.name} based on URL) was undeterminable: name must be provided`,
      ]);
      if (item.namespace !== '') {
        const elsewhere = await put(item, { spec }, { namespace: 'default' });
        assert.equal(elsewhere.status, 400);
        assert.match(message(elsewhere), /^the namespace of the (?:provided )?object .*does not match the namespace/);
      }
      const another = await put(item, { kind: 'Deployment', apiVersion: 'apps/v1', spec });
      assert.equal(another.status, 400, another.text);
      const renamed = await http().patch(`${item.path}/scale`, 'merge-patch', { metadata: { name: 'other' }, spec });
      assert.deepEqual(statusAndMessage(renamed), [
        400,
        `the name of the object (other) does not match the name on the URL (${item.name})`,
      ]);
      assert.equal(await generation(item), before);
    }
  });

  test('replicas are a whole number of 0 or more', async () => {
    const web = await workload(KINDS[0]);
    const custom = await customObject({ replicas: 1 });
    const negative = '"web" is invalid: spec.replicas: Invalid value: -1: must be greater than or equal to 0';
    for (const kind of KINDS) {
      const item = await workload(kind);
      assert.deepEqual(statusAndMessage(await put(item, { spec: { replicas: -1 } })), [422, `Scale.autoscaling ${negative}`], kind[2]);
    }
    const below = `Widget.lab.example.com "${custom.name}" is invalid: .spec.replicas: Invalid value: -1: should be a non-negative integer`;
    assert.deepEqual(statusAndMessage(await put(custom, { spec: { replicas: -1 } })), [422, below]);
    for (const item of [web, custom]) {
      for (const replicas of ['3', 1.5, true, [], 2 ** 31]) {
        const typed = await put(item, { spec: { replicas } });
        assert.equal(typed.status, 400, `${JSON.stringify(replicas)}: ${typed.text}`);
        if (item === web) assert.match(message(typed), /^Scale in version "v1" cannot be handled as a Scale: /);
        const patched = await http().patch(`${item.path}/scale`, 'merge-patch', { spec: { replicas } });
        assert.equal(patched.status, 422, `${JSON.stringify(replicas)}: ${patched.text}`);
        assert.match(message(patched), /^ "" is invalid: patch: Invalid value: "\{/);
      }
      const lowered = await http().patch(`${item.path}/scale`, 'json-patch', [{ op: 'add', path: '/spec/replicas', value: -1 }]);
      assert.equal(lowered.status, 422, lowered.text);
      assert.equal(message(lowered), item === web ? `Scale.autoscaling ${negative}` : below);
      assert.equal(replicasOf(await put(item, { spec: { replicas: 2 } })), 2);
      // A Scale without `replicas` means none.
      const none = await put(item, {});
      assert.deepEqual([none.status, none.body['spec']], [200, {}]);
      assert.equal(replicasOf(await http().get(item.path)), 0);
    }
  });

  test('a custom object that can be scaled never has replicas that no Scale has', async () => {
    const name = fresh('scaled');
    const rejected = async (fields: Fields): Promise<string> => {
      const reply = await http().send('POST', WIDGETS, widget(name, fields));
      assert.equal(reply.status, 422, reply.text);
      return message(reply).replace(`Widget.lab.example.com "${name}" is invalid: `, '');
    };
    assert.equal(await rejected({ replicas: -1 }), '.spec.replicas: Invalid value: -1: should be a non-negative integer');
    assert.equal(
      await rejected({ replicas: 2 ** 31 }),
      '.spec.replicas: Invalid value: 2147483648: should be less than or equal to 2147483647',
    );
    assert.match(
      await rejected({ replicas: 'x' }),
      /\.spec\.replicas: Invalid value: 0: \.spec\.replicas accessor error: x is of the type string, expected int64/,
    );
    const item = await customObject({});
    const status = await http().patch(`${item.path}/status`, 'merge-patch', { status: { replicas: -2 } });
    assert.equal(
      message(status),
      `Widget.lab.example.com "${item.name}" is invalid: .status.replicas: Invalid value: -2: should be a non-negative integer`,
    );
  });

  test('another uid and a stale resourceVersion conflict', async () => {
    for (const kind of KINDS) {
      const item = await workload(kind);
      const scale = await http().get(`${item.path}/scale`);
      await put(item, { spec: { replicas: 1 } });
      const strange = await put(item, { spec: { replicas: 2 } }, { uid: STRANGER });
      assert.equal(strange.status, 409, strange.text);
      assert.match(message(strange), /Precondition failed: UID in precondition: 0{8}-[0-]+, UID in object meta: /);
      const stale = await http().send('PUT', `${item.path}/scale`, { ...scale.body, spec: { replicas: 2 } });
      const modified = `Operation cannot be fulfilled on ${item.qualified} "web": the object has been modified; please apply your changes to the latest version and try again`;
      assert.deepEqual(statusAndMessage(stale), [409, modified]);
      const patched = await http().patch(`${item.path}/scale`, 'merge-patch', {
        metadata: { resourceVersion: version(scale) },
        spec: { replicas: 2 },
      });
      assert.deepEqual(statusAndMessage(patched), [409, modified]);
      const patchedStrange = await http().patch(`${item.path}/scale`, 'merge-patch', {
        metadata: { uid: STRANGER },
        spec: { replicas: 2 },
      });
      assert.equal(patchedStrange.status, 409, patchedStrange.text);
      const named = item.qualified.replace(kind[2], `${kind[2]}/scale`);
      assert.ok(message(patchedStrange).startsWith(`Operation cannot be fulfilled on ${named} "web": Precondition failed: `));
      assert.equal(replicasOf(await http().get(`${item.path}/scale`)), 1);
    }
    const custom = await customObject({ replicas: 1 });
    const scale = await http().get(`${custom.path}/scale`);
    await put(custom, { spec: { replicas: 2 } });
    const stale = await http().send('PUT', `${custom.path}/scale`, { ...scale.body, spec: { replicas: 3 } });
    assert.equal(stale.status, 409, stale.text);
    assert.match(message(stale), /the object has been modified/);
    const strange = await put(custom, { spec: { replicas: 3 } }, { uid: STRANGER });
    assert.equal(strange.status, 409, strange.text);
    assert.match(message(strange), /Precondition failed: UID in precondition/);
  });

  test('a Scale is patched', async () => {
    for (const item of [await workload(KINDS[0]), await customObject({ replicas: 0 })]) {
      const path = `${item.path}/scale`;
      const merged = await http().patch(path, 'merge-patch', { spec: { replicas: 2 } });
      assert.deepEqual([merged.status, merged.body['kind'], replicasOf(merged)], [200, 'Scale', 2]);
      const tested = await http().patch(path, 'json-patch', [
        { op: 'test', path: '/spec/replicas', value: 2 },
        { op: 'replace', path: '/spec/replicas', value: 3 },
      ]);
      assert.deepEqual([tested.status, replicasOf(tested)], [200, 3]);
      const failed = await http().patch(path, 'json-patch', [{ op: 'test', path: '/spec/replicas', value: 2 }]);
      assert.equal(failed.status, 422, failed.text);
      const emptied = await http().patch(path, 'merge-patch', { spec: null });
      assert.deepEqual([emptied.status, emptied.body['spec']], [200, {}]);
      const strategic = await http().patch(path, 'strategic-merge-patch', { spec: { replicas: 4 } });
      assert.equal(strategic.status, item.namespace === '' ? 415 : 200, strategic.text);
      // Labels and status of a Scale are read-only.
      await http().patch(path, 'merge-patch', { metadata: { labels: { a: 'b' } }, status: { replicas: 9 } });
      const read = await http().get(item.path);
      assert.equal(at(read.body, 'metadata', 'labels'), undefined);
      assert.notEqual(at(read.body, 'status', 'replicas'), 9);
    }
  });

  test('a dry run of a Scale answers and changes nothing', async () => {
    for (const item of [await workload(KINDS[0]), await customObject({ replicas: 0 })]) {
      const before = await generation(item);
      assert.equal(replicasOf(await put(item, { spec: { replicas: 3 } }, {}, '?dryRun=All')), 3);
      assert.equal(replicasOf(await http().patch(`${item.path}/scale?dryRun=All`, 'merge-patch', { spec: { replicas: 4 } })), 4);
      assert.equal((await put(item, { spec: { replicas: 3 } }, {}, '?dryRun=some')).status, 422);
      assert.deepEqual([replicasOf(await http().get(item.path)), await generation(item)], [0, before]);
    }
  });

  test('a custom object without replicas has no Scale until they are set', async () => {
    const { kubectl } = conformance(holder);
    const item = await customObject({});
    await http().patch(item.path, 'json-patch', [{ op: 'add', path: '/spec/replicas', value: 1 }]);
    const name = fresh('unsaid');
    const plural = `${fresh('unsaids').replaceAll('-', '')}s`;
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `${plural}.lab.example.com` },
      spec: {
        group: 'lab.example.com',
        scope: 'Cluster',
        names: { plural, singular: `${plural}x`, kind: 'Unsaid', listKind: 'UnsaidList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  spec: { type: 'object', properties: { size: { type: 'integer' } } },
                  status: { type: 'object', properties: { size: { type: 'integer' } } },
                },
              },
            },
            subresources: { scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
          },
        ],
      },
    };
    await kubectl.ok(['create', '-f', '-'], JSON.stringify(crd));
    await kubectl.established(`${plural}.lab.example.com`);
    const collection = `/apis/lab.example.com/v1/${plural}`;
    const body = { apiVersion: 'lab.example.com/v1', kind: 'Unsaid', metadata: { name }, spec: {} };
    // A real API server serves a kind a moment after its definition is established.
    await until('it takes objects', async () => (await http().send('POST', collection, body)).status === 201);
    const path = `${collection}/${name}/scale`;
    assert.deepEqual(statusAndMessage(await http().get(path)), [
      500,
      'Internal error occurred: the spec replicas field ".spec.size" does not exist',
    ]);
    assert.deepEqual(statusAndMessage(await http().patch(path, 'merge-patch', { metadata: { labels: { a: 'b' } } })), [
      400,
      'the spec replicas field ".spec.size" cannot be empty',
    ]);
    assert.equal(replicasOf(await http().patch(path, 'merge-patch', { spec: { replicas: 2 } })), 2);
    assert.equal(at((await http().get(`${collection}/${name}`)).body, 'spec', 'size'), 2);
    await http().send('DELETE', `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${plural}.lab.example.com`);
    await until('its path is gone', async () => (await http().get(collection)).status === 404);
  });

  test('a Scale is neither created nor deleted', async () => {
    for (const item of [await workload(KINDS[0]), await customObject({ replicas: 1 })]) {
      for (const method of ['POST', 'DELETE']) {
        const reply = await http().send(method, `${item.path}/scale`, scaleOf(item, { spec: { replicas: 5 } }));
        assert.equal(reply.status, 405, reply.text);
        assert.equal(reply.body['reason'], 'MethodNotAllowed');
      }
      assert.notEqual(replicasOf(await http().get(item.path)), 5);
    }
  });

  since(holder, 25, 'fields that a Scale does not have', async () => {
    const item = await workload(KINDS[0]);
    const strict = await put(item, { spec: { replicas: 1, size: 2 } }, {}, '?fieldValidation=Strict');
    assert.deepEqual(statusAndMessage(strict), [
      400,
      'Scale in version "v1" cannot be handled as a Scale: strict decoding error: unknown field "spec.size"',
    ]);
    const warned = await put(item, { spec: { replicas: 1, size: 2 } }, {}, '?fieldValidation=Warn');
    assert.equal(warned.status, 200);
    assert.match(String(warned.headers['warning']), /unknown field \\?"spec\.size/);
    const patched = await http().patch(`${item.path}/scale?fieldValidation=Strict`, 'merge-patch', { spec: { size: 2 } });
    assert.equal(patched.status, 422, patched.text);
  });

  test('kubectl scale with preconditions', async () => {
    const { kubectl } = conformance(holder);
    const web = await workload(KINDS[0]);
    const custom = await customObject({ replicas: 0 });
    const args = ['scale', 'deployment', 'web', '-n', web.namespace];
    const rejected = async (...more: string[]): Promise<string> => kubectl.fails([...args, ...more]);
    assert.match(await rejected('--replicas=2', '--current-replicas=5'), /Expected replicas to be 5, was 0/);
    assert.match(await rejected('--replicas=2', '--resource-version=1'), /Expected resource version to be 1, was \d+/);
    // The controller of the Deployment may write its status between the read and the command.
    await until('it is scaled from the version that it has', async () => {
      const current = version(await http().get(web.path));
      const scaled = await kubectl.run([...args, '--replicas=2', '--current-replicas=0', `--resource-version=${current}`]);
      if (scaled.code !== 0)
        assert.match(scaled.stderr, new RegExp(`Expected resource version to be ${current}, was \\d+|the object has been modified`));
      return /scaled$/m.test(scaled.stdout);
    });
    assert.match(await kubectl.ok([...args, '--replicas=3', '--dry-run=server']), /scaled \(server dry run\)$/m);
    assert.equal(replicasOf(await http().get(web.path)), 2);
    assert.match(await kubectl.ok(['scale', 'widget', custom.name, '--replicas=1', '--current-replicas=0']), /scaled$/m);
    assert.equal(replicasOf(await http().get(custom.path)), 1);
  });
}
