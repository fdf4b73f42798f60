/** `pods/binding` and `pods/eviction`, and the subresources that need a container. */
import { timestamp } from '../environment.ts';
import type { JsonObject } from '../json.ts';
import { at, isObject, list, object, text } from '../json.ts';
import type { KubeObject } from '../object.ts';
import type { Operations } from '../operations.ts';
import type { DeleteOptions } from '../operations.ts';
import type { ResourceDefinition } from '../resource.ts';
import { ApiError, badRequest, conflict, required, invalid } from '../status.ts';
import { selectsLabels } from '../selectors.ts';
import { storeKey } from '../store.ts';
import { bindPod } from './pod.ts';

const SUCCESS: JsonObject = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 };

/** @throws ApiError 404, 409, 422 */
export function bindPodTo(
  operations: Operations,
  pods: ResourceDefinition,
  namespace: string,
  name: string,
  binding: JsonObject,
  dryRun: boolean,
): JsonObject {
  const node = text(at(binding, 'target', 'name'));
  if (node === '') throw invalid({ group: '', kind: 'Binding' }, name, [required('target.name')]);
  operations.replaceState(
    pods,
    namespace,
    name,
    (pod) => {
      const current = text(at(pod, 'spec', 'nodeName'));
      if (pod.metadata.deletionTimestamp !== undefined)
        throw conflict({ group: '', plural: 'pods/binding' }, name, `pod ${name} is being deleted, cannot be assigned to a host`);
      if (current !== '')
        throw conflict({ group: '', plural: 'pods/binding' }, name, `pod ${name} is already assigned to node ${JSON.stringify(current)}`);
      return bindPod(pod, node, timestamp(operations.environment.now()));
    },
    dryRun,
  );
  return SUCCESS;
}

/**
 * Deletes the pod if every disruption budget that selects it allows a disruption. Each budget then allows one less until its controller
 * counts again. @throws ApiError 400, 404, 429
 */
export function evict(
  operations: Operations,
  pods: ResourceDefinition,
  namespace: string,
  name: string,
  eviction: JsonObject,
  dryRun: boolean,
): JsonObject {
  if (at(eviction, 'metadata', 'name') !== name) throw badRequest('name in URL does not match name in Eviction object');
  const pod = operations.get(pods, namespace, name);
  const phase = at(pod, 'status', 'phase');
  const counts = phase !== 'Pending' && phase !== 'Succeeded' && phase !== 'Failed' && pod.metadata.deletionTimestamp === undefined;
  const budgets = counts
    ? operations.store
        .list('poddisruptionbudgets', namespace)
        .filter((budget) => selectsLabels(at(budget, 'spec', 'selector'), pod.metadata.labels ?? {}))
    : [];
  for (const budget of budgets) {
    const allowed = Number(at(budget, 'status', 'disruptionsAllowed') ?? 0);
    if (allowed > 0) continue;
    const needs = `The disruption budget ${budget.metadata.name} needs ${String(at(budget, 'status', 'desiredHealthy') ?? 0)} healthy pods and has ${String(at(budget, 'status', 'currentHealthy') ?? 0)} currently`;
    throw new ApiError(429, 'TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [{ reason: 'DisruptionBudget', message: needs }],
    });
  }
  const given = eviction['deleteOptions'];
  const grace = isObject(given) && typeof given['gracePeriodSeconds'] === 'number' ? given['gracePeriodSeconds'] : undefined;
  // `kubectl drain --dry-run=server` sets the dry run in this body, not in the query.
  const asked = isObject(given) && Array.isArray(given['dryRun']) && given['dryRun'].includes('All');
  const options: DeleteOptions = { dryRun: dryRun || asked, ...(grace === undefined ? {} : { gracePeriodSeconds: grace }) };
  if (options.dryRun !== true) for (const budget of budgets) useUp(operations, budget, name);
  operations.delete(pods, namespace, name, options);
  return SUCCESS;
}

function useUp({ store, environment }: Operations, budget: KubeObject, pod: string): void {
  const status = object(budget['status']);
  const { namespace = '', name } = budget.metadata;
  store.put('poddisruptionbudgets', storeKey(namespace, name), {
    ...budget,
    status: {
      ...status,
      disruptionsAllowed: Number(status['disruptionsAllowed'] ?? 0) - 1,
      disruptedPods: { ...object(status['disruptedPods']), [pod]: timestamp(environment.now()) },
    },
  });
}

/** @throws ApiError for each subresource that needs a container, except for the log of a pod without a node */
export function refuseContainer(pod: KubeObject, subresource: string, container: string): void {
  const { name } = pod.metadata;
  const names = ['initContainers', 'containers'].flatMap((field) => list(at(pod, 'spec', field)).map((one) => text(at(one, 'name'))));
  if (container !== '' && !names.includes(container)) throw badRequest(`container ${container} is not valid for pod ${name}`);
  if (text(at(pod, 'spec', 'nodeName')) !== '')
    throw new ApiError(501, 'NotImplemented', `pods of this laboratory have no containers: ${subresource} is not served`);
  if (subresource !== 'log') throw badRequest(`pod ${name} does not have a host assigned`);
}
