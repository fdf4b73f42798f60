/** The states that `kiln wait` waits for: whether an object has reached one, and if not, why. */
import type { Condition } from '../api/kubernetes/meta.ts';
import { FINALIZER, LEGACY_FINALIZERS, POD_CONDITION } from '../api/well-known.ts';
import { conditionsOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import type { StatefulObject } from './kind-words.ts';
import { stateOf } from './object-state.ts';
import { wordsOf } from './words.ts';

export type AwaitedState =
  | { readonly kind: 'ready' }
  /** It has its network (pods, nodes), or its address. */
  | { readonly kind: 'bound' }
  | { readonly kind: 'deleted' }
  /** Type and status are compared without regard to case, as by kubectl. */
  | { readonly kind: 'condition'; readonly type: string; readonly status: string };

/** @param text of `--for`; undefined if it names no state */
export function awaitedState(text: string): AwaitedState | undefined {
  const [word = '', type = '', status = 'True', ...more] = text.split('=');
  if (word.toLowerCase() === 'condition') return type === '' || more.length > 0 ? undefined : { kind: 'condition', type, status };
  if (type !== '') return undefined;
  switch (word.toLowerCase()) {
    case 'ready':
      return { kind: 'ready' };
    case 'bound':
      return { kind: 'bound' };
    case 'deleted':
    case 'delete':
      return { kind: 'deleted' };
    default:
      return undefined;
  }
}

/** The state as a participle: `Subnet red is not Ready`. */
export function awaitedText(state: AwaitedState): string {
  if (state.kind === 'condition') return `${state.type}=${state.status}`;
  return { ready: 'Ready', bound: 'Bound', deleted: 'deleted' }[state.kind];
}

/** Whether objects of the kind can have an address or a network of their own. */
export function canBeBound(resource: ResourceName): boolean {
  return holdsAddress(resource) || (traitsOf(resource).group === '' && wordsOf(resource).addresses !== undefined);
}

function holdsAddress(resource: ResourceName): boolean {
  const { group, family, holdsPorts } = traitsOf(resource);
  return group !== '' && (family === 'address object' || holdsPorts === true);
}

/**
 * @param object untrimmed, as the API server serves it; undefined: it does not exist
 * @param before uid that the object had when the wait began: another one under its name means that it is gone
 * @returns why it has not reached the state; undefined if it has
 */
export function notYet(
  state: AwaitedState,
  resource: ResourceName,
  object: StatefulObject | undefined,
  before?: string,
): string | undefined {
  if (object === undefined) return state.kind === 'deleted' ? undefined : 'it does not exist';
  switch (state.kind) {
    case 'deleted':
      return before !== undefined && object.metadata.uid !== before ? undefined : notDeleted(resource, object);
    case 'condition':
      return notOfStatus(resource, object, state.type, state.status);
    case 'bound':
      return notBound(resource, object);
    case 'ready':
      return notReady(resource, object);
  }
}

function notDeleted(resource: ResourceName, object: StatefulObject): string {
  const { deletionTimestamp, finalizers = [] } = object.metadata;
  if (deletionTimestamp === undefined) return 'it is not being deleted';
  const { message } = stateOf(resource, object);
  if (message !== '') return message;
  const others = finalizers.filter((one) => one !== FINALIZER && !LEGACY_FINALIZERS.includes(one));
  if (others.length > 0) return `it waits for the programs that set its finalizers ${others.join(', ')}`;
  return finalizers.length > 0 ? 'its rows in OVN are being removed' : 'it is in its grace period';
}

function notOfStatus(resource: ResourceName, object: StatefulObject, type: string, status: string): string | undefined {
  const found = conditionsOf(resource, object).find((one) => one.type.toLowerCase() === type.toLowerCase());
  if (found === undefined) return `it has no condition ${type}`;
  if (isOld(found, object)) return OLD;
  return found.status.toLowerCase() === status.toLowerCase()
    ? undefined
    : `its condition ${found.type} is ${found.status}${because(found)}`;
}

function notBound(resource: ResourceName, object: StatefulObject): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return notDeleted(resource, object);
  if (holdsAddress(resource)) {
    const { ready, reason, message } = stateOf(resource, object);
    return ready === 'True' ? undefined : message || reason || 'it has no address';
  }
  const { hostNetwork } = (object.spec ?? {}) as { readonly hostNetwork?: boolean };
  if (hostNetwork === true) return undefined;
  const condition = conditionsOf(resource, object).find(({ type }) => type === POD_CONDITION);
  if (condition !== undefined) return condition.status === 'True' ? undefined : `it has no network${because(condition)}`;
  const allocated = Object.entries(object.metadata.annotations ?? {}).some(
    ([key, value]) => key.endsWith('.kubernetes.io/allocated') && value === 'true',
  );
  return allocated ? undefined : 'no controller has given it a network yet';
}

function notReady(resource: ResourceName, object: StatefulObject): string | undefined {
  if (object.metadata.deletionTimestamp !== undefined) return `it is being deleted: ${notDeleted(resource, object)}`;
  const conditions = conditionsOf(resource, object);
  const { ready, reason, message } = stateOf(resource, object);
  if (ready === 'False') return message || reason || 'it is not ready';
  const told = [
    conditions.find(({ type, status }) => type === 'Ready' && status === 'True'),
    conditions.find(({ type, status }) => type === 'Accepted' && status === 'True'),
  ].find((one) => one !== undefined);
  if (told !== undefined) return isOld(told, object) ? OLD : undefined;
  // A kind of Kubernetes, or an address: a field says it.
  if (ready === 'True') return undefined;
  // Kube-OVN's controller writes one of these fields where it writes no condition.
  const { ready: done, standby } = (object.status ?? {}) as { readonly ready?: boolean; readonly standby?: boolean };
  if (done === true || standby === true) return undefined;
  return traitsOf(resource).definition === undefined ? undefined : 'no controller has reported on it yet';
}

const OLD = 'the controller has not seen its latest change yet';

/** Kube-OVN's controller leaves the generation out, or zero. */
function isOld({ observedGeneration = 0 }: Condition, { metadata }: StatefulObject): boolean {
  return observedGeneration > 0 && observedGeneration < (metadata.generation ?? 0);
}

function because({ reason = '', message = '' }: Condition): string {
  const why = message || reason;
  return why === '' ? '' : `: ${why}`;
}
