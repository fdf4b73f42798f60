import type { ObservedCondition, WrittenObject } from '../../agent/world/agent-table.ts';
import { agentTableOf } from '../../agent/world/agent-table.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { resource } from './resource.ts';

/** A node. Of another one than that of the agent, its addresses alone. */
export interface NodeFacts extends WrittenObject {
  /** Its InternalIP addresses. */
  readonly addresses: readonly string[];
  /** Hosts of the images that it has, as in their names. Missing: none. */
  readonly registries?: readonly string[];
}

interface NodeObject extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly labels?: Readonly<Record<string, string>> };
  readonly status?: {
    readonly addresses?: readonly { readonly type: string; readonly address: string }[];
    readonly images?: readonly { readonly names?: readonly string[] }[];
    readonly conditions?: readonly (Partial<ObservedCondition> & { readonly type: string })[];
  };
}

export const agentTable = agentTableOf({
  resource,
  view: ({ metadata, status }: NodeObject, node: string): NodeFacts => {
    const { name, uid = '', annotations, labels } = metadata;
    const addresses = (status?.addresses ?? []).filter(({ type }) => type === 'InternalIP').map(({ address }) => address);
    if (name !== node) return { uid, annotations: {}, labels: {}, conditions: {}, addresses };
    return {
      uid,
      annotations: annotations ?? {},
      labels: labels ?? {},
      conditions: networkUnavailable(status?.conditions),
      addresses,
      ...registriesOf(status?.images),
    };
  },
});

function registriesOf(images: NonNullable<NodeObject['status']>['images'] = []): Pick<NodeFacts, 'registries'> {
  const registries = [...new Set(images.flatMap(({ names = [] }) => names.flatMap(registryOf)))].toSorted();
  return registries.length === 0 ? {} : { registries };
}

/** `registry.shop.example:5000/web:1` @returns nothing for a name without a host */
function registryOf(image: string): readonly string[] {
  const [first = '', ...rest] = image.split('/');
  return rest.length > 0 && /[.:]|^localhost$/.test(first) ? [first] : [];
}

/** Without the time of the heartbeat, which says nothing about the network. The other conditions are the kubelet's. */
function networkUnavailable(conditions: NonNullable<NodeObject['status']>['conditions'] = []): NodeFacts['conditions'] {
  const found = conditions.find(({ type }) => type === 'NetworkUnavailable');
  if (found === undefined) return {};
  const { status = '', reason = '', message = '', lastTransitionTime = '' } = found;
  return { NetworkUnavailable: { status, reason, message, lastTransitionTime } };
}
