import assert from 'node:assert/strict';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { HttpsClient } from '../../../test/conformance/https-client.ts';
import { LabApiServer } from '../server.ts';
import { createCredentials } from '../tls.ts';

interface Review {
  readonly request: {
    readonly uid: string;
    readonly name: string;
    readonly operation: string;
    readonly dryRun: boolean;
    readonly oldObject: unknown;
  };
}

const credentials = createCredentials(Date.now());
const reviews: Review[] = [];
const hook = createServer({ key: credentials.server.key, cert: credentials.server.certificate }, (request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const review = JSON.parse(Buffer.concat(chunks).toString('utf8')) as Review;
    reviews.push(review);
    const allowed = !review.request.name.startsWith('bad');
    const status = allowed ? {} : { status: { code: 422, reason: 'Invalid', message: `${review.request.name} is bad` } };
    response.end(
      JSON.stringify({
        kind: 'AdmissionReview',
        apiVersion: 'admission.k8s.io/v1',
        response: { uid: review.request.uid, allowed, ...status, warnings: ['mind this'] },
      }),
    );
  });
});

let server: LabApiServer;
let client: HttpsClient;
let directory: string;

function configuration(name: string, port: number, failurePolicy: string): object {
  return {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name },
    webhooks: [
      {
        name: `${name}.example.com`,
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
        failurePolicy,
        timeoutSeconds: 30,
        clientConfig: { url: `https://127.0.0.1:${port}/validate`, caBundle: Buffer.from(credentials.authority).toString('base64') },
        rules: [
          {
            apiGroups: [''],
            apiVersions: ['v1'],
            operations: ['CREATE', 'DELETE'],
            resources: [name === 'maps' ? 'configmaps' : 'secrets'],
          },
        ],
      },
    ],
  };
}

const MAPS = '/api/v1/namespaces/default/configmaps';
const HOOKS = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

function map(name: string): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } };
}

before(async () => {
  await new Promise<void>((resolve) => void hook.listen(0, '127.0.0.1', resolve));
  directory = await mkdtemp(join(tmpdir(), 'kiln-admission-'));
  server = new LabApiServer({ dataDir: directory });
  await server.start();
  client = await HttpsClient.fromKubeconfig(join(directory, 'kubeconfig'));
  await client.send('POST', HOOKS, configuration('maps', (hook.address() as AddressInfo).port, 'Fail'));
});

after(async () => {
  client.close();
  await server.stop();
  hook.closeAllConnections();
  hook.close();
  await rm(directory, { recursive: true, force: true });
});

test('a webhook denies, allows and warns', async () => {
  const refused = await client.send('POST', MAPS, map('bad-one'));
  assert.equal(refused.status, 422);
  assert.equal(refused.body['message'], 'admission webhook "maps.example.com" denied the request: bad-one is bad');
  assert.equal((await client.get(`${MAPS}/bad-one`)).status, 404);
  const allowed = await client.send('POST', `${MAPS}?dryRun=All`, map('good'));
  assert.equal(allowed.status, 201);
  assert.match(String(allowed.headers['warning']), /299 - "mind this"/);
  assert.equal(reviews.at(-1)?.request.dryRun, true);
});

test('a webhook gets deletions with the old object, and no operation outside of its rules', async () => {
  await client.send('POST', MAPS, map('kept'));
  const before_ = reviews.length;
  await client.patch(`${MAPS}/kept`, 'merge-patch', { data: { a: 'b' } });
  assert.equal(reviews.length, before_);
  assert.equal((await client.send('DELETE', `${MAPS}/kept`)).status, 200);
  assert.equal(reviews.at(-1)?.request.operation, 'DELETE');
  assert.notEqual(reviews.at(-1)?.request.oldObject, null);
});

test('the failure policy decides on a write when a webhook cannot be reached', async () => {
  const secret = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 's' } };
  await client.send('POST', HOOKS, configuration('others', 1, 'Fail'));
  const failed = await client.send('POST', '/api/v1/namespaces/default/secrets', secret);
  assert.equal(failed.status, 500);
  assert.match(String(failed.body['message']), /failed calling webhook "others\.example\.com"/);
  await client.patch(`${HOOKS}/others`, 'strategic-merge-patch', { webhooks: [{ name: 'others.example.com', failurePolicy: 'Ignore' }] });
  assert.equal((await client.send('POST', '/api/v1/namespaces/default/secrets', secret)).status, 201);
});
