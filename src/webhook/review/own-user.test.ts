import assert from 'node:assert/strict';
import { test } from 'node:test';
import { CertificateAuthority } from '../../certificates/authority.ts';
import type { Credentials } from '../../kube/transport/connection.ts';
import { connectionTo } from '../../kube/transport/connection.ts';
import type { Exchange } from '../../kube/testing/scripted-api.ts';
import { ScriptedApi } from '../../kube/testing/scripted-api.ts';
import { SILENT } from '../../runtime/log.ts';
import { OwnUser, userOfCredentials } from './own-user.ts';

const ACCOUNT = 'system:serviceaccount:kube-system:kiln-controller';

function tokenOf(subject: string): string {
  const part = (value: object): string => Buffer.from(JSON.stringify(value)).toString('base64url');
  return `${part({ alg: 'RS256' })}.${part({ iss: 'https://kubernetes.default.svc', sub: subject })}.c2ln`;
}

function bearer(token: string): Credentials {
  return { tls: {}, headers: { authorization: `Bearer ${token}` } };
}

test('credentials have the user: the subject of an account, the common name of a certificate, the impersonated user; no other issuer is trusted', () => {
  const authority = new CertificateAuthority('ca', { from: Date.now() - 1_000, until: Date.now() + 60_000 });
  const { certificate } = authority.issue({ name: { commonName: 'operator' }, purpose: 'client', hosts: [] });
  const cases: readonly (readonly [string, Credentials, string | undefined])[] = [
    ['the token of an account', bearer(tokenOf(ACCOUNT)), ACCOUNT],
    ['the token of another issuer', bearer(tokenOf('alice')), undefined],
    ['a token without parts', bearer('0123456789abcdef'), undefined],
    ['a token that is no JSON', bearer('a.b.c'), undefined],
    ['a certificate', { tls: { cert: certificate }, headers: {} }, 'operator'],
    [
      'a certificate beside a token that says nothing',
      { tls: { cert: certificate }, headers: { authorization: 'Bearer opaque' } },
      undefined,
    ],
    ['a certificate that cannot be read', { tls: { cert: 'nonsense' }, headers: {} }, undefined],
    ['impersonation', { tls: { cert: certificate }, headers: { 'impersonate-user': 'bob' } }, 'bob'],
    ['nothing', { tls: {}, headers: {} }, undefined],
  ];
  for (const [what, credentials, user] of cases) assert.equal(userOfCredentials(credentials), user, what);
});

const review = (username: string): object => ({ kind: 'SelfSubjectReview', metadata: {}, status: { userInfo: { username } } });

interface Learned {
  readonly name: string | undefined;
  readonly log: readonly string[];
}

/**
 * The user name learned from an API server with this answer, and the log.
 * @param given the name that the operator configured
 */
async function learned(answer: (exchange: Exchange) => void, token: string, given?: string): Promise<Learned> {
  const api = await ScriptedApi.start();
  api.handler = answer;
  const log: string[] = [];
  try {
    const connection = connectionTo({ server: `http://127.0.0.1:${api.port}`, token });
    const name = await new Promise<string | undefined>((done) => {
      const note = (message: string): void => {
        log.push(message);
        done(user.name);
      };
      const user: OwnUser = new OwnUser({ client: api.client(), connection, given, log: { ...SILENT, info: note, warn: note } });
      user.start();
      if (given !== undefined) done(user.name);
    });
    return { name, log };
  } finally {
    await api.close();
  }
}

const missing = (exchange: Exchange): void => exchange.text('404 page not found', 404);

test('the API server is asked first, whatever the credentials look like', async () => {
  const { name } = await learned((exchange) => exchange.json(review('oidc:alice'), 201), tokenOf(ACCOUNT));
  assert.equal(name, 'oidc:alice');
});

test('an API server before 1.28 has no answer: then the token of an account has it', async () => {
  assert.equal((await learned(missing, tokenOf(ACCOUNT))).name, ACCOUNT);
});

test('the API server reviews an opaque token, and if it may not, no user is known', async () => {
  const asked = await learned((exchange) => {
    if (!exchange.path.endsWith('/tokenreviews')) return missing(exchange);
    const { spec } = exchange.body as { readonly spec: { readonly token: string } };
    exchange.json({ kind: 'TokenReview', metadata: {}, status: { authenticated: true, user: { username: `user of ${spec.token}` } } }, 201);
  }, 'opaque');
  assert.equal(asked.name, 'user of opaque');
  const silent = await learned((exchange) => {
    if (exchange.path.endsWith('/tokenreviews')) exchange.status(403, 'Forbidden', 'may not');
    else missing(exchange);
  }, 'opaque');
  assert.equal(silent.name, undefined);
  assert.deepEqual(silent.log, [
    'the webhook cannot determine the user name of this controller, and validates its writes like those of any client',
  ]);
});

test("the operator's setting is used, and no request is sent", async () => {
  let requests = 0;
  const answer = (exchange: Exchange): void => {
    requests++;
    missing(exchange);
  };
  assert.equal((await learned(answer, 'opaque', 'somebody')).name, 'somebody');
  assert.equal(requests, 0);
});
