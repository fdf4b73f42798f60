import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse, stringify } from 'yaml';
import { at } from '../../test/conformance/context.ts';
import { HttpsClient } from '../../test/conformance/https-client.ts';
import { LabApiServer } from './server.ts';

interface Kubeconfig {
  readonly users: unknown;
}

const MAPS = '/api/v1/namespaces/default/configmaps';

async function withServer(
  options: ConstructorParameters<typeof LabApiServer>[0],
  run: (client: HttpsClient, server: LabApiServer) => Promise<void>,
): Promise<void> {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-server-'));
  const server = new LabApiServer({ ...options, dataDir: directory });
  await server.start();
  const client = await HttpsClient.fromKubeconfig(join(directory, 'kubeconfig'));
  try {
    await run(client, server);
  } finally {
    client.close();
    await server.stop();
    await rm(directory, { recursive: true, force: true });
  }
}

function map(name: string, metadata: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, ...metadata } };
}

test('a watch from a forgotten version gets 410 as an event, and ends', async () => {
  await withServer({ watchWindow: 10 }, async (client) => {
    const list = await client.get(MAPS);
    const old = (list.body['metadata'] as { resourceVersion: string }).resourceVersion;
    for (let index = 0; index < 30; index++) await client.send('POST', MAPS, map(`m${index}`));
    const watch = await client.watch(`${MAPS}?watch=true&resourceVersion=${old}`);
    await watch.ended;
    assert.equal(watch.status, 200);
    assert.deepEqual(
      watch.events.map((event) => [event.type, event.object['code'], event.object['reason']]),
      [['ERROR', 410, 'Expired']],
    );
  });
});

test('a bookmark separates the initial events of a watch from the later ones', async () => {
  await withServer({}, async (client) => {
    await client.send('POST', MAPS, map('m', { labels: { initial: 'yes' } }));
    const watch = await client.watch(
      `${MAPS}?watch=true&labelSelector=initial&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true&timeoutSeconds=1`,
    );
    await watch.ended;
    assert.equal(watch.events[0]?.type, 'ADDED');
    assert.equal(watch.events[1]?.type, 'BOOKMARK');
    assert.deepEqual(at(watch.events[1]?.object, 'metadata', 'annotations'), { 'k8s.io/initial-events-end': 'true' });
  });
});

test('the server rejects server-side apply with a message', async () => {
  await withServer({}, async (client) => {
    const reply = await client.send('PATCH', `${MAPS}/m?fieldManager=x`, map('m'), { 'Content-Type': 'application/apply-patch+yaml' });
    assert.equal(reply.status, 415);
    assert.match(String(reply.body['message']), /has no server-side apply: use kubectl apply without --server-side/);
  });
});

test('requests for missing features get an error that names the feature', async () => {
  await withServer({}, async (client) => {
    const rules = [{ rule: 'self.a.exists(x, y, x == y)' }, { rule: 'self.a == self.a' }];
    const a = { type: 'object', properties: { a: { type: 'string' } }, 'x-kubernetes-validations': rules };
    const crd = await client.send('POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', {
      ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'as.lab.example.com' } },
      spec: {
        ...{ group: 'lab.example.com', scope: 'Cluster', names: { plural: 'as', kind: 'A' } },
        versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: { type: 'object', properties: { spec: a } } } }],
      },
    });
    assert.equal(crd.status, 201, crd.text);
    assert.equal(
      String(crd.headers['warning']),
      '299 - "spec.versions[0].schema.openAPIV3Schema.properties[spec].x-kubernetes-validations[0].rule: this laboratory cannot read \\"self.a.exists(x, y, x == y)\\" and does not enforce it"',
    );
  });
});

test('a client with a certificate of another authority is not authenticated', async () => {
  await withServer({}, async (_client, first) => {
    await withServer({}, async (_second, second) => {
      const directory = await mkdtemp(join(tmpdir(), 'kiln-foreign-'));
      const [ours, theirs] = [join(directory, 'ours'), join(directory, 'theirs')];
      await first.writeKubeconfig(ours);
      await second.writeKubeconfig(theirs);
      const [trusted, foreign] = [parse(await readFile(ours, 'utf8')), parse(await readFile(theirs, 'utf8'))] as [Kubeconfig, Kubeconfig];
      await writeFile(theirs, stringify({ ...trusted, users: foreign.users }));
      const client = await HttpsClient.fromKubeconfig(theirs);
      const reply = await client.get(MAPS);
      assert.deepEqual([reply.status, reply.body['reason']], [401, 'Unauthorized']);
      client.close();
      await rm(directory, { recursive: true, force: true });
    });
  });
});

test('stopping ends watches and frees the port', async () => {
  const server = new LabApiServer();
  await server.start();
  const { port } = new URL(server.url);
  await server.stop();
  const again = new LabApiServer({ port: Number(port) });
  await again.start();
  assert.equal(again.url, server.url);
  await again.stop();
});
