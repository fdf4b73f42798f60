/** Lists, watches, patches and deletions with invalid tokens, versions, selectors and bodies; an object that does not match the path. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, message } from '../context.ts';
import { WIDGETS, widget } from '../widgets.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
const tokenOf = (fields: object): string => Buffer.from(JSON.stringify(fields)).toString('base64url');

export function nonsenseCases(holder: Holder): void {
  test('the error of a list names the invalid option', async () => {
    const { http } = conformance(holder);
    const number = (text: string, why: string): RegExp => new RegExp(`^strconv\\.ParseInt: parsing "${text}": ${why}$`);
    const version = (text: string, why: string): RegExp =>
      new RegExp(
        `^(?:invalid resource version: )?resourceVersion: Invalid value: "${text}": strconv\\.ParseUint: parsing "${text}": ${why}$`,
      );
    const key = (why: string): RegExp => new RegExp(`^invalid continue token: continue key is not valid: ${why}$`);
    const rejected: readonly (readonly [query: string, status: readonly number[], pattern: RegExp])[] = [
      ['continue=a%20b', [400], key('illegal base64 data at input byte 1')],
      ['continue=bad', [400], key("invalid character 'm' looking for beginning of value")],
      ['continue=e30', [400], key('server does not recognize this encoded version (?:"")?')],
      [`continue=${tokenOf({ v: 'x', rv: 1, start: 'p' })}`, [400], key('server does not recognize this encoded version "?x"?')],
      [`continue=${tokenOf({ v: 'meta.k8s.io/v1', rv: 0, start: 'p' })}`, [400], key('incorrect encoded start resourceVersion .*')],
      ['continue=e30&resourceVersion=1', [400], key('server does not .*')],
      ['limit=', [400], number('', 'invalid syntax')],
      ['limit=99999999999999999999', [400], number('9+', 'value out of range')],
      ['timeoutSeconds=', [400], number('', 'invalid syntax')],
      // An internal error before 1.21.
      ['resourceVersion=-1', [400, 500], version('-1', 'invalid syntax')],
      ['resourceVersion=99999999999999999999', [400, 500], version('9+', 'value out of range')],
      ['resourceVersionMatch=exact', [422], /is forbidden unless resourceVersion is provided, .*Unsupported value: "exact"/],
      ['continue=e30&resourceVersion=1&resourceVersionMatch=Exact', [422], /resourceVersionMatch is forbidden when continue is provided$/],
      ['labelSelector=example.com%2F%3Db', [400], /name part must be non-empty; name part must consist of/],
    ];
    for (const path of [MAPS, WIDGETS])
      for (const [query, status, pattern] of rejected) {
        const reply = await http.get(`${path}?${query}`);
        assert.ok(status.includes(reply.status), `${query}: ${reply.status} ${reply.text}`);
        assert.match(message(reply), pattern, query);
      }
  });

  test('a field selector of a kind that has none but name and namespace; commas in values are escaped', async () => {
    const { http } = conformance(holder);
    for (const path of [MAPS, '/apis/apps/v1/deployments']) {
      const unknown = await http.get(`${path}?fieldSelector=spec.x%3D1`);
      assert.deepEqual(
        [unknown.status, message(unknown)],
        [400, '"spec.x" is not a known field selector: only "metadata.name", "metadata.namespace"'],
      );
      const escaped = await http.get(`${path}?fieldSelector=${encodeURIComponent('metadata.name=a\\,b')}`);
      assert.deepEqual([escaped.status, escaped.body['items']], [200, []], escaped.text);
    }
  });

  test('the path of one object cannot be watched, and neither can an exact version', async () => {
    const { http } = conformance(holder);
    const name = fresh('unwatched');
    await http.send('POST', WIDGETS, widget(name));
    const one = await http.get(`${WIDGETS}/${name}?watch=1`);
    assert.deepEqual([one.status, one.body['kind'], at(one.body, 'metadata', 'name')], [200, 'Widget', name], one.text);
    assert.equal((await http.get(`${WIDGETS}/${fresh('nobody')}?watch=1`)).status, 404);
    const exact = await http.get(`${WIDGETS}?watch=1&timeoutSeconds=1&resourceVersion=1&resourceVersionMatch=Exact`);
    assert.equal(exact.status, 422, exact.text);
    assert.match(message(exact), /resourceVersionMatch is forbidden for watch/);
    await http.send('DELETE', `${WIDGETS}/${name}`);
  });

  test('patches that are no JSON, or of another shape, change nothing', async () => {
    const { http } = conformance(holder);
    const name = fresh('patched');
    const created = await http.send('POST', MAPS, configMap(name, { a: '1' }));
    const path = `${MAPS}/${name}`;
    for (const body of ['', 'x', '{', '{"data":{"b":"2"}} x', 'a: b']) {
      const [json, merge] = [await http.patch(path, 'json-patch', body), await http.patch(path, 'merge-patch', body)];
      assert.equal(json.status, 400, body);
      assert.match(message(json), /^(?:error decoding patch: )?(?:unexpected end of JSON input|invalid character '.' .+)$/, body);
      // An internal error before 1.27.
      assert.ok([400, 500].includes(merge.status), `${body}: ${merge.text}`);
    }
    const strategic = await http.patch(path, 'strategic-merge-patch', '[]');
    assert.deepEqual(
      [strategic.status, message(strategic)],
      [400, 'json: cannot unmarshal array into Go value of type map[string]interface {}'],
    );
    for (const [type, body] of [['strategic-merge-patch', 'null'] as const, ['json-patch', 'null'] as const])
      assert.equal((await http.patch(path, type, body)).status, 200, type);
    assert.match(
      message(await http.patch(path, 'json-patch', '"s"')),
      /cannot unmarshal string into Go value of type (?:jsonpatch\.Patch|\[\]handlers\.jsonPatchOp)$/,
    );
    assert.deepEqual((await http.get(path)).body, created.body);
    assert.equal((await http.patch(`${MAPS}/${fresh('nobody')}`, 'merge-patch', '{')).status, 404, 'what is not there is said first');
    await http.send('DELETE', path);
  });

  test("an update cannot change an object's namespace", async () => {
    const { http } = conformance(holder);
    const name = fresh('placed');
    await http.send('POST', MAPS, configMap(name));
    const elsewhere = { metadata: { namespace: 'elsewhere' } };
    for (const reply of [
      await http.send('PUT', `${MAPS}/${name}`, configMap(name, {}, elsewhere.metadata)),
      await http.send('PUT', `${MAPS}/${fresh('nobody')}`, configMap(name, {}, elsewhere.metadata)),
      await http.patch(`${MAPS}/${name}`, 'merge-patch', elsewhere),
    ]) {
      assert.equal(reply.status, 400, reply.text);
      assert.match(message(reply), /does not match the (?:namespace (?:sent )?on the request|name on the URL)/);
    }
    await http.send('DELETE', `${MAPS}/${name}`);
  });

  test('the body of a deletion must be DeleteOptions, and an invalid one deletes nothing', async () => {
    const { http } = conformance(holder);
    for (const [path, object] of [
      [MAPS, configMap],
      [WIDGETS, widget],
    ] as const) {
      const name = fresh('options');
      await http.send('POST', path, object(name, {}));
      for (const body of ['[]', '"x"', '{', '{"gracePeriodSeconds":"x"}']) {
        // A real API server answers with an internal error.
        const reply = await http.send('DELETE', `${path}/${name}`, body);
        assert.ok([400, 500].includes(reply.status), `${body}: ${reply.text}`);
      }
      const dryRun = await http.send('DELETE', `${path}/${name}`, { dryRun: ['Some'] });
      assert.equal(dryRun.status, 422, dryRun.text);
      assert.match(
        message(dryRun),
        /^DeleteOptions\.meta\.k8s\.io "" is invalid: dryRun: Unsupported value: (?:\[\]string\{"Some"\}|\["Some"\])/,
      );
      for (const query of ['resourceVersion=abc', 'limit=x', 'timeoutSeconds=x']) {
        const reply = await http.send('DELETE', `${path}?fieldSelector=metadata.name%3D${name}&${query}`);
        assert.ok([400, 500].includes(reply.status), `${query}: ${reply.text}`);
      }
      assert.equal((await http.get(`${path}/${name}`)).status, 200);
      assert.equal((await http.send('DELETE', `${path}/${name}?dryRun=All`, { propagationPolicy: 'Background' })).status, 200);
      assert.equal((await http.get(`${path}/${name}`)).status, 404, 'the query is not asked beside a body');
    }
  });

  test('a body without a content type is JSON; a patch is not an object; kinds are strings', async () => {
    const { http } = conformance(holder);
    const dry = `${MAPS}?dryRun=All`;
    assert.equal((await http.send('POST', dry, configMap(fresh('typed')), { 'Content-Type': '' })).status, 201);
    const patch = await http.send('POST', dry, configMap(fresh('typed')), { 'Content-Type': 'application/merge-patch+json' });
    assert.equal(patch.status, 415, patch.text);
    for (const field of ['kind', 'apiVersion']) {
      const reply = await http.send('POST', dry, { ...configMap(fresh('typed')), [field]: 5 });
      assert.equal(reply.status, 400);
      assert.match(message(reply), new RegExp(`json: cannot unmarshal number into Go struct field \\.${field} of type string`));
    }
    assert.match(message(await http.send('POST', dry, '{"a":1} x')), /invalid character 'x' after top-level value/);
  });

  test('a ConfigMap and a Secret have at most a mebibyte', async () => {
    const { http } = conformance(holder);
    const much = 'x'.repeat(1024 * 1024 + 1);
    const map = await http.send('POST', `${MAPS}?dryRun=All`, configMap(fresh('big'), { a: much }));
    const secret = await http.send('POST', '/api/v1/namespaces/default/secrets?dryRun=All', {
      ...configMap(fresh('big')),
      ...{ kind: 'Secret', data: { a: Buffer.from(much).toString('base64') } },
    });
    for (const reply of [map, secret]) {
      assert.equal(reply.status, 422, reply.text.slice(0, 200));
      assert.match(message(reply), /(?:\[\]|data): Too long: (?:must have at most|may not be more than) 1048576 bytes$/);
    }
  });

  test('the error of a verb that a custom kind does not serve names it; HEAD is a read', async () => {
    const { http } = conformance(holder);
    const name = fresh('verbs');
    await http.send('POST', WIDGETS, widget(name));
    const status = await http.send('POST', `${WIDGETS}/${name}/status`, {});
    assert.deepEqual([status.status, message(status)], [405, 'create is not supported on resources of kind "widgets.lab.example.com"']);
    assert.equal((await http.send('HEAD', `${WIDGETS}/${name}`)).status, 200);
    await http.send('DELETE', `${WIDGETS}/${name}`);
  });
}
