/** Limits of an API server: bodies, objects and copies that are too large. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, message, newNamespace, pod } from '../context.ts';
import type { Fields } from '../https-client.ts';
import { definition, GROUP } from '../widgets.ts';

const MEBIBYTE = 1024 * 1024;
const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

function heavy(name: string, mebibytes: number): Fields {
  const value = 'x'.repeat(mebibytes * MEBIBYTE);
  return { ...pod(name), spec: { containers: [{ name: 'main', image: 'registry.example/app:1', env: [{ name: 'A', value }] }] } };
}

export function limitCases(holder: Holder): void {
  test('a body of more than three mebibytes is not read', async () => {
    const { http } = conformance(holder);
    const reply = await http.send(
      'POST',
      '/api/v1/namespaces/default/configmaps',
      configMap(fresh('huge'), { a: 'x'.repeat(3 * MEBIBYTE) }),
    );
    assert.deepEqual(
      [reply.status, reply.body['reason'], message(reply)],
      [413, 'RequestEntityTooLarge', 'Request entity too large: limit is 3145728'],
    );
  });

  test('an object is stored up to a mebibyte and a half, by whatever verb it grows', async () => {
    const { http } = conformance(holder);
    const path = `/api/v1/namespaces/${await newNamespace(holder)}/pods`;
    const tooLarge = [500, undefined, 'etcdserver: request is too large'];
    const larger = await http.send('POST', path, heavy('larger', 1.6));
    assert.deepEqual([larger.status, larger.body['reason'], message(larger)], tooLarge);
    const huge = await http.send('POST', path, heavy('huge', 2.5));
    assert.equal(huge.status, 500);
    assert.match(message(huge), /trying to send message larger than max \(26\d+ vs\. 2097152\)$/);
    for (const name of ['larger', 'huge']) assert.equal((await http.get(`${path}/${name}`)).status, 404);
    const dry = await http.send('POST', `${path}?dryRun=All`, heavy('dry', 1.6));
    assert.equal(dry.status, 201, 'what is only tried is not stored');
    const made = await http.send('POST', path, heavy('made', 1.4));
    assert.equal(made.status, 201, made.text.slice(0, 300));
    const notes = { metadata: { annotations: { a: 'x'.repeat(200_000) } } };
    const grown = await http.patch(`${path}/made`, 'merge-patch', notes);
    assert.deepEqual([grown.status, grown.body['reason'], message(grown)], tooLarge);
    assert.equal(at((await http.get(`${path}/made`)).body, 'metadata', 'annotations'), undefined);
  });

  test('the size of a definition is limited', async () => {
    const { http } = conformance(holder);
    const plural = `${fresh('larges').replaceAll('-', '')}s`;
    const large = definition(plural, 'Large', 'Cluster');
    const described = JSON.parse(JSON.stringify(large).replace('The range of the widget.', 'x'.repeat(1.6 * MEBIBYTE))) as Fields;
    const reply = await http.send('POST', DEFINITIONS, described);
    assert.deepEqual([reply.status, message(reply)], [500, 'etcdserver: request is too large']);
    assert.equal((await http.get(`${DEFINITIONS}/${plural}.${GROUP}`)).status, 404);
  });

  test('the copies in a JSON patch cannot grow an object without limit', async () => {
    const { http } = conformance(holder);
    const path = '/api/v1/namespaces/default/configmaps';
    const name = fresh('copied');
    await http.send('POST', path, configMap(name, { a: 'x'.repeat(1000) }));
    const copies = Array.from({ length: 24 }, (_, index) => ({ op: 'copy', from: '/data', path: `/data/c${index}` }));
    const reply = await http.patch(`${path}/${name}`, 'json-patch', copies);
    assert.deepEqual([reply.status, message(reply)], [422, 'the server rejected our request due to an error in our request']);
    const few = Array.from({ length: 3 }, (_, index) => ({ op: 'copy', from: '/data/a', path: `/data/c${index}` }));
    assert.equal((await http.patch(`${path}/${name}`, 'json-patch', few)).status, 200);
    await http.send('DELETE', `${path}/${name}`);
  });
}
