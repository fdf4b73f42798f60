/** Tokens of service accounts: `kubectl create token` requests one, and it authenticates its bearer as the account. */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { timestamp } from '../environment.ts';
import type { Json, JsonObject } from '../json.ts';
import { at, isObject, list, object, parseJson, text } from '../json.ts';
import type { Operations } from '../operations.ts';
import type { ResourceDefinition } from '../resource.ts';
import { invalid, invalidValue } from '../status.ts';
import { storeKey } from '../store.ts';
import type { User } from './user.ts';
import { ACCOUNT_PREFIX, accountGroups } from './user.ts';

const ISSUER = 'https://kubernetes.default.svc.cluster.local';
const HEADER = Buffer.from(JSON.stringify({ alg: 'HS256', typ: 'JWT' })).toString('base64url');
const DEFAULT_SECONDS = 3600;
const LEAST_SECONDS = 600;

export class ServiceAccountTokens {
  readonly #operations: Operations;
  readonly #key: Buffer;

  /** @param secret of the server alone; tokens are valid while it stays the same */
  constructor(operations: Operations, secret: string) {
    this.#operations = operations;
    this.#key = createHash('sha256').update(`service account tokens\n${secret}`).digest();
  }

  /** Answers a TokenRequest. @throws ApiError 404, 422 */
  issue(accounts: ResourceDefinition, namespace: string, name: string, body: JsonObject): JsonObject {
    const account = this.#operations.get(accounts, namespace, name);
    const spec = object(body['spec']);
    const seconds = spec['expirationSeconds'] ?? DEFAULT_SECONDS;
    if (typeof seconds !== 'number' || seconds < LEAST_SECONDS)
      throw invalid({ group: 'authentication.k8s.io', kind: 'TokenRequest' }, '', [
        invalidValue('spec.expirationSeconds', seconds, 'may not specify a duration less than 10 minutes'),
      ]);
    const audiences = list(spec['audiences']).length === 0 ? [ISSUER] : list(spec['audiences']);
    const now = Math.floor(this.#operations.environment.now() / 1000);
    const claims = {
      aud: audiences,
      exp: now + seconds,
      iat: now,
      nbf: now,
      iss: ISSUER,
      sub: `${ACCOUNT_PREFIX}${namespace}:${name}`,
      'kubernetes.io': { namespace, serviceaccount: { name, uid: account.metadata.uid } },
    };
    const payload = Buffer.from(JSON.stringify(claims)).toString('base64url');
    return {
      kind: 'TokenRequest',
      apiVersion: 'authentication.k8s.io/v1',
      metadata: { name, namespace, creationTimestamp: timestamp(now * 1000) },
      spec: { audiences, expirationSeconds: seconds, boundObjectRef: spec['boundObjectRef'] ?? null },
      status: { token: `${HEADER}.${payload}.${this.#sign(payload)}`, expirationTimestamp: timestamp((now + seconds) * 1000) },
    };
  }

  /** The account of a token, while the account exists. @returns undefined for a token that is invalid or expired */
  userOf(token: string): User | undefined {
    const [header, payload = '', signature = ''] = token.split('.');
    const expected = Buffer.from(this.#sign(payload));
    const given = Buffer.from(signature);
    if (header !== HEADER || expected.length !== given.length || !timingSafeEqual(expected, given)) return undefined;
    const claims: Json = parseJson(Buffer.from(payload, 'base64url').toString('utf8'));
    if (!isObject(claims) || Number(claims['exp']) * 1000 < this.#operations.environment.now()) return undefined;
    const { namespace, serviceaccount } = object(claims['kubernetes.io']);
    const uid = text(at(serviceaccount, 'uid'));
    const account = this.#operations.store.get('serviceaccounts', storeKey(text(namespace), text(at(serviceaccount, 'name'))));
    if (account === undefined || account.metadata.uid !== uid) return undefined;
    const name = text(claims['sub']);
    return { name, uid, groups: [...accountGroups(name), 'system:authenticated'] };
  }

  #sign(payload: string): string {
    return createHmac('sha256', this.#key).update(`${HEADER}.${payload}`).digest('base64url');
  }
}
