/**
 * `deploy/admission-policy.yaml`: the limits of the controller's account as ValidatingAdmissionPolicies, for Kubernetes 1.31 and newer.
 * With a stolen token of the account an attacker can change only what Kiln itself writes.
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
function unlistedResources(): object {
  return {
    resourceRules: rulesOf({ '*': ['*/*'] }),
    excludeResourceRules: [...ACCOUNT_LIMITS.map(({ resources }) => resources), SELF_REVIEWS].flatMap(rulesOf),
  };
}

function policy(name: string, matchConstraints: object, expression: string, message: string): readonly object[] {
  return [
    {
      apiVersion: API_VERSION,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: {
        failurePolicy: 'Fail',
        matchConstraints,
        matchConditions: [{ name: 'controller', expression: `request.userInfo.username == '${CONTROLLER_USER}'` }],
        validations: [
          { expression, message: `the controller of Kiln may only ${message} (deploy/admission-policy.yaml)`, reason: 'Forbidden' },
        ],
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

export function admissionPolicyYaml(): string {
  const documents = [
    ...ACCOUNT_LIMITS.flatMap(({ name, resources, expression, message }) =>
      policy(`kiln-controller-${name}`, { resourceRules: rulesOf(resources) }, expression, message),
    ),
    ...policy('kiln-controller-rest', unlistedResources(), 'false', 'change what Kiln writes'),
  ];
  const head =
    "# What the controller's account may change, for Kubernetes 1.31 and newer: generated, see deploy/README.md.\n" +
    `# If the account has another name or namespace, or a built-in Vpc or Subnet another name, change it here as well.\n`;
  return head + documents.map((document) => stringify(document, { lineWidth: 0, aliasDuplicateObjects: false })).join('---\n');
}
