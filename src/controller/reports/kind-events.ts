import type { PlannedEvent } from '../../diff/condition-diff.ts';
import type { Delta } from '../../kube/cache/delta.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';

export interface ChangeEvent {
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly event: PlannedEvent;
}

/** The part `events` of the record of a kind. @param delta as the cache of the resource has it, with trimmed objects */
export type KindEvents = (delta: Delta<KubeObject>) => readonly ChangeEvent[];
