/**
 * The limits of an account as ValidatingAdmissionPolicies, for Kubernetes 1.31 and newer: with a stolen token of it an attacker can change only
 * what Kiln itself writes. `deploy/admission-policy.yaml` has those of the controller.
 */
import { stringify } from 'yaml';
import { ACCOUNT_LIMITS } from './account-limits.ts';
import type { AccountLimit } from './kind-rights.ts';
import { CONTROLLER_NAMESPACE } from './webhook-configuration.ts';

/** The name under which the API server knows the ServiceAccount of `deploy/rbac.yaml`. */
export const CONTROLLER_USER = `system:serviceaccount:${CONTROLLER_NAMESPACE}:kiln-controller`;

const API_VERSION = 'admissionregistration.k8s.io/v1';

interface ResourceRule {
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  readonly operations: readonly string[];
  readonly resources: readonly string[];
}

function rulesOf(resources: AccountLimit['resources']): readonly ResourceRule[] {
  return Object.entries(resources).map(([group, plurals]) => ({
    apiGroups: [group],
    apiVersions: ['*'],
    operations: ['*'],
    resources: plurals,
  }));
}

/** Reviews of the account's own identity and rights. They change nothing. */
const SELF_REVIEWS: AccountLimit['resources'] = { 'authentication.k8s.io': ['*'], 'authorization.k8s.io': ['*'] };

/** Denies every resource without a limit here, so a Role that grants more later still allows nothing. */
function unlistedResources(limits: readonly AccountLimit[]): object {
  return {
    resourceRules: rulesOf({ '*': ['*/*'] }),
    excludeResourceRules: [...limits.map(({ resources }) => resources), SELF_REVIEWS].flatMap(rulesOf),
  };
}

/** An account whose writes are limited. */
export interface LimitedAccount {
  /** Of the names of its policies. */
  readonly prefix: string;
  readonly user: string;
  /** Name of the condition by which its requests are found. */
  readonly condition: string;
  /** Begins the sentence of each denial: `the controller of Kiln`. */
  readonly subject: string;
  /** Of `deploy`, which each denial names. */
  readonly file: string;
  readonly limits: readonly AccountLimit[];
  /** Of everything else: continues the sentence. */
  readonly rest: string;
  /** Lines of comments. */
  readonly head: readonly string[];
}

function policy(account: LimitedAccount, part: string, matchConstraints: object, expression: string, message: string): readonly object[] {
  const { prefix, user, condition, subject, file } = account;
  const name = `${prefix}-${part}`;
  return [
    {
      apiVersion: API_VERSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints,
        matchConditions: [{ name: condition, expression: `request.userInfo.username == '${user}'` }],
        validations: [{ expression, message: `${subject} may only ${message} (${file})`, reason: 'Forbidden' }],
      },
    },
    {
      apiVersion: API_VERSION,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  ];
}

/** One policy for each limit, and one that denies the rest. */
export function policiesYaml(account: LimitedAccount): string {
  const { limits, rest, head } = account;
  const documents = [
    ...limits.flatMap(({ name, resources, expression, message }) =>
      policy(account, name, { resourceRules: rulesOf(resources) }, expression, message),
    ),
    ...policy(account, 'rest', unlistedResources(limits), 'false', rest),
  ];
  return `${head.join('\n')}\n${documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n')}`;
}

export function admissionPolicyYaml(): string {
  return policiesYaml({
    prefix: 'kiln-controller',
    user: CONTROLLER_USER,
    condition: 'controller',
    subject: 'the controller of Kiln',
    file: 'deploy/admission-policy.yaml',
    limits: ACCOUNT_LIMITS,
    rest: 'change what Kiln writes',
    head: [
      "# What the controller's account may change, for Kubernetes 1.31 and newer: generated, see deploy/README.md.",
      '# If the account has another name or namespace, or a built-in Vpc or Subnet another name, change it here as well.',
    ],
  });
}
