import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, message, newNamespace, pod } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { widget, WIDGETS } from '../widgets.ts';

export function patchCases(holder: Holder): void {
  test('a merge patch sets, and null removes', async () => {
    const { http } = conformance(holder);
    const name = fresh('merge');
    await http.send('POST', WIDGETS, widget(name, { mtu: 1400, tags: ['a', 'b'] }, { labels: { keep: 'yes', drop: 'yes' } }));
    const patched = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', {
      metadata: { labels: { drop: null, more: 'yes' } },
      spec: { mtu: null, tags: ['c'] },
    });
    assert.equal(patched.status, 200);
    assert.deepEqual(at(patched.body, 'metadata', 'labels'), { keep: 'yes', more: 'yes' });
    assert.equal(at(patched.body, 'spec', 'mtu'), undefined);
    assert.deepEqual(at(patched.body, 'spec', 'tags'), ['c']);
  });

  test('a JSON patch adds, removes, replaces, moves, copies and tests', async () => {
    const { http } = conformance(holder);
    const name = fresh('json');
    await http.send('POST', WIDGETS, widget(name, { mtu: 1400, tags: ['a', 'b'] }, { annotations: { 'a/b': 'x' } }));
    const patched = await http.patch(`${WIDGETS}/${name}`, 'json-patch', [
      { op: 'test', path: '/spec/mtu', value: 1400 },
      { op: 'replace', path: '/spec/mtu', value: 1500 },
      { op: 'add', path: '/spec/tags/1', value: 'between' },
      { op: 'remove', path: '/spec/tags/0' },
      { op: 'add', path: '/spec/labels', value: { one: '1' } },
      { op: 'copy', from: '/spec/labels/one', path: '/spec/labels/two' },
      { op: 'move', from: '/metadata/annotations/a~1b', path: '/metadata/annotations/c' },
    ]);
    assert.equal(patched.status, 200, patched.text);
    assert.equal(at(patched.body, 'spec', 'mtu'), 1500);
    assert.deepEqual(at(patched.body, 'spec', 'tags'), ['between', 'b']);
    assert.deepEqual(at(patched.body, 'spec', 'labels'), { one: '1', two: '1' });
    assert.deepEqual(at(patched.body, 'metadata', 'annotations'), { c: 'x' });
  });

  test('the server rejects a JSON patch as a whole if one operation fails', async () => {
    const { http } = conformance(holder);
    const name = fresh('json');
    await http.send('POST', WIDGETS, widget(name, { mtu: 1400 }));
    const tested = await http.patch(`${WIDGETS}/${name}`, 'json-patch', [
      { op: 'replace', path: '/spec/mtu', value: 1500 },
      { op: 'test', path: '/spec/cidr', value: 'other' },
    ]);
    assert.equal(tested.status, 422);
    const missing = await http.patch(`${WIDGETS}/${name}`, 'json-patch', [{ op: 'remove', path: '/spec/nothing' }]);
    assert.equal(missing.status, 422);
    assert.equal(at((await http.get(`${WIDGETS}/${name}`)).body, 'spec', 'mtu'), 1400);
  });

  test('the server rejects a merge patch that is not an object, and changes nothing', async () => {
    const { http } = conformance(holder);
    const name = fresh('merge');
    const created = await http.send('POST', WIDGETS, widget(name, { mtu: 1400 }));
    for (const patch of ['5', '"x"', '[]', 'null']) {
      const reply = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', patch);
      assert.ok(reply.status >= 400, `${patch}: ${reply.text}`);
      // An internal error before 1.27.
      if (holder.minor >= 27 && patch !== 'null')
        assert.match(message(reply), /^error decoding patch: json: cannot unmarshal (number|string|array) into Go value of type map/);
    }
    assert.deepEqual((await http.get(`${WIDGETS}/${name}`)).body, created.body);
  });

  test('finalizers are added and removed by JSON patch', async () => {
    const { http } = conformance(holder);
    const name = fresh('final');
    await http.send('POST', WIDGETS, widget(name));
    const added = await http.patch(`${WIDGETS}/${name}`, 'json-patch', [
      { op: 'add', path: '/metadata/finalizers', value: ['example.com/one'] },
    ]);
    assert.deepEqual(at(added.body, 'metadata', 'finalizers'), ['example.com/one']);
    const removed = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { metadata: { finalizers: null } });
    assert.equal(at(removed.body, 'metadata', 'finalizers'), undefined);
  });

  test('a strategic merge patch merges lists by their key', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/apis/apps/v1/namespaces/${namespace}/deployments`;
    const template = {
      metadata: { labels: { app: 'a' } },
      spec: {
        containers: [
          {
            name: 'one',
            image: 'one:1',
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
            ],
          },
          { name: 'two', image: 'two:1' },
        ],
      },
    };
    await http.send('POST', path, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'd' },
      spec: { selector: { matchLabels: { app: 'a' } }, template },
    });
    const patched = await http.patch(`${path}/d`, 'strategic-merge-patch', {
      spec: {
        template: {
          spec: {
            $setElementOrder: undefined,
            containers: [
              {
                name: 'one',
                image: 'one:2',
                env: [
                  { name: 'B', $patch: 'delete' },
                  { name: 'C', value: '3' },
                ],
              },
              { name: 'three', image: 'three:1' },
            ],
          },
        },
      },
    });
    assert.equal(patched.status, 200, patched.text);
    const containers = at(patched.body, 'spec', 'template', 'spec', 'containers') as Fields[];
    assert.deepEqual(
      new Set(containers.map((container) => `${String(container['name'])} ${String(container['image'])}`)),
      new Set(['one one:2', 'two two:1', 'three three:1']),
    );
    const env = containers.find((container) => container['name'] === 'one')?.['env'] as Fields[];
    assert.deepEqual(env.map((variable) => String(variable['name'])).toSorted(), ['A', 'C']);
    assert.equal(at(patched.body, 'metadata', 'generation'), 2);
    const ordered = await http.patch(`${path}/d`, 'strategic-merge-patch', {
      spec: {
        template: {
          spec: { '$setElementOrder/containers': [{ name: 'three' }, { name: 'one' }], containers: [{ name: 'two', $patch: 'delete' }] },
        },
      },
    });
    assert.deepEqual(
      (at(ordered.body, 'spec', 'template', 'spec', 'containers') as Fields[]).map((container) => container['name']),
      ['three', 'one'],
    );
    const strategy = await http.patch(`${path}/d`, 'strategic-merge-patch', {
      spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } },
    });
    assert.deepEqual(at(strategy.body, 'spec', 'strategy'), { type: 'Recreate' });
  });

  test('a strategic merge patch of finalizers and conditions', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await http.send('POST', path, pod('p', { finalizers: ['example.com/a', 'example.com/b'] }));
    const less = await http.patch(`${path}/p`, 'strategic-merge-patch', {
      metadata: { '$deleteFromPrimitiveList/finalizers': ['example.com/a'] },
    });
    assert.deepEqual(at(less.body, 'metadata', 'finalizers'), ['example.com/b']);
    await http.patch(`${path}/p/status`, 'strategic-merge-patch', { status: { conditions: [{ type: 'One', status: 'True' }] } });
    const both = await http.patch(`${path}/p/status`, 'strategic-merge-patch', {
      status: { conditions: [{ type: 'Two', status: 'False' }] },
    });
    assert.deepEqual((at(both.body, 'status', 'conditions') as Fields[]).map((condition) => String(condition['type'])).toSorted(), [
      'One',
      'Two',
    ]);
    await http.patch(`${path}/p`, 'merge-patch', { metadata: { finalizers: null } });
  });

  test('patch types that a kind does not have', async () => {
    const { http } = conformance(holder);
    const name = fresh('types');
    await http.send('POST', WIDGETS, widget(name));
    const strategic = await http.patch(`${WIDGETS}/${name}`, 'strategic-merge-patch', { spec: { mtu: 1400 } });
    assert.equal(strategic.status, 415);
    assert.equal(strategic.body['reason'], 'UnsupportedMediaType');
    assert.match(
      message(strategic),
      /^the body of the request was in an unknown format - accepted media types include: application\/json-patch\+json, application\/merge-patch\+json/,
    );
  });

  test('an immutable field cannot be patched', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    await http.send('POST', `/api/v1/namespaces/${namespace}/configmaps`, configMap('c', { a: '1' }));
    const moved = await http.patch(`/api/v1/namespaces/${namespace}/configmaps/c`, 'merge-patch', { metadata: { name: 'd' } });
    assert.equal(moved.status >= 400, true);
    await http.send('POST', `/api/v1/namespaces/${namespace}/pods`, pod('p'));
    const rejected = await http.patch(`/api/v1/namespaces/${namespace}/pods/p`, 'merge-patch', { spec: { dnsPolicy: 'Default' } });
    assert.equal(rejected.status, 422);
    assert.match(
      message(rejected),
      /^Pod "p" is invalid: spec: Forbidden: pod updates may not change fields other than `spec\.containers\[\*\]\.image`/,
    );
    const image = await http.patch(`/api/v1/namespaces/${namespace}/pods/p`, 'strategic-merge-patch', {
      spec: { containers: [{ name: 'main', image: 'registry.example/app:2' }] },
    });
    assert.equal(image.status, 200, image.text);
  });
}
