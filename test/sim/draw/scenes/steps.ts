/** The vocabulary of scenes. */
import { podSpec } from '../../../../src/testing/drawn-kind.ts';
import { podAnnotation } from '../../../../src/api/well-known.ts';
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import type { ApiPath, Fault, Operation, RowChange, Step } from '../../steps/step.ts';
import { NAMESPACES, NODES, PODS, STATEFUL_SETS } from '../objects.ts';

export const CONVERGE: Step = { kind: 'converge' };

export function operation(operation: Operation): Step {
  return { kind: 'operation', ...operation };
}

export function fault(what: Fault): Step {
  return { kind: 'fault', ...what };
}

export function wait(ms: number): Step {
  return { kind: 'wait', ms };
}

export function create(path: ApiPath, name: string, spec: JsonObject, metadata: JsonObject = {}, namespace = ''): Step {
  const own = namespace === '' ? { name } : { name, namespace };
  return operation({ do: 'create', path, namespace, object: { metadata: { ...own, ...metadata }, spec } });
}

export function edit(path: ApiPath, name: string, spec: JsonObject, namespace = ''): Step {
  return operation({ do: 'edit', path, namespace, name, patch: { spec } });
}

export function annotate(path: ApiPath, name: string, annotations: JsonObject, namespace = ''): Step {
  return operation({ do: 'edit', path, namespace, name, patch: { metadata: { annotations } } });
}

export function setStatus(path: ApiPath, name: string, status: JsonObject, namespace = ''): Step {
  return operation({ do: 'edit', path, namespace, name, patch: { status }, status: true });
}

/** Deletes an object; a pod without grace period. */
export function remove(path: ApiPath, name: string, namespace = ''): Step {
  return operation({ do: 'delete', path, namespace, name, ...(path === PODS && { grace: 0 }) });
}

/** Deletes an object by force, without its finalizers. */
export function removeByForce(path: ApiPath, name: string, namespace = ''): Step {
  return operation({ do: 'remove-by-force', path, namespace, name });
}

export function row(table: string, place: number, change: RowChange, name?: string): Step {
  return operation({ do: 'row', table, place, change, ...(name !== undefined && { name }) });
}

export function namespace(name: string, annotations: JsonObject = {}, labels: JsonObject = {}): readonly Step[] {
  return [
    operation({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name } } }),
    operation({ do: 'edit', path: NAMESPACES, namespace: '', name, patch: { metadata: { annotations, labels } } }),
  ];
}

/** A pod, made again if it exists. */
export function pod(
  within: string,
  name: string,
  annotations: JsonObject = {},
  spec: JsonObject = {},
  metadata: JsonObject = {},
): readonly Step[] {
  return [
    remove(PODS, name, within),
    wait(300),
    create(PODS, name, { ...podSpec(), nodeName: 'n0', ...spec }, { annotations, labels: { app: name }, ...metadata }, within),
    wait(1_000),
  ];
}

/** A StatefulSet with this many pods, also if it exists. */
export function statefulSet(
  within: string,
  name: string,
  replicas = 1,
  annotations: JsonObject = {},
  more: JsonObject = {},
): readonly Step[] {
  const labels = { app: name };
  const template = { metadata: { labels, annotations }, spec: podSpec() };
  const spec = { replicas, serviceName: name, selector: { matchLabels: labels }, template, ...more };
  return [create(STATEFUL_SETS, name, spec, {}, within), edit(STATEFUL_SETS, name, { replicas, ...more }, within), wait(2_500)];
}

/** Annotations by which a pod requests a Subnet, and an address in it. */
export function inSubnet(subnet: string, address?: string): JsonObject {
  return {
    [podAnnotation('ovn', 'logical_switch')]: subnet,
    ...(address !== undefined && { [podAnnotation('ovn', 'ip_address')]: address }),
  };
}

export function ready(node: string, status: 'True' | 'False' = 'True'): Step {
  return setStatus(NODES, node, { conditions: [{ type: 'Ready', status }] });
}
