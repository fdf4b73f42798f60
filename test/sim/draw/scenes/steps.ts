/** Where `draw-seldom.ts` plays, a Subnet and a Namespace of its own, and the steps that its scenes are made of. */
import type { JsonObject } from '../../../../lab/apiserver/json.ts';
import { doing } from './incidents.ts';
import { NAMESPACES, PODS, podSpec, SUBNETS } from '../operations.ts';
import type { Random } from '../random.ts';
import type { ApiPath, Step } from '../../steps/step.ts';

/** Names like those of no other draw. */
export const SUBNET = 'r0';
export const NAMESPACE = 'seldom';
const POD_NAMES = ['r0', 'r1', 'r2'];

export function wait(ms: number): Step {
  return { kind: 'wait', ms };
}

export function create(path: ApiPath, name: string, spec: JsonObject, metadata: JsonObject = {}): Step {
  return doing({ do: 'create', path, namespace: '', object: { metadata: { name, ...metadata }, spec } });
}

export function edit(path: ApiPath, name: string, spec: JsonObject): Step {
  return doing({ do: 'edit', path, namespace: '', name, patch: { spec } });
}

export function vanish(path: ApiPath, name: string): Step {
  return doing({ do: 'vanish', path, namespace: '', name });
}

export function within(path: ApiPath, name: string, object: JsonObject, metadata: JsonObject = {}): Step {
  return doing({ do: 'create', path, namespace: NAMESPACE, object: { metadata: { name, namespace: NAMESPACE, ...metadata }, ...object } });
}

export function place(): readonly Step[] {
  return [
    create(SUBNETS, SUBNET, { cidrBlock: '10.95.0.0/24,fd00:95::/120', namespaces: [NAMESPACE], enableDHCP: true }),
    doing({ do: 'create', path: NAMESPACES, namespace: '', object: { metadata: { name: NAMESPACE } } }),
  ];
}

/** A pod that is made again with what it asks for. */
export function pod(random: Random, annotations: JsonObject, name = random.pick(POD_NAMES), more: JsonObject = {}): readonly Step[] {
  return [
    doing({ do: 'delete', path: PODS, namespace: NAMESPACE, name, grace: 0 }),
    wait(300),
    within(PODS, name, { spec: { ...podSpec(), nodeName: random.pick(['n0', 'n1']), ...more } }, { annotations, labels: { app: name } }),
  ];
}
