/** Access reviews: whoever has come in may do everything. */
import type { JsonObject } from './json.ts';
import { isObject } from './json.ts';
import type { ResourceTarget } from './request.ts';

const KINDS: Readonly<Record<string, string>> = {
  'authorization.k8s.io/selfsubjectaccessreviews': 'SelfSubjectAccessReview',
  'authorization.k8s.io/subjectaccessreviews': 'SubjectAccessReview',
  'authorization.k8s.io/selfsubjectrulesreviews': 'SelfSubjectRulesReview',
  'authentication.k8s.io/selfsubjectreviews': 'SelfSubjectReview',
};

/** @returns undefined when the target is no review. */
export async function review(target: ResourceTarget, read: () => Promise<JsonObject>, user: string): Promise<JsonObject | undefined> {
  const kind = KINDS[`${target.group}/${target.plural}`];
  if (kind === undefined || target.version !== 'v1') return undefined;
  const body = await read();
  const metadata = isObject(body['metadata']) ? body['metadata'] : { creationTimestamp: null };
  const answer = { kind, apiVersion: `${target.group}/v1`, metadata };
  if (kind === 'SelfSubjectReview')
    return { ...answer, status: { userInfo: { username: user, groups: ['system:masters', 'system:authenticated'] } } };
  if (kind === 'SelfSubjectRulesReview') {
    return {
      ...answer,
      spec: body['spec'] ?? {},
      status: {
        resourceRules: [{ verbs: ['*'], apiGroups: ['*'], resources: ['*'] }],
        nonResourceRules: [{ verbs: ['*'], nonResourceURLs: ['*'] }],
        incomplete: false,
      },
    };
  }
  return { ...answer, spec: body['spec'] ?? {}, status: { allowed: true, reason: 'the laboratory allows everything' } };
}
