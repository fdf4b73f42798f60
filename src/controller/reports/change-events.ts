/**
 * Events about changes between two observed states of an object, which no rule sees: of a Subnet's gateway, and of addresses that pods no
 * longer have. With Kube-OVN's reasons and sentences. As Kube-OVN's they are sent by the process that leads when it observes the change,
 * and not later.
 */
import { EVENTS_OF_KINDS } from '../../kinds/generated/events.ts';
import type { Delta } from '../../kube/cache/delta.ts';
import type { KubeObject } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import type { ChangeEvent, KindEvents } from './kind-events.ts';

const EVENTS: Readonly<Partial<Record<ResourceName, KindEvents>>> = EVENTS_OF_KINDS;

/** @param delta as the cache of the resource has it, with trimmed objects */
export function eventsOfChange(resource: ResourceName, delta: Delta<KubeObject>): readonly ChangeEvent[] {
  return EVENTS[resource]?.(delta) ?? [];
}
