import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, message, newNamespace, newNode, pod, version } from '../context.ts';
import type { Fields, RawReply } from '../https-client.ts';
import { WIDGETS } from '../widgets.ts';

function names(reply: RawReply): unknown[] {
  return (reply.body['items'] as Fields[]).map((item) => at(item, 'metadata', 'name'));
}

export function collectionCases(holder: Holder): void {
  const filled = async (count: number): Promise<string> => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    for (let index = 0; index < count; index++)
      await http.send(
        'POST',
        path,
        configMap(`c${index}`, {}, { labels: { parity: index % 2 === 0 ? 'even' : 'odd', index: String(index) } }),
      );
    return path;
  };

  test('lists are in order and carry a resourceVersion', async () => {
    const { http } = conformance(holder);
    const path = await filled(3);
    const reply = await http.get(path);
    assert.equal(reply.body['kind'], 'ConfigMapList');
    assert.deepEqual(
      names(reply).filter((name) => name !== 'kube-root-ca.crt'),
      ['c0', 'c1', 'c2'],
    );
    assert.match(version(reply), /^\d+$/);
    assert.equal(at(reply.body, 'metadata', 'continue'), undefined);
  });

  test('an empty list has items', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    assert.deepEqual((await http.get(`/api/v1/namespaces/${namespace}/secrets?labelSelector=no=thing`)).body['items'], []);
  });

  test('label selectors', async () => {
    const { http } = conformance(holder);
    const path = await filled(4);
    const select = async (selector: string): Promise<unknown[]> =>
      names(await http.get(`${path}?labelSelector=${encodeURIComponent(selector)}`)).filter((name) => name !== 'kube-root-ca.crt');
    assert.deepEqual(await select('parity=even'), ['c0', 'c2']);
    assert.deepEqual(await select('parity==even,index!=0'), ['c2']);
    assert.deepEqual(await select('index in (1, 3)'), ['c1', 'c3']);
    assert.deepEqual(await select('parity,index notin (1,3)'), ['c0', 'c2']);
    assert.deepEqual(await select('!parity'), []);
    assert.deepEqual(await select('index>1'), ['c2', 'c3']);
    const broken = await http.get(`${path}?labelSelector=${encodeURIComponent('=a')}`);
    assert.equal(broken.status, 400);
  });

  test('the error of an invalid selector names its fault', async () => {
    const { http, kubectl } = conformance(holder);
    const maps = '/api/v1/namespaces/default/configmaps';
    const rejected: readonly (readonly [selector: string, pattern: RegExp])[] = [
      ['q=r=s', /^found '=', expected: ',' or 'end of string'$/],
      ['!!!', /^unable to parse requirement: found '!', expected: identifier$/],
      ['a b', /^unable to parse requirement: found 'b', expected: /],
      ['a in', /^unable to parse requirement: found '' expected: '\('$/],
      ['a in (b', /^unable to parse requirement: found '', expected: ',' or '\)'$/],
      ['a in (b c)', /^unable to parse requirement: found 'c', expected: ',' or '\)'$/],
      [',', /^found ',', expected: !, identifier, or 'end of string'$/],
      ['a,', /^found '', expected: identifier after ','$/],
      ['=b', /^found '=', expected: !, identifier, or 'end of string'$/],
      ['a===b', /^unable to parse requirement: found '=', expected: identifier$/],
      ['!a=b', /^found '=', expected: ',' or 'end of string'$/],
      ['a>x', /for 'Gt', 'Lt' operators, the value must be an integer$/],
      ['a/b/c', /"a\/b\/c": a qualified name must consist of .* with an optional DNS subdomain prefix/],
      ['a=-b', /"-b".*: a valid label must be an empty string or consist of/],
      ['k'.repeat(64), /name part must be no more than 63 characters$/],
    ];
    for (const [selector, pattern] of rejected) {
      const reply = await http.get(`${maps}?labelSelector=${encodeURIComponent(selector)}`);
      assert.equal(reply.status, 400, `${selector}: ${reply.text}`);
      assert.match(message(reply), pattern);
    }
    for (const taken of ['a in ()', 'a notin (b,,c)', 'a!=', '!a', ' a , !b ', 'a>1', 'in', 'a=in'])
      assert.equal((await http.get(`${maps}?labelSelector=${encodeURIComponent(taken)}`)).status, 200, taken);
    assert.match(await kubectl.fails(['get', 'cm', '--field-selector', 'metadata.name=a=b']), /unescaped character in value: 61/);
    for (const kind of ['nodes', 'namespaces']) {
      const reply = await http.get(`/api/v1/${kind}?fieldSelector=metadata.namespace%3Dx`);
      assert.deepEqual([reply.status, message(reply)], [400, 'field label not supported: metadata.namespace']);
    }
    for (const [query, given] of [
      ['timeoutSeconds=abc', 'abc'],
      ['limit=1.5', '1.5'],
    ]) {
      const reply = await http.get(`${maps}?${query}`);
      assert.deepEqual([reply.status, message(reply)], [400, `strconv.ParseInt: parsing "${given}": invalid syntax`]);
    }
  });

  test('field selectors', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await http.send('POST', path, pod('here'));
    const node = await newNode(holder);
    await http.send('POST', path, { ...pod('there'), spec: { ...(pod('there')['spec'] as Fields), nodeName: node } });
    const select = async (selector: string): Promise<unknown[]> =>
      names(await http.get(`${path}?fieldSelector=${encodeURIComponent(selector)}`));
    assert.deepEqual(await select('metadata.name=here'), ['here']);
    assert.deepEqual(await select(`spec.nodeName=${node}`), ['there']);
    assert.deepEqual(await select('spec.nodeName='), ['here']);
    assert.deepEqual(await select('status.phase!=Pending'), []);
    assert.deepEqual(await select(`spec.nodeName!=${node},status.phase=Pending`), ['here']);
    const unknown = await http.get(`${path}?fieldSelector=spec.dnsPolicy%3DDefault`);
    assert.equal(unknown.status, 400);
    assert.match(message(unknown), /field label not supported: spec\.dnsPolicy/);
    await http.send('DELETE', `${path}/there?gracePeriodSeconds=0`);
  });

  test('all chunks of a list have one revision', async () => {
    const { http } = conformance(holder);
    const path = await filled(5);
    const selector = 'labelSelector=parity';
    const first = await http.get(`${path}?limit=2&${selector}`);
    assert.deepEqual(names(first), ['c0', 'c1']);
    await http.send('DELETE', `${path}/c3`);
    await http.send('POST', path, configMap('c25', {}, { labels: { parity: 'odd' } }));
    const second = await http.get(
      `${path}?limit=2&${selector}&continue=${encodeURIComponent(String(at(first.body, 'metadata', 'continue')))}`,
    );
    assert.deepEqual(names(second), ['c2', 'c3']);
    assert.equal(version(second), version(first));
    const third = await http.get(
      `${path}?limit=2&${selector}&continue=${encodeURIComponent(String(at(second.body, 'metadata', 'continue')))}`,
    );
    assert.deepEqual(names(third), ['c4']);
    assert.equal(at(third.body, 'metadata', 'continue'), undefined);
    const plain = await http.get('/api/v1/namespaces?limit=1');
    assert.ok(Number(at(plain.body, 'metadata', 'remainingItemCount')) > 0);
    const broken = await http.get(`${path}?limit=2&continue=nonsense`);
    assert.equal(broken.status, 400);
  });

  test('a resourceVersion from the future times out', async () => {
    const { http } = conformance(holder);
    const path = await filled(1);
    const ahead = String(BigInt(version(await http.get(path))) + 1_000_000n);
    const reply = await http.get(`${path}?resourceVersion=${ahead}`);
    assert.equal(reply.status, 504);
    assert.equal(reply.body['reason'], 'Timeout');
    assert.match(message(reply), /Too large resource version/);
    assert.equal((await http.get(`${path}?resourceVersion=abc`)).status >= 400, true);
  });

  test('resourceVersionMatch: a list of a past revision, or of any that is not older', async () => {
    const { http } = conformance(holder);
    const path = await filled(2);
    const then = await http.get(`${path}?labelSelector=parity`);
    await http.send('DELETE', `${path}/c0`);
    await http.patch(`${path}/c1`, 'merge-patch', { data: { later: 'yes' } });
    await http.send('POST', path, configMap('c2', {}, { labels: { parity: 'even' } }));
    const query = `${path}?labelSelector=parity&resourceVersion=${version(then)}`;
    const exact = await http.get(`${query}&resourceVersionMatch=Exact`);
    assert.equal(exact.status, 200, exact.text);
    assert.deepEqual(names(exact), ['c0', 'c1']);
    assert.equal(at(exact.body, 'items', 1, 'data'), undefined);
    assert.equal(version(exact), version(then));
    const chunk = await http.get(`${query}&resourceVersionMatch=Exact&limit=1`);
    assert.deepEqual(names(chunk), ['c0']);
    const rest = encodeURIComponent(String(at(chunk.body, 'metadata', 'continue')));
    assert.deepEqual(names(await http.get(`${path}?labelSelector=parity&limit=1&continue=${rest}`)), ['c1']);
    const newer = await http.get(`${query}&resourceVersionMatch=NotOlderThan`);
    assert.ok(BigInt(version(newer)) >= BigInt(version(then)));
    for (const [wrong, why] of [
      ['resourceVersionMatch=Exact', /resourceVersionMatch is forbidden unless resourceVersion is provided/],
      ['resourceVersion=5&resourceVersionMatch=Sometimes', /Unsupported value: "Sometimes": supported values: "Exact", "NotOlderThan"/],
      ['resourceVersion=0&resourceVersionMatch=Exact', /resourceVersionMatch "exact" is forbidden for resourceVersion "0"/],
    ] as const) {
      const reply = await http.get(`${path}?${wrong}`);
      assert.equal(reply.status, 422, reply.text);
      assert.match(message(reply), why);
    }
    const one = await http.get(`${path}/c1?resourceVersion=${BigInt(version(newer)) + 1_000_000n}`);
    assert.equal(one.status, 504, one.text);
  });

  test('a collection is deleted by selector', async () => {
    const { http } = conformance(holder);
    const path = await filled(4);
    const reply = await http.send('DELETE', `${path}?labelSelector=parity%3Deven`);
    assert.equal(reply.status, 200);
    assert.deepEqual(names(await http.get(`${path}?labelSelector=parity`)), ['c1', 'c3']);
  });

  test('tables', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/pods`;
    await http.send('POST', path, pod('p'));
    const reply = await http.get(path, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' });
    assert.equal(reply.body['kind'], 'Table');
    assert.equal(reply.body['apiVersion'], 'meta.k8s.io/v1');
    const columns = (reply.body['columnDefinitions'] as Fields[]).map((column) => [column['name'], column['type'], column['priority']]);
    assert.deepEqual(columns, [
      ['Name', 'string', 0],
      ['Ready', 'string', 0],
      ['Status', 'string', 0],
      ['Restarts', holder.minor >= 22 ? 'string' : 'integer', 0],
      ['Age', 'string', 0],
      ['IP', 'string', 1],
      ['Node', 'string', 1],
      ['Nominated Node', 'string', 1],
      ['Readiness Gates', 'string', 1],
    ]);
    const row = (reply.body['rows'] as Fields[])[0];
    assert.deepEqual((at(row, 'cells') as unknown[]).slice(0, 3), ['p', '0/1', 'Pending']);
    assert.equal(at(row, 'object', 'kind'), 'PartialObjectMetadata');
    assert.equal(at(row, 'object', 'metadata', 'name'), 'p');
    const one = await http.get(`${path}/p`, { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json' });
    assert.equal(one.body['kind'], 'Table');
  });

  test('metadata alone', async () => {
    const { http } = conformance(holder);
    const path = await filled(1);
    const list = await http.get(path, { Accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' });
    assert.equal(list.body['kind'], 'PartialObjectMetadataList');
    assert.equal(at(list.body, 'items', 0, 'data'), undefined);
    const one = await http.get(`${path}/c0`, { Accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' });
    assert.equal(one.body['kind'], 'PartialObjectMetadata');
    assert.equal((await http.get(path, { Accept: 'text/html' })).status, 406);
    const rejected: readonly (readonly [path: string, as: string, pattern: RegExp])[] = [
      [WIDGETS, 'PartialObjectMetadata', /but the requested object is a list \(\*unstructured\.UnstructuredList\)$/],
      ['/api/v1/namespaces', 'PartialObjectMetadata', /but the requested object is a list \(\*core\.NamespaceList\)$/],
      ['/api/v1/namespaces/default', 'PartialObjectMetadataList', /but the requested object is not a list \(\*core\.Namespace\)$/],
    ];
    for (const [path, as, pattern] of rejected) {
      const reply = await http.get(path, { Accept: `application/json;as=${as};g=meta.k8s.io;v=v1` });
      assert.deepEqual([reply.status, reply.body['reason']], [406, 'NotAcceptable'], reply.text);
      assert.match(message(reply), pattern);
    }
  });
}
