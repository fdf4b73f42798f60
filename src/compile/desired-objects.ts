/** The desired Kubernetes objects and fields of objects: outputs by object. */
import type { ResourceName } from '../world/resources.ts';
import { KeyedOutputs } from '../engine/keyed-outputs.ts';
import type { ConditionOutput, ObjectId, ObjectOutput } from './output.ts';
import { objectId } from './output.ts';

/** Number of objects of a resource with this condition, status and reason. */
export interface ConditionCount extends Pick<ConditionOutput, 'type' | 'status' | 'reason'> {
  readonly resource: ResourceName;
  objects: number;
}

export class DesiredObjects extends KeyedOutputs<ObjectOutput, ObjectId> {
  readonly #conditionCounts = new Map<string, ConditionCount>();

  constructor() {
    super(['patch', 'create', 'delete', 'evict'], identities(), 'any');
  }

  get conditionCounts(): IterableIterator<Readonly<ConditionCount>> {
    return this.#conditionCounts.values();
  }

  override add(output: ObjectOutput): void {
    super.add(output);
    this.#countConditions(output, 1);
  }

  override remove(output: ObjectOutput): void {
    super.remove(output);
    this.#countConditions(output, -1);
  }

  #countConditions(output: ObjectOutput, by: 1 | -1): void {
    if (output.kind !== 'patch') return;
    const { resource, conditions = [] } = output;
    for (const { type, status, reason } of conditions) {
      const key = `${resource} ${type} ${status} ${reason}`;
      const count = this.#conditionCounts.get(key);
      if (count === undefined) this.#conditionCounts.set(key, { resource, type, status, reason, objects: by });
      else count.objects += by;
    }
  }
}

/** A rule emits several outputs for one object, so the last identity is remembered. */
function identities(): (output: ObjectOutput) => ObjectId {
  let last: Pick<ObjectOutput, 'resource' | 'key'> | undefined;
  let id = '' as ObjectId;
  return (output) => {
    if (last?.key !== output.key || last.resource !== output.resource) {
      last = output;
      id = objectId(output.resource, output.key);
    }
    return id;
  };
}
