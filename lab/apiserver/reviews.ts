/** Reviews: kinds that are answered and never stored. They tell a client its rights and its identity. */
import type { Attempt } from './authorization/rbac.ts';
import { isAllowed, rulesOf } from './authorization/rbac.ts';
import type { ServiceAccountTokens } from './authorization/service-account-tokens.ts';
import type { User } from './authorization/user.ts';
import { userInfo } from './authorization/user.ts';
import type { Json, JsonObject } from './json.ts';
import { at, isObject, list, object, text } from './json.ts';
import type { ResourceTarget } from './request.ts';
import type { ObjectStore } from './store.ts';

const KINDS: Readonly<Record<string, string>> = {
  'authorization.k8s.io/selfsubjectaccessreviews': 'SelfSubjectAccessReview',
  'authorization.k8s.io/subjectaccessreviews': 'SubjectAccessReview',
  'authorization.k8s.io/localsubjectaccessreviews': 'LocalSubjectAccessReview',
  'authorization.k8s.io/selfsubjectrulesreviews': 'SelfSubjectRulesReview',
  'authentication.k8s.io/selfsubjectreviews': 'SelfSubjectReview',
  'authentication.k8s.io/tokenreviews': 'TokenReview',
};

export interface Reviewer {
  readonly store: ObjectStore;
  readonly tokens: ServiceAccountTokens;
}

/** @returns undefined if the target is not a review. */
export async function review(
  target: ResourceTarget,
  read: () => Promise<JsonObject>,
  user: User,
  { store, tokens }: Reviewer,
): Promise<JsonObject | undefined> {
  const kind = KINDS[`${target.group}/${target.plural}`];
  if (kind === undefined || target.version !== 'v1') return undefined;
  const body = await read();
  const metadata = isObject(body['metadata']) ? body['metadata'] : { creationTimestamp: null };
  const spec = object(body['spec']);
  const answer = (status: JsonObject): JsonObject => ({ kind, apiVersion: `${target.group}/v1`, metadata, spec, status });
  switch (kind) {
    case 'SelfSubjectReview':
      return { kind, apiVersion: `${target.group}/v1`, metadata, status: { userInfo: userInfo(user) } };
    case 'TokenReview': {
      const of = tokens.userOf(text(spec['token']));
      return answer(of === undefined ? { user: {}, error: 'invalid bearer token' } : { authenticated: true, user: userInfo(of) });
    }
    case 'SelfSubjectRulesReview': {
      const rules = rulesOf(store, user, text(spec['namespace']));
      return answer({
        resourceRules: rules.filter((rule) => at(rule, 'resources') !== undefined),
        nonResourceRules: rules.filter((rule) => at(rule, 'nonResourceURLs') !== undefined),
        incomplete: false,
      });
    }
    default: {
      const asked: User = kind === 'SelfSubjectAccessReview' ? user : { name: text(spec['user']), groups: list(spec['groups']).map(text) };
      return answer({ allowed: isAllowed(store, asked, attemptOf(spec)) });
    }
  }
}

function attemptOf(spec: JsonObject): Attempt {
  const of: Json | undefined = spec['resourceAttributes'] ?? spec['nonResourceAttributes'];
  const field = (name: string): string => text(at(of, name));
  return {
    verb: field('verb'),
    group: field('group'),
    resource: field('resource'),
    subresource: field('subresource'),
    namespace: field('namespace'),
    name: field('name'),
    path: spec['resourceAttributes'] === undefined ? field('path') : '',
  };
}
