/** Admits or rejects a request: authenticates its user, then checks the user's rights. */
import type { IncomingMessage } from 'node:http';
import { isTrue } from '../watch-request.ts';
import { parseTarget } from '../request.ts';
import { ApiError, forbidden } from '../status.ts';
import type { ObjectStore } from '../store.ts';
import type { Attempt } from './rbac.ts';
import { isAllowed } from './rbac.ts';
import type { ServiceAccountTokens } from './service-account-tokens.ts';
import type { User } from './user.ts';
import { ACCOUNT_PREFIX, ADMINISTRATORS, certifiedUser, impersonatedUser, lacksImpersonatedName } from './user.ts';

/** Every user may read these, as on a real server. */
const OPEN_PATHS = new Set(['/healthz', '/livez', '/readyz', '/version']);
const NOBODY: User = { name: 'system:anonymous', groups: ['system:unauthenticated'] };

const VERBS: Readonly<Record<string, string>> = { POST: 'create', PUT: 'update', PATCH: 'patch' };

export class Gate {
  readonly #store: ObjectStore;
  readonly #tokens: ServiceAccountTokens;

  constructor(store: ObjectStore, tokens: ServiceAccountTokens) {
    this.#store = store;
    this.#tokens = tokens;
  }

  /** @throws ApiError 401, 403 */
  admit(url: URL, request: IncomingMessage): User {
    const user = this.#known(request);
    if (user === undefined) {
      if (OPEN_PATHS.has(url.pathname)) return NOBODY;
      throw new ApiError(401, 'Unauthorized', 'Unauthorized');
    }
    const asked = this.#impersonated(user, request);
    if (!asked.groups.includes(ADMINISTRATORS)) this.check(asked, attemptOf(url, request));
    return asked;
  }

  /** @throws ApiError 403 */
  check(user: User, attempt: Attempt): void {
    if (!isAllowed(this.#store, user, attempt)) throw refusal(user, attempt);
  }

  #known(request: IncomingMessage): User | undefined {
    const certified = certifiedUser(request);
    if (certified !== undefined) return certified;
    const token = /^Bearer (\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    return token === undefined ? undefined : this.#tokens.userOf(token);
  }

  #impersonated(user: User, request: IncomingMessage): User {
    const asked = impersonatedUser(request);
    if (asked === undefined) {
      if (lacksImpersonatedName(request))
        throw new ApiError(
          500,
          'InternalError',
          'Internal error occurred: requested groups or extra attributes without impersonating a user',
        );
      return user;
    }
    const groups = request.headersDistinct['impersonate-group'] ?? [];
    for (const attempt of impersonations(asked, groups)) this.check(user, attempt);
    return asked;
  }
}

/** All rights that an impersonating user needs: for the name or the account, each group, the uid and each value of `extra`. */
function impersonations({ name, uid, extra = {} }: User, groups: readonly string[]): readonly Attempt[] {
  const attempt = (resource: string, named: string, more: Partial<Attempt> = {}): Attempt => ({
    ...{ verb: 'impersonate', group: '', resource, subresource: '', namespace: '', name: named, path: '' },
    ...more,
  });
  const group = 'authentication.k8s.io';
  const [namespace = '', account = ''] = name.startsWith(ACCOUNT_PREFIX) ? name.slice(ACCOUNT_PREFIX.length).split(':') : [];
  return [
    account === '' ? attempt('users', name) : attempt('serviceaccounts', account, { namespace }),
    ...groups.map((one) => attempt('groups', one)),
    ...(uid === undefined ? [] : [attempt('uids', uid, { group })]),
    ...Object.entries(extra).flatMap(([subresource, values]) =>
      values.map((value) => attempt('userextras', value, { group, subresource })),
    ),
  ];
}

function attemptOf(url: URL, request: IncomingMessage): Attempt {
  const target = parseTarget(url.pathname);
  const method = request.method ?? 'GET';
  if (target === undefined || target.plural === '')
    return { ...{ verb: method.toLowerCase(), group: '', resource: '', subresource: '', namespace: '', name: '' }, path: url.pathname };
  const { group, plural: resource, subresource, namespace, name } = target;
  const read = name !== '' ? 'get' : isTrue(url.searchParams.get('watch')) ? 'watch' : 'list';
  const remove = name === '' ? 'deletecollection' : 'delete';
  const verb = VERBS[method] ?? (method === 'DELETE' ? remove : read);
  // A list of one object by its name is allowed by a rule with that name.
  const [, listed = ''] = name === '' ? (/(?:^|,)metadata\.name==?([^,]+)/.exec(url.searchParams.get('fieldSelector') ?? '') ?? []) : [];
  const where = resource === 'namespaces' && group === '' ? name : namespace;
  return { verb, group, resource, subresource, namespace: where, name: name === '' ? listed : name, path: '' };
}

function refusal({ name: user }: User, attempt: Attempt): ApiError {
  const { verb, group, resource, subresource, namespace, name, path } = attempt;
  const who = `User ${JSON.stringify(user)} cannot ${verb}`;
  if (path !== '') return new ApiError(403, 'Forbidden', `forbidden: ${who} path ${JSON.stringify(path)}`, {});
  const what = JSON.stringify(subresource === '' ? resource : `${resource}/${subresource}`);
  const where = namespace === '' ? 'at the cluster scope' : `in the namespace ${JSON.stringify(namespace)}`;
  return forbidden({ group, plural: resource }, name, `${who} resource ${what} in API group ${JSON.stringify(group)} ${where}`);
}
