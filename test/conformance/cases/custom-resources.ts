import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, conformance, fresh, message, since, newNamespace } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { AGE } from '../kubectl.ts';
import { until } from '../../../src/testing/until.ts';
import { definition, GROUP, KITS, kit, widget, WIDGETS } from '../widgets.ts';

const CRDS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export function customResourceCases(holder: Holder): void {
  const rejected = async (
    fields: Fields,
  ): Promise<{ readonly text: string; readonly causes: readonly Fields[]; readonly name: string }> => {
    const name = fresh('bad');
    const reply = await conformance(holder).http.send('POST', WIDGETS, widget(name, fields));
    assert.equal(reply.status, 422, reply.text);
    assert.equal(reply.body['reason'], 'Invalid');
    assert.equal(at(reply.body, 'details', 'kind'), 'Widget');
    return { text: message(reply), causes: at(reply.body, 'details', 'causes') as Fields[], name };
  };

  test('a definition becomes established', async () => {
    const { http } = conformance(holder);
    const crd = await http.get(`${CRDS}/widgets.${GROUP}`);
    const conditions = at(crd.body, 'status', 'conditions') as Fields[];
    const established = conditions.find((condition) => condition['type'] === 'Established');
    assert.deepEqual(
      [established?.['status'], established?.['reason'], established?.['message']],
      ['True', 'InitialNamesAccepted', 'the initial names have been accepted'],
    );
    assert.deepEqual(at(crd.body, 'status', 'storedVersions'), ['v1']);
    assert.equal(at(crd.body, 'status', 'acceptedNames', 'kind'), 'Widget');
    assert.equal(at(crd.body, 'spec', 'conversion', 'strategy'), 'None');
    assert.equal(at(crd.body, 'spec', 'names', 'listKind'), 'WidgetList');
  });

  test('the server rejects an invalid definition', async () => {
    const { http } = conformance(holder);
    const named = definition('gadgets', 'Gadget', 'Cluster');
    const wrong = await http.send('POST', CRDS, { ...named, metadata: { name: 'other.lab.example.com' } });
    assert.equal(wrong.status, 422);
    assert.match(
      message(wrong),
      /metadata\.name: Invalid value: "other\.lab\.example\.com": must be spec\.names\.plural\+"\."\+spec\.group/,
    );
    const untyped = structuredClone(named);
    delete (at(untyped, 'spec', 'versions', 0, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties', 'cidr') as Fields)['type'];
    const structural = await http.send('POST', CRDS, untyped);
    assert.equal(structural.status, 422);
    assert.match(
      message(structural),
      /spec\.validation\.openAPIV3Schema\.properties\[spec\]\.properties\[cidr\]\.type: Required value: must not be empty for specified object fields/,
    );
  });

  test('defaults are filled in, unknown fields dropped', async () => {
    const { http } = conformance(holder);
    const name = fresh('pruned');
    const created = await http.send('POST', WIDGETS, {
      ...widget(name, { unknown: 1, ports: [{ port: 80, other: true }], extra: { any: { thing: 1 } }, labels: { a: 'b' } }),
      more: {},
    });
    assert.equal(created.status, 201, created.text);
    assert.deepEqual(created.body['spec'], {
      cidr: '10.0.0.0/16',
      mode: 'routed',
      replicas: 1,
      ports: [{ port: 80, protocol: 'TCP' }],
      extra: { any: { thing: 1 } },
      labels: { a: 'b' },
    });
    assert.equal(created.body['more'], undefined);
  });

  test('a null becomes the default, stays if the field is nullable, and is dropped otherwise', async () => {
    const { http } = conformance(holder);
    const created = await http.send('POST', WIDGETS, widget(fresh('null'), { mode: null, optional: null }));
    assert.equal(created.status, 201, created.text);
    assert.equal(at(created.body, 'spec', 'mode'), 'routed');
    assert.equal(at(created.body, 'spec', 'optional'), null);
    const dropped = await http.send('POST', WIDGETS, widget(fresh('null'), { mtu: null }));
    assert.deepEqual(dropped.body['spec'], { cidr: '10.0.0.0/16', mode: 'routed', replicas: 1 });
  });

  test('a pattern has the syntax of Go, with five kinds of white space', async () => {
    const { http } = conformance(holder);
    for (const text of ['a\u00a0b', 'a\u2028b', 'a\u000bb']) {
      const taken = await http.send('POST', WIDGETS, widget(fresh('go'), { word: text }));
      assert.equal(taken.status, 201, `${JSON.stringify(text)}: ${taken.text}`);
    }
    for (const text of ['a b', 'a\tb', 'a\rb', '']) {
      const { text: said } = await rejected({ word: text });
      assert.ok(said.includes(String.raw`spec.word in body should match '^[^/\s]+$'`), said);
    }
  });

  test('wrong types', async () => {
    const { text, name, causes } = await rejected({ mtu: 'big' });
    assert.equal(
      text,
      `Widget.lab.example.com "${name}" is invalid: spec.mtu: Invalid value: "string": spec.mtu in body must be of type integer: "string"`,
    );
    assert.equal(causes[0]?.['field'], 'spec.mtu');
    assert.match(
      (await rejected({ tags: 'one' })).text,
      /spec\.tags: Invalid value: "string": spec\.tags in body must be of type array: "string"$/,
    );
    assert.match(
      (await rejected({ enabled: 'yes' })).text,
      /spec\.enabled: Invalid value: "string": spec\.enabled in body must be of type boolean: "string"$/,
    );
    assert.match(
      (await rejected({ cidr: 5 })).text,
      /spec\.cidr: Invalid value: "integer": spec\.cidr in body must be of type string: "integer"$/,
    );
    assert.match(
      (await rejected({ labels: { a: 1 } })).text,
      /spec\.labels\.a: Invalid value: "integer": spec\.labels\.a in body must be of type string: "integer"$/,
    );
    assert.match(
      (await rejected({ ports: [{ port: 'x' }] })).text,
      /spec\.ports\[0\]\.port: Invalid value: "string": spec\.ports\[0\]\.port in body must be of type integer: "string"$|spec\.ports\.port: Invalid value: "string": spec\.ports\.port in body must be of type integer: "string"$/,
    );
    assert.match(
      (await rejected({ port: true })).text,
      /spec\.port: Invalid value: "boolean": spec\.port in body must be of type integer,string: "boolean"/,
    );
  });

  test('enums, bounds, lengths, patterns', async () => {
    const enumerated = await rejected({ protocol: 'IPv5' });
    assert.equal(
      enumerated.text,
      `Widget.lab.example.com "${enumerated.name}" is invalid: spec.protocol: Unsupported value: "IPv5": supported values: "IPv4", "IPv6", "Dual"`,
    );
    assert.equal(enumerated.causes[0]?.['reason'], 'FieldValueNotSupported');
    assert.equal(enumerated.causes[0]?.['message'], 'Unsupported value: "IPv5": supported values: "IPv4", "IPv6", "Dual"');
    assert.match(
      (await rejected({ mtu: 1 })).text,
      /spec\.mtu: Invalid value: 1: spec\.mtu in body should be greater than or equal to 68$/,
    );
    assert.match(
      (await rejected({ mtu: 70000 })).text,
      /spec\.mtu: Invalid value: 70000: spec\.mtu in body should be less than or equal to 65535$/,
    );
    assert.match(
      (await rejected({ pattern: 'ABC' })).text,
      /spec\.pattern: Invalid value: "ABC": spec\.pattern in body should match '\^\[a-z\]\+\$'$/,
    );
    assert.match(
      (await rejected({ short: 'x' })).text,
      /spec\.short: Invalid value: "x": spec\.short in body should be at least 2 chars long$/,
    );
    assert.match(
      (await rejected({ pattern: 'abcdefghijk' })).text,
      /spec\.pattern: (Too long: may not be (longer than 8|more than 8 bytes)|Invalid value: "abcdefghijk": spec\.pattern in body should be at most 8 chars long)$/,
    );
    assert.match(
      (await rejected({ tags: ['a', 'b', 'c', 'd'] })).text,
      /spec\.tags: (Too many: 4: must have at most 3 items|Invalid value: .*spec\.tags in body should have at most 3 items)$/,
    );
  });

  test('required fields, and several faults in one answer', async () => {
    const { http } = conformance(holder);
    const name = fresh('bad');
    const missing = await http.send('POST', WIDGETS, { apiVersion: `${GROUP}/v1`, kind: 'Widget', metadata: { name }, spec: {} });
    assert.equal(message(missing), `Widget.lab.example.com "${name}" is invalid: spec.cidr: Required value`);
    assert.equal(at(missing.body, 'details', 'causes', 0, 'reason'), 'FieldValueRequired');
    const { text } = await rejected({ protocol: 'IPv5', mtu: 1 });
    assert.match(text, /is invalid: \[spec\.(mtu|protocol): .*, spec\.(mtu|protocol): .*\]$/);
  });

  test('status and spec are written apart', async () => {
    const { http } = conformance(holder);
    const name = fresh('split');
    const created = await http.send('POST', WIDGETS, { ...widget(name), status: { available: 5 } });
    assert.equal(created.body['status'], undefined);
    const status = await http.patch(`${WIDGETS}/${name}/status`, 'merge-patch', {
      status: { available: 7 },
      spec: { mtu: 9000 },
      metadata: { labels: { no: 'thing' } },
    });
    assert.deepEqual(status.body['status'], { available: 7 });
    assert.equal(at(status.body, 'spec', 'mtu'), undefined);
    assert.equal(at(status.body, 'metadata', 'labels'), undefined);
    assert.equal(at(status.body, 'metadata', 'generation'), 1);
    const main = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { status: { available: 9 }, spec: { mtu: 1400 } });
    assert.deepEqual(main.body['status'], { available: 7 });
    assert.equal(at(main.body, 'metadata', 'generation'), 2);
    const labelled = await http.patch(`${WIDGETS}/${name}`, 'merge-patch', { metadata: { labels: { a: 'b' } } });
    assert.equal(at(labelled.body, 'metadata', 'generation'), 2);
    const put = await http.send('PUT', `${WIDGETS}/${name}/status`, {
      ...labelled.body,
      status: { available: 1, conditions: [{ type: 'Ready', status: 'True' }] },
    });
    assert.equal(put.status, 200, put.text);
    assert.equal(at((await http.get(`${WIDGETS}/${name}/status`)).body, 'status', 'available'), 1);
  });

  test('without a status subresource the status is a field', async () => {
    const { http } = conformance(holder);
    const path = `/apis/${GROUP}/v1/plains`;
    const name = fresh('plain');
    const created = await http.send('POST', path, {
      apiVersion: `${GROUP}/v1`,
      kind: 'Plain',
      metadata: { name },
      spec: { cidr: 'x' },
      status: { available: 1 },
    });
    assert.deepEqual(created.body['status'], { available: 1 });
    const patched = await http.patch(`${path}/${name}`, 'merge-patch', { status: { available: 2 } });
    assert.equal(at(patched.body, 'metadata', 'generation'), 2);
    assert.equal((await http.patch(`${path}/${name}/status`, 'merge-patch', { status: { available: 3 } })).status, 404);
  });

  test('numbers are stored with the precision of an API server', async () => {
    const { http } = conformance(holder);
    const name = fresh('big');
    await http.send('POST', WIDGETS, widget(name));
    const patch = async (status: string): Promise<string> =>
      (await http.send('PATCH', `${WIDGETS}/${name}/status`, `{"status":${status}}`, { 'Content-Type': 'application/merge-patch+json' }))
        .text;
    assert.match(await patch('{"used":9007199254740993}'), /"used":9007199254740993[,}]/);
    assert.match(await patch('{"used":9223372036854775807}'), /"used":9223372036854775807[,}]/);
    assert.match(await patch('{"used":-9223372036854775808}'), /"used":-9223372036854775808[,}]/);
    assert.match(await patch('{"available":18446744073709551614}'), /"available":18446744073709552000[,}]/);
    assert.match(await patch('{"available":1.5}'), /"available":1\.5[,}]/);
    assert.match(await patch('{"available":79228162514264337593543950336}'), /"available":7\.922816251426434e\+28[,}]/);
    // No API server checks a number against its format, and a fraction in the tenth digit counts as none.
    assert.match(await patch('{"count":9007199254740993}'), /"count":9007199254740993[,}]/);
    assert.match(await patch('{"count":123456789.123456789}'), /"count":123456789\.12345679[,}]/);
    assert.match(await patch('{"count":1234567.123456789}'), /"reason":"Invalid"/);
    assert.match(await patch('{"count":9223372036854775808}'), /"reason":"Invalid"/);
    const read = await http.get(`${WIDGETS}/${name}`);
    assert.match(read.text, /"used":-9223372036854775808[,}]/);
    const again = await http.send('PUT', `${WIDGETS}/${name}`, read.text);
    assert.equal(at(again.body, 'metadata', 'resourceVersion'), at(read.body, 'metadata', 'resourceVersion'));
  });

  test('int or string', async () => {
    const { http } = conformance(holder);
    assert.equal(at((await http.send('POST', WIDGETS, widget(fresh('ios'), { port: 80 }))).body, 'spec', 'port'), 80);
    assert.equal(at((await http.send('POST', WIDGETS, widget(fresh('ios'), { port: 'http' }))).body, 'spec', 'port'), 'http');
    const name = fresh('ios');
    const rejected = async (fields: Fields): Promise<string> =>
      message(await http.send('POST', WIDGETS, widget(name, fields))).replace(`Widget.lab.example.com "${name}" is invalid: `, '');
    const plain = 'spec.port: Invalid value: "boolean": spec.port in body must be of type integer,string: "boolean"';
    assert.equal(await rejected({ port: true }), plain);
    for (const [value, type] of [[true, 'boolean'] as const, [0.5, 'number'] as const, [[], 'array'] as const, [{}, 'object'] as const]) {
      const errors = [
        `spec.amount: Invalid value: "${type}": spec.amount in body must be of type integer,string: "${type}"`,
        '<nil>: Invalid value: "": "spec.amount" must validate at least one schema (anyOf)',
        `spec.amount: Invalid value: "${type}": spec.amount in body must be of type integer: "${type}"`,
      ];
      assert.equal(await rejected({ amount: value }), `[${errors.join(', ')}]`);
    }
    assert.equal(await rejected({ amount: 'x' }), 'spec.amount: Invalid value: "x": spec.amount in body should match \'^[0-9]+m?$\'');
  });

  test('the error of a failing combination is that of its first branch', async () => {
    const { http } = conformance(holder);
    const name = fresh('combined');
    const rejected = async (combined: Fields): Promise<string> =>
      message(await http.send('POST', WIDGETS, widget(name, { combined }))).replace(`Widget.lab.example.com "${name}" is invalid: `, '');
    const composite = (path: string, rule: string): string => `<nil>: Invalid value: "": "spec.combined.${path}" must ${rule}`;
    assert.equal(
      await rejected({ one: {} }),
      `[${composite('one', 'validate one and only one schema (oneOf). Found none valid')}, spec.combined.one.a: Required value]`,
    );
    assert.equal(
      await rejected({ one: { a: '', b: '' } }),
      composite('one', 'validate one and only one schema (oneOf). Found 2 valid alternatives'),
    );
    assert.equal(
      await rejected({ any: {} }),
      `[${composite('any', 'validate at least one schema (anyOf)')}, spec.combined.any.a: Required value]`,
    );
    assert.equal(
      await rejected({ all: 'b' }),
      `[spec.combined.all: Invalid value: "b": spec.combined.all in body should match '^a', ${composite('all', 'validate all the schemas (allOf)')}]`,
    );
    assert.equal(await rejected({ not: 'x' }), composite('not', 'not validate the schema (not)'));
  });

  since(holder, 27, 'unknown fields: strict refuses, warn warns, ignore is silent', async () => {
    const { http } = conformance(holder);
    const body = widget(fresh('strict'), { unknown: 1 });
    const strict = await http.send('POST', `${WIDGETS}?fieldValidation=Strict`, body);
    assert.equal(strict.status, 400);
    assert.equal(
      message(strict),
      'Widget in version "v1" cannot be handled as a Widget: strict decoding error: unknown field "spec.unknown"',
    );
    const warned = await http.send('POST', `${WIDGETS}?fieldValidation=Warn`, body);
    assert.equal(warned.status, 201);
    assert.equal(warned.headers['warning'], '299 - "unknown field \\"spec.unknown\\""');
    const ignored = await http.send('POST', `${WIDGETS}?fieldValidation=Ignore`, widget(fresh('strict'), { unknown: 1 }));
    assert.equal(ignored.status, 201);
    assert.equal(ignored.headers['warning'], undefined);
    assert.equal((await http.send('POST', `${WIDGETS}?fieldValidation=Sometimes`, body)).status >= 400, true);
  });

  since(holder, 29, 'rules that compare fields, and old with new', async () => {
    const { http } = conformance(holder);
    const crd = definition('rulers', 'Ruler', 'Cluster');
    const spec = at(crd, 'spec', 'versions', 0, 'schema', 'openAPIV3Schema', 'properties', 'spec') as Fields;
    spec['x-kubernetes-validations'] = [{ rule: '!has(self.mtu) || self.mtu > self.replicas', message: 'mtu must be above replicas' }];
    (at(spec, 'properties', 'cidr') as Fields)['x-kubernetes-validations'] = [{ rule: 'self == oldSelf', message: 'cidr is immutable' }];
    assert.equal((await http.send('POST', CRDS, crd)).status, 201);
    const path = `/apis/${GROUP}/v1/rulers`;
    await until('it is served', async () => (await http.get(path)).status === 200);
    const ruler = (name: string, fields: Fields): Fields => ({
      apiVersion: `${GROUP}/v1`,
      kind: 'Ruler',
      metadata: { name },
      spec: { cidr: 'x', ...fields },
    });
    const broken = await http.send('POST', path, ruler('r', { mtu: 100, replicas: 200 }));
    assert.equal(broken.status, 422);
    assert.equal(message(broken), 'Ruler.lab.example.com "r" is invalid: spec: Invalid value: "object": mtu must be above replicas');
    assert.equal((await http.send('POST', path, ruler('r', { mtu: 100 }))).status, 201);
    const changed = await http.patch(`${path}/r`, 'merge-patch', { spec: { cidr: 'y' } });
    assert.equal(message(changed), 'Ruler.lab.example.com "r" is invalid: spec.cidr: Invalid value: "string": cidr is immutable');
    await http.send('DELETE', `${CRDS}/rulers.${GROUP}`);
  });

  test('scale', async () => {
    const { http } = conformance(holder);
    const name = fresh('scaled');
    await http.send('POST', WIDGETS, widget(name, { replicas: 2 }));
    const scale = await http.get(`${WIDGETS}/${name}/scale`);
    assert.equal(scale.body['kind'], 'Scale');
    assert.equal(at(scale.body, 'spec', 'replicas'), 2);
    const put = await http.send('PUT', `${WIDGETS}/${name}/scale`, { ...scale.body, spec: { replicas: 5 } });
    assert.equal(at(put.body, 'spec', 'replicas'), 5);
    const read = await http.get(`${WIDGETS}/${name}`);
    assert.equal(at(read.body, 'spec', 'replicas'), 5);
    assert.equal(at(read.body, 'metadata', 'generation'), 2);
  });

  test('namespaced kinds are listed over all namespaces', async () => {
    const { http } = conformance(holder);
    const [one, two] = [await newNamespace(holder), await newNamespace(holder)];
    await http.send('POST', KITS(one), kit('k'));
    await http.send('POST', KITS(two), kit('k'));
    const all = (await http.get(`/apis/${GROUP}/v1/kits`)).body['items'] as Fields[];
    assert.deepEqual(all.filter((item) => [one, two].includes(String(at(item, 'metadata', 'namespace')))).length, 2);
    assert.equal(((await http.get(KITS(one))).body['items'] as Fields[]).length, 1);
  });

  test('printer columns', async () => {
    const { http } = conformance(holder);
    const name = fresh('row');
    await http.send('POST', WIDGETS, widget(name, { mtu: 1400, tags: ['a', 'b'] }));
    await http.patch(`${WIDGETS}/${name}/status`, 'merge-patch', {
      status: {
        conditions: [
          { type: 'Other', status: 'False' },
          { type: 'Ready', status: 'True' },
        ],
      },
    });
    const reply = await http.get(`${WIDGETS}/${name}`, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
    const columns = (reply.body['columnDefinitions'] as Fields[]).map((column) => [column['name'], column['type'], column['priority']]);
    assert.deepEqual(columns, [
      ['Name', 'string', 0],
      ['CIDR', 'string', 0],
      ['MTU', 'integer', 0],
      ['Ready', 'string', 0],
      ['Tags', 'string', 1],
      ['Age', 'date', 0],
    ]);
    const cells = at(reply.body, 'rows', 0, 'cells') as unknown[];
    assert.deepEqual(cells.slice(0, 5), [name, '10.0.0.0/16', 1400, 'True', '["a","b"]']);
    assert.match(String(cells[5]), new RegExp(`^(?:${AGE})$`));
  });

  test("a cell has its column's type, printed as a server written in Go does", async () => {
    const { http } = conformance(holder);
    const crd = {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'CustomResourceDefinition',
      metadata: { name: `gauges.${GROUP}` },
      spec: {
        group: GROUP,
        scope: 'Cluster',
        names: { plural: 'gauges', singular: 'gauge', kind: 'Gauge', listKind: 'GaugeList' },
        versions: [
          {
            name: 'v1',
            served: true,
            storage: true,
            schema: {
              openAPIV3Schema: {
                type: 'object',
                properties: {
                  any: { 'x-kubernetes-preserve-unknown-fields': true },
                  tenths: { type: 'number', multipleOf: 0.1 },
                  time: { type: 'string', format: 'date-time' },
                },
              },
            },
            additionalPrinterColumns: [
              ...['integer', 'number', 'boolean', 'string', 'date'].map((type) => ({ name: type, type, jsonPath: '.any' })),
              { name: 'last', type: 'string', jsonPath: '.any[-1:]' },
            ],
          },
        ],
      },
    };
    assert.equal((await http.send('POST', CRDS, crd)).status, 201);
    const path = `/apis/${GROUP}/v1/gauges`;
    const gauge = (name: string, fields: string): string =>
      `{"apiVersion":"${GROUP}/v1","kind":"Gauge","metadata":{"name":"${name}"},${fields}}`;
    await until('it takes objects', async () => (await http.send('POST', path, gauge(fresh('gauge'), '"any":1'))).status === 201);
    const cells = async (any: string): Promise<string> => {
      const name = fresh('gauge');
      assert.equal((await http.send('POST', path, gauge(name, `"any":${any}`))).status, 201, any);
      const reply = await http.get(`${path}/${name}`, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' });
      const shown = /"cells":\["[^"]*",(.*?)\],"object"/.exec(reply.text)?.[1] ?? reply.text;
      return shown.replaceAll(/(?<!\\)\\u003c/g, '<').replaceAll(/(?<!\\)\\u003e/g, '>');
    };
    assert.equal(await cells('1'), '1,1,null,"1",null,null');
    assert.equal(await cells('4611686018427387904'), '4611686018427387904,4611686018427388000,null,"4611686018427387904",null,null');
    assert.equal(await cells('-1.5'), '-1,-1.5,null,"-1.5",null,null');
    assert.equal(await cells('2097151.5'), '2097151,2097151.5,null,"2.0971515e+06",null,null');
    assert.equal(await cells('0.00001'), '0,0.00001,null,"1e-05",null,null');
    assert.equal(await cells('18446744073709551616'), '-9223372036854775808,18446744073709552000,null,"1.8446744073709552e+19",null,null');
    assert.equal(await cells('true'), 'null,null,true,"true",null,null');
    assert.equal(await cells('["<a>",null]'), 'null,null,null,"[\\"\\\\u003ca\\\\u003e\\",null]",null,"<no value>"');
    assert.equal(await cells('["a",{"b":[2]}]'), 'null,null,null,"[\\"a\\",{\\"b\\":[2]}]",null,"{\\"b\\":[2]}"');
    for (const wrong of ['2020-01-01', 'soon', '2020-02-30T00:00:00Z', '2020-01-01T24:00:00Z', '2020-01-01t00:00:00Z'])
      assert.match(await cells(`"${wrong}"`), /^null,null,null,"[^"]*","<invalid>",null$/, wrong);
    for (const none of ['', 'null', '0001-01-01T00:00:00Z'])
      assert.match(await cells(`"${none}"`), /^null,null,null,"[^"]*","<unknown>",null$/, none);
    const status = async (fields: string): Promise<string> => {
      const reply = await http.send('POST', path, gauge(fresh('gauge'), fields));
      return reply.status === 201 ? 'created' : message(reply).replace(/^.*? is invalid: /, '');
    };
    assert.equal(await status('"tenths":0.3'), 'created');
    assert.equal(await status('"tenths":1234567.85'), 'tenths: Invalid value: 1.23456785e+06: tenths in body should be a multiple of 0.1');
    assert.equal(await status('"time":"2024-02-29t10:00:00.5z"'), 'created');
    for (const wrong of ['2023-02-29T00:00:00Z', '2020-01-01T24:00:00Z'])
      assert.match(await status(`"time":"${wrong}"`), /^time: Invalid value: .* must be of type date-time/);
  });

  test('a definition is deleted with its objects', async () => {
    const { http } = conformance(holder);
    await http.send('POST', CRDS, definition('goers', 'Goer', 'Cluster'));
    const path = `/apis/${GROUP}/v1/goers`;
    await until('it is served', async () => (await http.get(path)).status === 200);
    await until(
      'it takes objects',
      async () =>
        (
          await http.send('POST', path, {
            apiVersion: `${GROUP}/v1`,
            kind: 'Goer',
            metadata: { name: 'held', finalizers: ['example.com/hold'] },
            spec: { cidr: 'x' },
          })
        ).status === 201,
    );
    await http.send('POST', path, { apiVersion: `${GROUP}/v1`, kind: 'Goer', metadata: { name: 'free' }, spec: { cidr: 'x' } });
    const deleted = await http.send('DELETE', `${CRDS}/goers.${GROUP}`);
    assert.equal(deleted.status, 200);
    await until('the free one is gone', async () => (await http.get(`${path}/free`)).status === 404);
    await until(
      'the held one is being deleted',
      async () => at((await http.get(`${path}/held`)).body, 'metadata', 'deletionTimestamp') !== undefined,
    );
    const terminating = at((await http.get(`${CRDS}/goers.${GROUP}`)).body, 'status', 'conditions') as Fields[];
    assert.ok(terminating.some((condition) => condition['type'] === 'Terminating' && condition['status'] === 'True'));
    await http.patch(`${path}/held`, 'merge-patch', { metadata: { finalizers: null } });
    await until('the definition is gone', async () => (await http.get(`${CRDS}/goers.${GROUP}`)).status === 404);
    await until('its path is gone', async () => (await http.get(path)).status === 404);
  });

  test('a changed definition is served', async () => {
    const { http } = conformance(holder);
    await http.send('POST', CRDS, definition('movers', 'Mover', 'Cluster'));
    const path = `/apis/${GROUP}/v1/movers`;
    await until('it is served', async () => (await http.get(path)).status === 200);
    const patched = await http.patch(`${CRDS}/movers.${GROUP}`, 'json-patch', [
      { op: 'add', path: '/spec/versions/0/schema/openAPIV3Schema/properties/spec/properties/fresh', value: { type: 'string' } },
    ]);
    assert.equal(patched.status, 200, patched.text);
    await until('the new field is kept', async () => {
      const reply = await http.send('POST', path, {
        apiVersion: `${GROUP}/v1`,
        kind: 'Mover',
        metadata: { name: fresh('m') },
        spec: { cidr: 'x', fresh: 'kept' },
      });
      return at(reply.body, 'spec', 'fresh') === 'kept';
    });
    await http.send('DELETE', `${CRDS}/movers.${GROUP}`);
    // Other cases list all kinds of a category, which must not include one that is about to be removed.
    await until('its path is gone', async () => (await http.get(path)).status === 404);
  });
}
