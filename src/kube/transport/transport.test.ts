import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { KubeClient } from '../client/client.ts';
import { connectionTo } from './connection.ts';
import { Discovery } from '../client/discovery.ts';
import { type KubeErrorCode, KubeError } from '../errors.ts';
import { PODS } from '../resource.ts';
import { ScriptedApi } from '../testing/scripted-api.ts';
import { KubeTransport } from './transport.ts';

const A = { metadata: { name: 'a', namespace: 'ns' } };
const NAME = { namespace: 'ns', name: 'a' };

describe('requests', () => {
  let api: ScriptedApi;
  let client: KubeClient;

  beforeEach(async () => {
    api = await ScriptedApi.start();
    client = api.client();
  });
  afterEach(() => api.close());

  const failing = async (promise: Promise<unknown>): Promise<KubeError> => {
    const error = await promise.then(
      () => undefined,
      (reason: unknown) => reason,
    );
    assert.ok(error instanceof KubeError, String(error));
    return error;
  };

  for (const [status, reason, code, retryable] of [
    [400, 'BadRequest', 'KUBE_BAD_REQUEST', false],
    [401, 'Unauthorized', 'KUBE_UNAUTHORIZED', true],
    [403, 'Forbidden', 'KUBE_FORBIDDEN', false],
    [404, 'NotFound', 'KUBE_NOT_FOUND', false],
    [409, 'Conflict', 'KUBE_CONFLICT', false],
    [410, 'Expired', 'KUBE_GONE', false],
    [413, 'RequestEntityTooLarge', 'KUBE_TOO_LARGE', false],
    [422, 'Invalid', 'KUBE_INVALID', false],
    [429, 'TooManyRequests', 'KUBE_TOO_MANY_REQUESTS', true],
    [500, 'InternalError', 'KUBE_INTERNAL', true],
    [503, 'ServiceUnavailable', 'KUBE_UNAVAILABLE', true],
    [504, 'Timeout', 'KUBE_TIMEOUT', true],
  ] as const satisfies readonly (readonly [number, string, KubeErrorCode, boolean])[]) {
    it(`gives ${status} the code ${code}`, async () => {
      api.handler = (exchange) => exchange.status(status, reason, 'because', {}, { 'retry-after': '2' });
      const error = await failing(client.get(PODS, NAME));
      assert.deepEqual([error.code, error.retryable, error.status, error.reason], [code, retryable, status, reason]);
      assert.equal(error.message, 'get pods ns/a: because');
      assert.equal(error.retryAfterMs, 2_000);
      api.handler = (exchange) => exchange.status(status, reason, 'because', {}, { 'retry-after': '86400' });
      assert.equal((await failing(client.get(PODS, NAME))).retryAfterMs, 300_000);
    });
  }

  it("reports the server's date with each answer, failures included, and none without a date", async () => {
    const dates: number[] = [];
    const dated = api.client({ onDate: (date) => dates.push(date) });
    const date = 'Mon, 23 Nov 2026 12:00:00 GMT';
    api.handler = (exchange) => exchange.json(A, 200, { date });
    await dated.get(PODS, NAME);
    api.handler = (exchange) => exchange.status(403, 'Forbidden', 'no', {}, { date });
    await failing(dated.get(PODS, NAME));
    api.handler = (exchange) => exchange.json(A, 200, { date: 'today' });
    await dated.get(PODS, NAME);
    assert.deepEqual(dates, [Date.parse(date), Date.parse(date)]);
  });

  it('distinguishes failures by status, reason and message', async () => {
    for (const [code, status, body] of [
      ['KUBE_NOT_SERVED', 404, '404 page not found\n'],
      ['KUBE_PRECONDITION', 409, { reason: 'Conflict', message: 'Precondition failed: UID in precondition: x, UID in object meta: y' }],
      ['KUBE_PRECONDITION', 422, { reason: 'Invalid', details: { causes: [{ reason: 'FieldValueInvalid', field: 'metadata.uid' }] } }],
      ['KUBE_DENIED', 409, { reason: 'Conflict', message: 'admission webhook "quota.example.com" denied the request: no more' }],
      ['KUBE_DENIED', 401, { message: "ips x is forbidden: ValidatingAdmissionPolicy 'a' with binding 'b' denied request: no" }],
      ['KUBE_WEBHOOK_FAILED', 500, { message: 'Internal error occurred: failed calling webhook "x.example.com": EOF' }],
      ['KUBE_NAMESPACE_TERMINATING', 403, { reason: 'Forbidden', details: { causes: [{ reason: 'NamespaceTerminating' }] } }],
    ] as const) {
      api.handler = (exchange) =>
        typeof body === 'string' ? exchange.text(body, status) : exchange.json({ kind: 'Status', ...body }, status);
      assert.equal((await failing(client.get(PODS, NAME))).code, code);
    }
  });

  it('repeats a read over a new connection when one breaks, but not a write', async () => {
    const reading = client.get(PODS, NAME);
    (await api.next()).reset();
    (await api.next()).json(A);
    assert.deepEqual(await reading, A);
    const writing = failing(client.mergePatch(PODS, NAME, {}));
    (await api.next()).reset();
    const error = await writing;
    assert.deepEqual([error.code, error.outcomeUnknown], ['KUBE_DISCONNECTED', true]);
    assert.equal(api.untaken, 0);
  });

  it('rejects an incomplete answer', async () => {
    const writing = failing(client.mergePatch(PODS, NAME, {}));
    const exchange = await api.next();
    exchange.open().write('{"metadata":');
    await new Promise((resolve) => setTimeout(resolve, 20));
    exchange.reset();
    assert.equal((await writing).code, 'KUBE_DISCONNECTED');
  });

  it('recognizes a request that was certainly not sent', async () => {
    const { port } = api;
    const other = await ScriptedApi.start();
    const closed = other.port;
    await other.close();
    assert.notEqual(port, closed);
    const transport = new KubeTransport(connectionTo({ server: `http://127.0.0.1:${closed}` }));
    const error = await failing(transport.request({ subject: { verb: 'get', resource: 'x' }, method: 'GET', path: '/' }));
    assert.deepEqual([error.code, error.outcomeUnknown], ['KUBE_UNREACHABLE', false]);
    await transport.close();
  });

  it('times out', async () => {
    client = api.client({ timeoutMs: 100 });
    assert.equal((await failing(client.get(PODS, NAME))).code, 'KUBE_TIMEOUT');
  });

  it('limits concurrent requests', async () => {
    client = api.client({ connections: 2 });
    const requests = [1, 2, 3].map(() => client.get(PODS, NAME));
    const first = await api.next();
    const second = await api.next();
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(api.untaken, 0);
    first.object();
    (await api.next()).object();
    second.object();
    await Promise.all(requests);
  });

  it('reuses its connection for requests of all kinds, failures included', async () => {
    client = api.client({ connections: 1 });
    api.handler = (exchange) => {
      if (exchange.method === 'GET') exchange.status(404, 'NotFound', 'x');
      else if (exchange.method === 'DELETE') exchange.json({ kind: 'Status', status: 'Success' });
      else exchange.object();
    };
    for (let i = 0; i < 3; i++) {
      await client.delete(PODS, NAME, { uid: 'u' });
      await client.find(PODS, NAME);
      await client.mergePatch(PODS, NAME, {});
    }
    assert.equal(api.connections, 1);
  });

  it('keeps a path prefix of the server, and fails after close', async () => {
    const transport = new KubeTransport(connectionTo({ server: `http://127.0.0.1:${api.port}/k8s/clusters/c-1/`, token: 't' }));
    const asked = transport.request({ subject: { verb: 'get', resource: 'x' }, method: 'GET', path: '/version' });
    const exchange = await api.next();
    assert.equal(exchange.path, '/k8s/clusters/c-1/version');
    assert.equal(exchange.headers.authorization, 'Bearer t');
    exchange.json({});
    await asked;
    await transport.close();
    const late = transport.request({ subject: { verb: 'get', resource: 'x' }, method: 'GET', path: '/' });
    assert.equal((await failing(late)).code, 'KUBE_CLOSED');
  });

  it('knows by discovery what is served', async () => {
    const [current, old] = (['v1', 'v1beta1'] as const).map((version) => ({
      ...PODS,
      group: 'discovery.k8s.io',
      version,
      plural: 'endpointslices',
    }));
    assert.ok(current !== undefined && old !== undefined);
    api.handler = (exchange) => {
      if (exchange.path === '/apis/discovery.k8s.io/v1beta1') {
        exchange.json({ kind: 'APIResourceList', resources: [{ name: 'endpointslices' }, { name: 'endpointslices/status' }] });
      } else exchange.text('404 page not found\n', 404);
    };
    const discovery = new Discovery(client);
    assert.equal(await discovery.serves(current), false);
    assert.equal(await discovery.serves(PODS), false);
    assert.deepEqual([await discovery.serves(old, 'status'), await discovery.serves(old, 'scale')], [true, false]);
  });
});
