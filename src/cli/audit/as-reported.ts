/**
 * Objects as a controller of Kiln would report on them: with the conditions of its plan. Beside Kube-OVN's controller, and where none runs, the objects themselves
 * do not say what is wrong with them.
 */
import type { Condition } from '../../api/kubernetes/meta.ts';
import type { ObjectId } from '../../compile/output.ts';
import { objectId } from '../../compile/output.ts';
import type { PlannedChanges } from '../../explain/plan-text.ts';
import type { AsReported } from '../../explain/status.ts';
import { conditionsOf } from '../../world/conditions.ts';
import type { ResourceName } from '../../world/resources.ts';
import { keyOf } from '../../world/resources.ts';
import type { AnyObservedObject } from '../../world/world.ts';

type Patch = Extract<PlannedChanges['objects'][number], { readonly verb: 'patch' }>;

export function asReported({ objects }: PlannedChanges): AsReported {
  const patches = new Map<ObjectId, Patch[]>();
  for (const write of objects) {
    if (write.verb !== 'patch') continue;
    const id = objectId(write.resource, keyOf({ metadata: write }));
    patches.set(id, [...(patches.get(id) ?? []), write]);
  }
  return (resource, key, object) =>
    (patches.get(objectId(resource, key)) ?? []).reduce((so, patch) => withConditions(resource, so, patch), object);
}

function withConditions(resource: ResourceName, object: AnyObservedObject, { patch, style }: Patch): AnyObservedObject {
  const { annotations } = (patch['metadata'] ?? {}) as { readonly annotations?: Readonly<Record<string, string | null>> };
  const { conditions } = (patch['status'] ?? {}) as { readonly conditions?: readonly (Condition & { readonly $patch?: string })[] };
  let after = object;
  if (annotations !== undefined) {
    const set = Object.entries(annotations).filter((pair): pair is [string, string] => pair[1] !== null);
    const kept = Object.entries(object.metadata.annotations ?? {}).filter(([name]) => !(name in annotations));
    after = { ...after, metadata: { ...after.metadata, annotations: Object.fromEntries([...kept, ...set]) } };
  }
  if (conditions === undefined) return after;
  const types = new Set(conditions.map(({ type }) => type));
  const kept = style === 'strategic' ? conditionsOf(resource, object).filter(({ type }) => !types.has(type)) : [];
  const all = [...kept, ...conditions.filter(({ $patch }) => $patch === undefined)];
  return { ...after, status: { ...(object.status as object | undefined), conditions: all } };
}
