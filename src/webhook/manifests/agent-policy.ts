/**
 * `deploy/agent-policy.yaml`: what the account of the node agents may change, for Kubernetes 1.31 and newer, from what their rules write
 * (`agent-writes.ts` in the records of kinds). The node of an account is in its token, which kubelet asks for.
 */
import type { AgentWrites } from '../../api/agent-writes.ts';
import { AGENT_WRITES } from '../../kinds/generated/agent-writes.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { AccountLimit } from './kind-rights.ts';
import { all, byOperation, onlyConditions, onlyKeys, sameFields, sameMetadata, sameObject, text, texts } from './policy-expressions.ts';
import { policiesYaml } from './account-policy.ts';
import { CONTROLLER_NAMESPACE } from './webhook-configuration.ts';

/** The name under which the API server knows the ServiceAccount of `deploy/agent.yaml`. */
export const AGENT_USER = `system:serviceaccount:${CONTROLLER_NAMESPACE}:kiln-agent`;
const AGENT = 'kiln-agent';

/** The node of the token; a user without extra fields has none, and no field for them. */
const NODE = "request.userInfo.?extra[?'authentication.kubernetes.io/node-name'].orValue([])";
const isOwn = (name: string): string => `${name} in ${NODE}`;

const WRITES = Object.entries(AGENT_WRITES) as readonly (readonly [ResourceName, AgentWrites])[];

/** True if the key `k` is one of these. */
function oneOf(keys: readonly string[] = []): string {
  const exact = keys.filter((key) => !key.startsWith('.'));
  const endings = keys.filter((key) => key.startsWith('.'));
  return `(k in ${texts(exact)}${endings.map((ending) => ` || (k.endsWith('${ending}') && k != '${ending}')`).join('')})`;
}

/** For people: an ending stands for the keys of all networks. */
const shownKey = (key: string): string => (key.startsWith('.') ? `NAME${key}` : key);

const ofNode = WRITES.filter(([, { of }]) => of === 'node');

const OBJECTS: readonly AccountLimit[] = ofNode.map(([resource, { annotations, labels }]) => {
  const { group, plural, kind } = traitsOf(resource);
  return {
    name: plural,
    resources: { [group]: [plural] },
    expression: byOperation({
      ...(annotations !== undefined && {
        UPDATE: all(
          isOwn('object.metadata.name'),
          sameObject('metadata'),
          sameMetadata('annotations', 'labels'),
          onlyKeys('object.metadata.annotations', oneOf(annotations)),
          onlyKeys('object.metadata.labels', oneOf(labels)),
        ),
      }),
    }),
    message:
      annotations === undefined
        ? `change the status of the ${kind} with the name of its Node`
        : `change what its rules write on its own ${kind}: ${[...annotations, ...(labels ?? [])].map(shownKey).join(', ')}`,
  };
});

const STATUS: readonly AccountLimit[] = ofNode.map(([resource, { conditions, status = [] }]) => {
  const { group, plural, kind } = traitsOf(resource);
  return {
    name: `${plural}-status`,
    resources: { [group]: [`${plural}/status`] },
    expression: byOperation({
      UPDATE: all(
        isOwn('object.metadata.name'),
        sameObject('metadata', 'status'),
        sameMetadata(),
        sameFields('object.status', ...(conditions === undefined ? [] : ['conditions']), ...status),
        ...(conditions === undefined ? [] : [onlyConditions(conditions)]),
      ),
    }),
    message: `change ${[...(conditions ?? []).map((type) => `condition ${type}`), ...status].join(', ')} in the status of its own ${kind}`,
  };
});

/** Events say of which node their author is, and repetitions change nothing but the count. */
const EVENTS: AccountLimit = {
  name: 'events',
  resources: { '': ['events'] },
  expression: byOperation({
    CREATE: isAgentEvent('object'),
    UPDATE: all(isAgentEvent('oldObject'), sameObject('metadata', 'count', 'lastTimestamp'), sameMetadata()),
  }),
  message: 'create Events in the name of the agent of its own node, with reasons of its rules, and increase their count',
};

function isAgentEvent(event: 'object' | 'oldObject'): string {
  const about = WRITES.filter(([, { events }]) => events !== undefined).map(([resource, { of, events = [] }]) =>
    all(
      `${event}.involvedObject.kind == '${traitsOf(resource).kind}'`,
      `${event}.reason in ${texts(events)}`,
      ...(of === 'node' ? [isOwn(text(event, 'involvedObject.name'))] : []),
    ),
  );
  return all(
    `${text(event, 'reportingComponent')} == '${AGENT}'`,
    `${text(event, 'source.component')} == '${AGENT}'`,
    isOwn(text(event, 'reportingInstance')),
    about.map((one) => `(${one})`).join(' || '),
  );
}

export function agentPolicyYaml(): string {
  return policiesYaml({
    prefix: AGENT,
    user: AGENT_USER,
    condition: 'agent',
    subject: 'a node agent of Kiln',
    file: 'deploy/agent-policy.yaml',
    rest: 'change what its rules write',
    limits: [...OBJECTS, ...STATUS, EVENTS],
    head: [
      '# What an agent may change, for Kubernetes 1.31 and newer: generated from what its rules write, see deploy/README.md. Its rights alone would let an',
      '# agent change every Node, such as the taints of the others. The node of an account is in its token, which kubelet asks for (Kubernetes 1.30 and',
      '# newer). If the account has another name or namespace, change it here as well.',
    ],
  });
}
