/** Whether the user may delete all objects of a cascade, asked before the first deletion. */
import type { TreeObject } from '../../explain/dependents.ts';
import { isKubeError } from '../../kube/errors.ts';
import type { KubeClient } from '../../kube/client/client.ts';
import type { KubeObject, Resource } from '../../kube/resource.ts';
import { resourceName } from '../../kube/resource.ts';
import { traitsOf } from '../../world/resources.ts';
import type { OwnerPolicy } from './cascade-owners.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';
import type { Workload } from './workload-owner.ts';
import { commandText, inNamespace } from '../../text/command-text.ts';

const ACCESS_REVIEWS: Resource = {
  group: 'authorization.k8s.io',
  version: 'v1',
  plural: 'selfsubjectaccessreviews',
  kind: 'SelfSubjectAccessReview',
  namespaced: false,
};

/** Concurrent requests: a tenant may have many namespaces. */
const AT_ONCE = 32;

interface Wanted {
  readonly verb: 'delete' | 'patch';
  readonly resource: Resource;
  /** Empty for cluster-scoped objects. */
  readonly namespace: string;
}

interface AccessReview extends KubeObject {
  readonly spec: object;
  readonly status?: { readonly allowed?: boolean; readonly reason?: string };
}

/** @throws CommandFailure (3) that names each missing right */
export async function requireDeleteRights(
  client: KubeClient,
  steps: readonly TreeObject[],
  workloads: readonly Workload[],
  owners: OwnerPolicy,
): Promise<void> {
  const verb = owners === 'scale' ? 'patch' : 'delete';
  const all: readonly Wanted[] = [
    ...steps.map(({ resource, namespace }): Wanted => ({ verb: 'delete', resource: traitsOf(resource), namespace })),
    ...(owners === 'keep' ? [] : workloads.map(({ resource, namespace }): Wanted => ({ verb, resource, namespace }))),
  ];
  const each = [...new Map(all.map((one) => [wantedText(one), one])).values()];
  const missing: Wanted[] = [];
  for (let at = 0; at < each.length; at += AT_ONCE) {
    const some = each.slice(at, at + AT_ONCE);
    const allowed = await Promise.all(some.map((one) => isAllowed(client, one)));
    missing.push(...some.filter((_, place) => allowed[place] !== true));
  }
  const [first] = missing;
  if (first === undefined) return;
  const { verb: lacking, resource, namespace } = first;
  throw new CommandFailure(
    EXIT.unreachable,
    'nothing was deleted',
    `you may not ${missing.slice(0, 10).map(wantedText).join(', ')}`,
    commandText`kubectl auth can-i ${lacking} ${resourceName(resource)} ${inNamespace(namespace)}`,
  );
}

async function isAllowed(client: KubeClient, { verb, resource: { group, plural }, namespace }: Wanted): Promise<boolean> {
  const review = { metadata: { name: '' }, spec: { resourceAttributes: { verb, group, resource: plural, namespace } } };
  try {
    return (await client.create<AccessReview>(ACCESS_REVIEWS, review)).status?.allowed !== false;
  } catch (error) {
    // A user without the right to ask proceeds; the deletion itself will be denied.
    if (isKubeError(error, 'KUBE_NOT_SERVED') || isKubeError(error, 'KUBE_FORBIDDEN')) return true;
    throw error;
  }
}

function wantedText({ verb, resource, namespace }: Wanted): string {
  return `${verb} ${resourceName(resource)}${namespace === '' ? '' : ` in namespace ${namespace}`}`;
}
