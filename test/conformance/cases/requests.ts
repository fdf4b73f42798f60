/** Requests with invalid options, bodies or types. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, message } from '../context.ts';
import { WIDGETS } from '../widgets.ts';

export function requestCases(holder: Holder): void {
  test('invalid options of a write', async () => {
    const { http } = conformance(holder);
    const maps = '/api/v1/namespaces/default/configmaps';
    const name = fresh('options');
    assert.equal((await http.send('POST', maps, configMap(name))).status, 201);
    const long = 'x'.repeat(129);
    const rejected: readonly (readonly [method: string, path: string, kind: string, pattern: RegExp])[] = [
      ['POST', `${maps}?fieldManager=${long}`, 'CreateOptions', /fieldManager: Too long: .* 128 bytes$/],
      ['PUT', `${maps}/${name}?fieldManager=${long}`, 'UpdateOptions', /fieldManager: Too long: .* 128 bytes$/],
      ['PATCH', `${maps}/${name}?fieldManager=a%07`, 'PatchOptions', /invalid character U\+0007 \(at position 1\)$/],
      ['PATCH', `${maps}/${name}?force=true`, 'PatchOptions', /force: Forbidden: may not be specified for non-apply patch$/],
      ['POST', `${maps}?dryRun=Some`, 'CreateOptions', /dryRun: Unsupported value: .*"Some"/],
    ];
    for (const [method, path, kind, pattern] of rejected) {
      const type = method === 'PATCH' ? { 'Content-Type': 'application/merge-patch+json' } : {};
      const reply = await http.send(method, path, configMap(method === 'POST' ? fresh('options') : name), type);
      assert.equal(reply.status, 422, `${method} ${path}: ${reply.text}`);
      assert.match(message(reply), new RegExp(`^${kind}\\.meta\\.k8s\\.io "" is invalid: `));
      assert.match(message(reply), pattern);
    }
    const grace = await http.send('DELETE', `${maps}/${name}?gracePeriodSeconds=abc`);
    assert.deepEqual([grace.status, message(grace)], [400, 'strconv.ParseInt: parsing "abc": invalid syntax']);
    assert.equal((await http.get(`${maps}/${name}`)).status, 200);
  });

  test('bodies of a content type that is not served, or without an object', async () => {
    const { http } = conformance(holder);
    const maps = '/api/v1/namespaces/default/configmaps';
    for (const [method, path] of [
      ['POST', maps],
      ['POST', WIDGETS],
      ['PUT', `${maps}/${fresh('plain')}`],
    ] as const) {
      const plain = await http.send(method, path, JSON.stringify(configMap('plain')), { 'Content-Type': 'text/plain' });
      assert.deepEqual([plain.status, plain.body['reason']], [415, 'UnsupportedMediaType'], plain.text);
      assert.match(
        message(plain),
        /^the body of the request was in an unknown format - accepted media types include: application\/json, application\/yaml/,
      );
    }
    const patch = await http.send('PATCH', `${maps}/any`, '{}', { 'Content-Type': 'application/json' });
    assert.deepEqual([patch.status, message(patch)], [415, '415: Unsupported Media Type']);
    const empty = await http.send('POST', maps, '');
    assert.match(
      message(empty),
      /^the object provided is unrecognized \(must be of type ConfigMap\): .*unexpected end of JSON input \(<empty>\)$/,
    );
    const list = await http.send('POST', WIDGETS, '[]');
    assert.match(
      message(list),
      /^the object provided is unrecognized \(must be of type Widget\): .*cannot unmarshal array into Go value of type struct.* \(5b5d\)$/,
    );
    const elsewhere = await http.send('POST', WIDGETS, configMap('x'));
    assert.deepEqual(
      [elsewhere.status, message(elsewhere)],
      [400, 'the API version in the data (v1) does not match the expected API version (lab.example.com/v1)'],
    );
  });

  test('YAML is read and written: strings stay strings, big integers exact, errors one line', async () => {
    const { http } = conformance(holder);
    const maps = '/api/v1/namespaces/default/configmaps';
    const [name, other] = [fresh('yaml'), fresh('yaml')];
    const headers = { 'Content-Type': 'application/yaml', Accept: 'application/yaml' };
    const body = `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\ndata: {truth: "yes", number: "010", lines: "a\\nb\\n"}\n`;
    const made = await http.send('POST', maps, body, headers);
    assert.deepEqual([made.status, made.headers['content-type']], [201, 'application/yaml'], made.text);
    assert.match(
      made.text,
      /^apiVersion: v1\ndata:\n  lines: \|\n    a\n    b\n  number: "010"\n  truth: "yes"\nkind: ConfigMap\nmetadata:\n/,
    );
    assert.deepEqual(at((await http.get(`${maps}/${name}`)).body, 'data'), { truth: 'yes', number: '010', lines: 'a\nb\n' });
    const big = `apiVersion: lab.example.com/v1\nkind: Widget\nmetadata: {name: ${other}}\nspec:\n  cidr: 10.0.0.0/8\n  ports:\n  - port: 9007199254740993\n`;
    const widget = await http.send('POST', WIDGETS, big, headers);
    assert.match(widget.text, /\n  - port: 9007199254740993\n/, widget.text);
    const missing = await http.send('GET', `${maps}/nobody`, undefined, { Accept: 'application/yaml' });
    assert.match(
      missing.text,
      /^apiVersion: v1\ncode: 404\ndetails:\n  kind: configmaps\n  name: nobody\nkind: Status\nmessage: configmaps "nobody" not found\n/,
    );
    const broken = await http.send('POST', maps, 'a: [\n', { 'Content-Type': 'application/yaml' });
    assert.match(message(broken), /^the object provided is unrecognized \(must be of type ConfigMap\): yaml: line \d: .* \(613a205b0a\)$/);
    await http.send('DELETE', `${maps}/${name}`);
    await http.send('DELETE', `${WIDGETS}/${other}`);
  });

  test('the server rejects an object that is too deep to be encoded, and its kind stays readable', async () => {
    const { http } = conformance(holder);
    const json = { 'Content-Type': 'application/json' };
    const deep = (name: string, levels: number): string =>
      `{"apiVersion":"lab.example.com/v1","kind":"Widget","metadata":{"name":"${name}"},"spec":{"cidr":"10.0.0.0/8","extra":{"a":${'['.repeat(levels)}${']'.repeat(levels)}}}}`;
    const [kept, other] = [fresh('deep'), fresh('deep')];
    assert.equal((await http.send('POST', WIDGETS, deep(kept, 900), json)).status, 201);
    for (const levels of [10_001, 400_000]) {
      const rejected = await http.send('POST', WIDGETS, deep(other, levels), json);
      assert.equal(rejected.status, 400);
      assert.match(message(rejected), /json parse error: .*exceeded max depth/);
    }
    const patch = `{"spec":{"extra":{"b":${'['.repeat(10_001)}${']'.repeat(10_001)}}}}`;
    const patched = await http.send('PATCH', `${WIDGETS}/${kept}`, patch, { 'Content-Type': 'application/merge-patch+json' });
    // A server of 1.20 answers 500.
    assert.ok(patched.status >= 400, patched.text.slice(0, 500));
    assert.deepEqual(Object.keys(at((await http.get(`${WIDGETS}/${kept}`)).body, 'spec', 'extra') as object), ['a']);
    assert.equal((await http.get(WIDGETS)).status, 200);
    assert.equal((await http.get(`${WIDGETS}/${other}`)).status, 404);
    await http.send('DELETE', `${WIDGETS}/${kept}`);
  });

  test('namespaces cannot be deleted as a collection; keys and prefixes of names are validated', async () => {
    const { http } = conformance(holder);
    const all = await http.send('DELETE', '/api/v1/namespaces');
    assert.deepEqual([all.status, all.body['reason']], [405, 'MethodNotAllowed']);
    const maps = '/api/v1/namespaces/default/configmaps';
    const key = await http.send('POST', maps, configMap(fresh('key'), { 'a b': 'x' }));
    assert.equal(key.status, 422, key.text);
    assert.match(message(key), /data\[a b\]: Invalid value: "a b": a valid config key must consist of/);
    const prefix = await http.send('POST', maps, { ...configMap(''), metadata: { generateName: 'UP' } });
    assert.match(message(prefix), /metadata\.generateName: Invalid value: "UP": a (?:lowercase RFC 1123|DNS-1123) subdomain/);
    const finalizer = await http.send('POST', maps, configMap(fresh('held'), {}, { finalizers: ['x'] }));
    assert.match(
      message(finalizer),
      /metadata\.finalizers\[0\]: Invalid value: "x": name is neither a standard finalizer name nor is it fully qualified/,
    );
  });
}
