/**
 * The state of an object in a tree: ready, reason, since when.
 */
import type { Condition } from '../api/kubernetes/meta.ts';
import { POD_CONDITION } from '../api/well-known.ts';
import { conditionsOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';
import type { StatefulObject } from './kind-words.ts';
import { wordsOf } from './words.ts';

export interface ObjectState {
  /** `-` for kinds without readiness. */
  readonly ready: 'True' | 'False' | '-';
  readonly reason: string;
  /** Message of the condition; empty without one. */
  readonly message: string;
  /** RFC 3339: the last transition, or the deletion. */
  readonly since: string;
}

/** Conditions that are a problem when `True`. */
const ABNORMAL = ['DeletionBlocked', 'AddressConflict'];
/** Conditions that are a problem when `False`. */
const NORMAL = ['Accepted', POD_CONDITION, 'Ready'];

export function stateOf(resource: ResourceName, object: StatefulObject): ObjectState {
  const { metadata } = object;
  const conditions = conditionsOf(resource, object);
  const blocked = find(conditions, 'DeletionBlocked', 'True');
  if (metadata.deletionTimestamp !== undefined)
    return {
      ready: 'False',
      reason: blocked === undefined ? 'Terminating' : 'DeletionBlocked',
      message: blocked?.message ?? '',
      since: metadata.deletionTimestamp,
    };
  const wrong = [...ABNORMAL.map((type) => find(conditions, type, 'True')), ...NORMAL.map((type) => find(conditions, type, 'False'))].find(
    (condition) => condition !== undefined,
  );
  if (wrong !== undefined)
    return {
      ready: 'False',
      reason: wrong.reason ?? wrong.type,
      message: wrong.message ?? '',
      since: wrong.lastTransitionTime ?? metadata.creationTimestamp,
    };
  const condition = find(conditions, 'Ready', 'True');
  const since = condition?.lastTransitionTime ?? metadata.creationTimestamp;
  if (condition !== undefined) return { ready: 'True', reason: condition.reason ?? '', message: '', since };
  const readiness = wordsOf(resource).readiness?.(object);
  if (readiness === undefined) return { ready: '-', reason: '', message: '', since };
  return { ready: readiness.ready ? 'True' : 'False', reason: readiness.reason, message: '', since };
}

function find(conditions: readonly Condition[], type: string, status: 'True' | 'False'): Condition | undefined {
  return conditions.find((condition) => condition.type === type && condition.status === status);
}
