/** Reviews that are cheap to send and expensive to validate: over real sockets, with the real validation. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CertificateAuthority } from '../../certificates/authority.ts';
import { SILENT } from '../../runtime/log.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import { until } from '../../testing/until.ts';
import type { AdmissionRequest } from '../protocol/admission-review.ts';
import type { AdmissionResult } from '../protocol/admission-result.ts';
import { ALLOWED } from '../protocol/admission-result.ts';
import { Reviews } from '../review/reviews.ts';
import { CLIENT_NAME } from './client-identity.ts';
import { ask, headers, hold, review } from '../testing/held-client.ts';
import type { UnservedReason, WebhookLimits } from './webhook-server.ts';
import { WEBHOOK_LIMITS, WebhookServer } from './webhook-server.ts';

const authority = new CertificateAuthority('ca', { from: Date.now() - 1_000, until: Date.now() + 3_600_000 });
const apiServer = authority.issue({ name: { commonName: CLIENT_NAME }, purpose: 'client' });
const MIB = 1024 * 1024;
const withMatch = (match: string): string =>
  review({ object: { metadata: { name: 's' }, spec: { acls: [{ direction: 'to-lport', priority: 1, match, action: 'drop' }] } } });

function realReviews(): (request: AdmissionRequest, proven: boolean) => AdmissionResult {
  const { bench } = new PodScene();
  const observed = { world: bench.world, complete: true, checkRequest: () => undefined };
  const reviews = new Reviews({
    observed,
    unimplemented: () => undefined,
    ownUser: () => undefined,
    deletionInUse: 'deny',
    clientsProve: true,
    now: () => performance.now(),
  });
  return (request, proven) => reviews.review(request, proven);
}

async function serve(
  review: (request: AdmissionRequest, proven: boolean) => AdmissionResult,
  limits: Partial<WebhookLimits> = {},
  now = (): number => performance.now(),
) {
  const unserved: UnservedReason[] = [];
  const server = await WebhookServer.start({
    host: '127.0.0.1',
    port: 0,
    credential: authority.issue({ name: { commonName: 's' }, purpose: 'server', hosts: ['127.0.0.1'] }),
    clients: { authorities: authority.certificate, names: [CLIENT_NAME], unknown: 'answer' },
    review,
    log: SILENT,
    limits,
    unserved: (why) => unserved.push(why),
    now,
  });
  return { server, unserved, place: { port: server.port, authority: authority.certificate }, [Symbol.asyncDispose]: () => server.close() };
}

test('four reviews of 7 MB of an unknown client are rejected unread, before validation runs, and small ones are validated meanwhile', async () => {
  let validated = 0;
  const review = realReviews();
  await using served = await serve((request, proven) => (validated++, review(request, proven)));
  const { place } = served;
  const giant = withMatch('('.repeat(7_000_000));
  const outcome = (body: string): Promise<number | string> =>
    ask(place, body).then(
      ({ status }) => status,
      // The server does not wait for the rest of a body.
      (error: unknown) => String((error as NodeJS.ErrnoException).code),
    );
  const outcomes = await Promise.all([1, 2, 3, 4].map(() => outcome(giant)));
  for (const one of outcomes) assert.ok([413, 'EPIPE', 'ECONNRESET'].includes(one), String(one));
  assert.equal(validated, 0);
  const upload = hold(place, (socket) => socket.write(headers(WEBHOOK_LIMITS.unknownBody + 1)));
  await upload.closed;
  assert.match(upload.received(), /^HTTP\/1\.1 413 [\s\S]*a review of this client has at most 524288 bytes/);
  const chunked = hold(place, (socket) => {
    socket.write(headers(0).replace('Content-Length: 0', 'Transfer-Encoding: chunked'));
    for (let kib = 0; kib < 513; kib++) socket.write(`400\r\n${' '.repeat(1024)}\r\n`);
  });
  await chunked.closed;
  assert.equal(validated, 0);
  assert.equal((await ask(place)).status, 200);
  assert.equal(validated, 1);
});

test('the API server, by its certificate, may send so much: the match is invalid by its length and not parsed', async () => {
  await using served = await serve(realReviews());
  const shown = { cert: apiServer.certificate, key: apiServer.key };
  const { status, body } = await ask(served.place, withMatch('('.repeat(7_000_000)), shown);
  assert.equal(status, 200);
  assert.match(body, /spec\.acls\[0\]\.match .* is longer than 65536 characters/);
});

test('bodies accepted together do not use more than the time that is left: the first is validated, the others are rejected', async () => {
  let validated = 0;
  // The time of the validation itself, so that the result does not depend on the speed of the machine.
  let now = 0;
  const slow = (): AdmissionResult => {
    validated++;
    now += 600;
    return ALLOWED;
  };
  // A burst of 500 ms: the most that one such body may take.
  await using served = await serve(slow, { validationMs: { address: 100, all: 100_000 } }, () => now);
  const { place, server } = served;
  const body = review({ pad: ' '.repeat(500_000) });
  const clients = Array.from({ length: 6 }, () => hold(place, (socket) => socket.write(headers(body.length) + body.slice(0, 4_000))));
  await until('all six have begun', () => server.holds.bodyBytes === 6 * 4_096);
  for (const { socket } of clients) socket.write(body.slice(4_000));
  await until('all are answered', () => clients.every(({ received }) => received().startsWith('HTTP/1.1 ')));
  const statuses = clients.map(({ received }) => received().slice(9, 12)).toSorted();
  assert.deepEqual([statuses, validated], [['200', '429', '429', '429', '429', '429'], 1]);
  for (const { socket } of clients) socket.destroy();
});

test('reviews of unknown clients are validated one at a time, and the process does other work between two', async () => {
  let turns = 0;
  let counting = true;
  const count = (): void => {
    turns++;
    if (counting) setImmediate(count);
  };
  const seen: number[] = [];
  await using served = await serve(
    () => {
      seen.push(turns);
      for (const end = performance.now() + 20; performance.now() < end;);
      return ALLOWED;
    },
    { validationMs: { address: 100_000, all: 100_000 } },
  );
  setImmediate(count);
  try {
    const answers = await Promise.all(Array.from({ length: 20 }, () => ask(served.place)));
    assert.ok(answers.every(({ status }) => status === 200));
  } finally {
    counting = false;
  }
  assert.equal(new Set(seen).size, 20, `turns of the event loop at each review: ${seen.join(' ')}`);
});

test('an object with deep nesting, very many values or very long annotations is rejected before it is validated, from any client', async () => {
  let validated = 0;
  await using served = await serve(() => (validated++, ALLOWED));
  const shown = { cert: apiServer.certificate, key: apiServer.key };
  const deep = review({ pad: 0 }).replace('"pad":0', `"pad":${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  const many = (bytes: number): string =>
    review({ object: { metadata: { name: 's' }, spec: { acls: Array.from({ length: bytes / 3 }, () => ({})) } } });
  const annotations = Object.fromEntries(Array.from({ length: 30_000 }, (_, at) => [`annotation-${at}`, '']));
  for (const [options, body, problem] of [
    [{}, deep, 'the body is nested deeper than 100 levels\n'],
    [shown, deep, 'the body is nested deeper than 100 levels\n'],
    [{}, many(300_000), 'the body has more than 32768 values\n'],
    [shown, many(3 * MIB), 'the body has more than 131072 values\n'],
    [shown, review({ object: { metadata: { name: 's', annotations } } }), /^request\.object\.metadata\.annotations are longer than 262144/],
    [shown, review({ oldObject: { metadata: { name: 's', annotations } } }), /^request\.oldObject\.metadata\.annotations are longer/],
  ] as const) {
    const answer = await ask(served.place, body, options);
    assert.equal(answer.status, 400);
    if (typeof problem === 'string') assert.equal(answer.body, problem);
    else assert.match(answer.body, problem);
  }
  assert.equal(validated, 0);
});
