import assert from 'node:assert/strict';
import type { IncomingHttpHeaders } from 'node:http';
import { request } from 'node:https';
import { connect, createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { after, before, test } from 'node:test';
import { connect as connectTls } from 'node:tls';
import { CertificateAuthority } from '../../certificates/authority.ts';
import type { Log } from '../../runtime/log.ts';
import { SILENT } from '../../runtime/log.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import { answerText } from '../protocol/admission-review.ts';
import type { AdmissionResult } from '../protocol/admission-result.ts';
import { ALLOWED } from '../protocol/admission-result.ts';
import { WebhookServer } from './webhook-server.ts';

const authority = new CertificateAuthority('ca', { from: Date.now() - 1_000, until: Date.now() + 3_600_000 });
const issue = (): ReturnType<typeof authority.issue> =>
  authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['127.0.0.1'] });
const seen: AdmissionRequest[] = [];
const errors: unknown[] = [];
const warnings: unknown[] = [];
const log: Log = { ...SILENT, error: (_, fields) => errors.push(fields), warn: (_, fields) => warnings.push(fields?.['error']) };
let result: AdmissionResult | Error = ALLOWED;
let server: WebhookServer;

before(async () => {
  server = await WebhookServer.start({
    host: '127.0.0.1',
    port: 0,
    credential: issue(),
    log,
    review: (one) => {
      seen.push(one);
      if (result instanceof Error) throw result;
      return result;
    },
  });
});
after(() => server.close());

interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

async function send(body: string | Buffer, options: { method?: string; path?: string; type?: string } = {}): Promise<Answer> {
  const { method = 'POST', path = '/validate?timeout=3s', type = 'application/json' } = options;
  return new Promise((resolve, reject) => {
    const outgoing = request(
      { host: '127.0.0.1', port: server.port, path, method, ca: authority.certificate, headers: { 'content-type': type }, agent: false },
      (answer) => {
        let text = '';
        answer.on('data', (chunk: Buffer) => (text += chunk.toString()));
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, headers: answer.headers, body: text }));
      },
    );
    outgoing.once('error', reject);
    outgoing.end(method === 'GET' ? undefined : body);
  });
}

const review = (more: object = {}): string =>
  JSON.stringify({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    request: {
      uid: 'review-7',
      kind: { group: 'kubeovn.io', version: 'v1', kind: 'Subnet' },
      resource: { group: 'kubeovn.io', version: 'v1', resource: 'subnets' },
      name: 's',
      operation: 'CREATE',
      object: { metadata: { name: 's' }, spec: { cidrBlock: 'x' } },
      oldObject: null,
      dryRun: true,
      options: { fieldManager: 'me' },
      ...more,
    },
  });

test('a review is answered with its uid; a denial has code, reason, message and causes', async () => {
  result = ALLOWED;
  assert.deepEqual(JSON.parse((await send(review())).body), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'review-7', allowed: true },
  });
  const [asked] = seen.splice(0);
  assert.deepEqual(
    [asked?.resource, asked?.operation, asked?.name, asked?.dryRun, asked?.fieldManager, asked?.oldObject],
    ['subnets', 'CREATE', 's', true, 'me', undefined],
  );
  result = {
    denials: [{ code: 'SubnetCidrInvalid', field: 'spec.cidrBlock', message: 'no network', kind: 'invalid' }],
    warnings: ['mind'],
  };
  const { status, headers, body } = await send(review());
  assert.deepEqual([status, headers['content-type']], [200, 'application/json']);
  assert.deepEqual(JSON.parse(body), {
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: {
      uid: 'review-7',
      allowed: false,
      status: {
        metadata: {},
        status: 'Failure',
        code: 422,
        reason: 'Invalid',
        message: 'no network',
        details: {
          name: 's',
          group: 'kubeovn.io',
          kind: 'Subnet',
          causes: [{ reason: 'SubnetCidrInvalid', message: 'no network', field: 'spec.cidrBlock' }],
        },
      },
      warnings: ['mind'],
    },
  });
});

test('a request whose validation throws is allowed, and the error is logged', async () => {
  result = new Error('a bug');
  assert.equal((JSON.parse((await send(review())).body) as { response: { allowed: boolean } }).response.allowed, true);
  assert.equal(errors.length, 1);
  result = ALLOWED;
});

test('a request that is not a review gets an HTTP error, and the next one is answered', async () => {
  assert.equal((await send('{')).status, 400);
  assert.match((await send('{}')).body, /not an AdmissionReview of admission\.k8s\.io\/v1/);
  assert.match((await send(review({ uid: '' }))).body, /request\.uid is missing/);
  assert.match((await send(review({ operation: 'STEAL' }))).body, /request\.operation/);
  assert.equal((await send(review().replace('k8s.io/v1', 'k8s.io/v1beta1'))).status, 400);
  assert.equal((await send(review(), { type: 'text/plain' })).status, 415);
  assert.equal((await send(review(), { path: '/elsewhere' })).status, 404);
  const get = await send('', { method: 'GET' });
  assert.deepEqual([get.status, get.headers.allow], [405, 'POST']);
  const long = await send(Buffer.alloc(9 * 1024 * 1024, ' ')).catch((error: unknown) => error as { code: string });
  // The server may answer before the client has sent the whole body; then the client sees the connection close.
  assert.ok('status' in long ? long.status === 413 : ['EPIPE', 'ECONNRESET'].includes(long.code), JSON.stringify(long));
  assert.equal((await send(review())).status, 200);
});

test('messages and warnings are bounded, integers beyond 2^53 survive', () => {
  const asked = seen.at(-1);
  assert.ok(asked !== undefined);
  const denials = Array.from(
    { length: 9 },
    (_, i) => ({ code: 'DeletionBlocked', field: '', message: `m${i}`, kind: 'forbidden' }) as const,
  );
  const warnings = Array.from({ length: 30 }, () => 'w'.repeat(1_000));
  const { response } = JSON.parse(answerText(asked, { denials, warnings })) as {
    response: { status: { code: number; message: string; details: { causes: unknown[] } }; warnings: string[] };
  };
  assert.deepEqual([response.status.code, response.status.message], [403, 'm0; m1; m2; m3; m4; and 4 more']);
  assert.equal(response.status.details.causes.length, 5);
  assert.ok(response.warnings.join('').length < 4_096);
});

test('a new certificate is served to new connections, without a restart', async () => {
  const serial = (): Promise<string> =>
    new Promise((resolve, reject) => {
      const outgoing = request({ host: '127.0.0.1', port: server.port, ca: authority.certificate, agent: false }, (answer) => {
        const socket = answer.socket as unknown as { getPeerCertificate: () => { serialNumber: string } };
        resolve(socket.getPeerCertificate().serialNumber);
        answer.resume();
      });
      outgoing.once('error', reject);
      outgoing.end();
    });
  const first = await serial();
  assert.equal(await serial(), first);
  server.use(issue());
  assert.notEqual(await serial(), first);
});

/** The first message of a TLS 1.2 client. */
function clientHello(): Promise<Buffer> {
  return new Promise((done) => {
    const listener = createServer((socket) => {
      socket.once('data', (hello) => {
        done(hello);
        socket.destroy();
        listener.close();
      });
    });
    listener.listen(0, '127.0.0.1', () => {
      const { port } = listener.address() as AddressInfo;
      connectTls({ host: '127.0.0.1', port, maxVersion: 'TLSv1.2' }).on('error', () => undefined);
    });
  });
}

/** Closes the connection as a client that rejects the server's certificate does: with an alert, which Node.js itself never sends. */
async function dislike(hello: Buffer): Promise<void> {
  await new Promise<void>((done) => {
    const socket = connect(server.port, '127.0.0.1');
    socket.once('data', () => socket.write(Buffer.from([21, 3, 3, 0, 2, 2, 42])));
    socket.on('error', () => undefined).once('close', () => done());
    socket.write(hello);
  });
}

test('an API server that rejects the certificate is logged once for each certificate; a port scan is not', async () => {
  await new Promise<void>((done) => {
    const socket = connect(server.port, '127.0.0.1', () => socket.write('GET / HTTP/1.0\r\n\r\n'));
    socket.on('error', () => undefined).once('close', () => done());
  });
  assert.deepEqual(warnings, []);
  const hello = await clientHello();
  await dislike(hello);
  await dislike(hello);
  assert.equal(warnings.length, 1);
  assert.match(String(warnings[0]), /BAD_CERTIFICATE/);
  server.use(issue());
  await dislike(hello);
  assert.equal(warnings.length, 2);
});
