/** One Kubernetes object: the outputs of the rules against the observed object. */
import { storableLabels } from '../api/values/label-value.ts';
import { FINALIZER, kilnAnnotation, LEGACY_FINALIZERS } from '../api/well-known.ts';
import type { ConditionOutput, DeleteOutput, Json, ObjectOutput, PatchOutput } from '../compile/output.ts';
import { conditionsOf } from '../world/conditions.ts';
import { byContents } from '../engine/content-order.ts';
import type { ResourceName } from '../world/resources.ts';
import { splitKey, traitsOf } from '../world/resources.ts';
import type { ConditionDiff, ConditionStamp, PlannedEvent } from './condition-diff.ts';
import { diffConditions, eventOfCondition } from './condition-diff.ts';
import { sameJson } from './json-equal.ts';
import { withoutPruned } from './pruned-paths.ts';

/** An observed object, as trimmed by the cache. */
export interface AnyObject {
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid: string;
    readonly resourceVersion: string;
    readonly generation?: number;
    readonly deletionTimestamp?: string;
    readonly annotations?: Readonly<Record<string, string>>;
    readonly labels?: Readonly<Record<string, string>>;
    readonly finalizers?: readonly string[];
  };
  readonly spec?: unknown;
  readonly status?: unknown;
}

export type ObjectWrite = {
  readonly resource: ResourceName;
  readonly namespace: string;
  readonly name: string;
  readonly events: readonly PlannedEvent[];
} & (
  | { readonly verb: 'create'; readonly object: { readonly [key: string]: Json | undefined } }
  | { readonly verb: 'delete'; readonly uid: string }
  | { readonly verb: 'evict'; readonly uid: string }
  | {
      readonly verb: 'patch';
      readonly subresource: 'status' | undefined;
      /** Strategic merge patches lists by key: Kiln and the kubelet share a pod's conditions. */
      readonly style: 'merge' | 'strategic';
      readonly patch: Readonly<Record<string, unknown>>;
      readonly uid: string;
      readonly resourceVersion?: string;
    }
);

/**
 * The writes that make an object as the rules emit it; none if it is.
 *
 * Guarantees:
 * - A patch names only fields that differ. Fields that no rule emits stay, and so do finalizers and conditions of other programs.
 * - A write is for the object that the rules saw: deletions, evictions and patches have its uid. Patches of spec, finalizers, status and
 *   lists also have the resourceVersion, so a concurrent change makes the server reject them (the API server does not check the uid of a
 *   status patch).
 * - The finalizer is removed only if every rule that sets it agrees; with the last finalizer no further write is returned.
 * - The Events of a write are emitted once, after it has succeeded.
 *
 * It retries nothing: after a failed write the caller compares again, with the newer object. Cost: one pass over the outputs and the fields
 * that they name.
 *
 * @param now RFC 3339, the time of conditions that change
 * @param monotonic likewise, by the monotonic clock: later than `now` after the machine's clock was set back
 * @param pruned fields that the server drops: they are not written again
 */
export function diffObject(
  resource: ResourceName,
  key: string,
  outputs: readonly ObjectOutput[],
  observed: AnyObject | undefined,
  now: string,
  monotonic = now,
  pruned = NOTHING_PRUNED,
): readonly ObjectWrite[] {
  const { namespace, name } = splitKey(key);
  const target = { resource, namespace, name };
  if (observed === undefined) {
    const create = firstOf(outputs.filter((output) => output.kind === 'create'));
    return create === undefined ? [] : [{ ...target, verb: 'create', object: create.object, events: [] }];
  }
  const { uid, deletionTimestamp } = observed.metadata;
  const writes: ObjectWrite[] = [];
  const own = outputs.filter((output): output is PatchOutput => output.kind === 'patch' && output.uid === uid);
  const patches = pruned.size === 0 ? own : own.map((patch) => withoutPrunedFields(patch, pruned));
  writes.push(...patchWrites(target, patches, observed, { now, monotonic }));
  const doomed = outputs.filter((output): output is DeleteOutput => output.kind === 'delete' && output.uid === uid);
  if (doomed.length > 0 && deletionTimestamp === undefined) {
    const events = doomed.flatMap(({ event }) => event ?? []);
    writes.push({ ...target, verb: 'delete', uid, events });
  }
  for (const output of outputs) {
    if (output.kind === 'evict' && output.uid === uid && doomed.length === 0 && deletionTimestamp === undefined)
      writes.push({ ...target, verb: 'evict', uid, events: output.event === undefined ? [] : [output.event] });
  }
  return writes;
}

const NOTHING_PRUNED: ReadonlySet<string> = new Set();

function withoutPrunedFields(patch: PatchOutput, pruned: ReadonlySet<string>): PatchOutput {
  const { spec, status, conditions = [], ...rest } = patch;
  return {
    ...rest,
    ...(spec !== undefined && { spec: withoutPruned(spec, pruned, 'spec') as typeof spec }),
    ...(status !== undefined && { status: withoutPruned(status, pruned, 'status') as typeof status }),
    conditions: pruned.has('status') || pruned.has('status.conditions') ? [] : conditions,
  };
}

type Target = Pick<ObjectWrite, 'resource' | 'namespace' | 'name'>;
type Times = Pick<ConditionStamp, 'now' | 'monotonic'>;

function patchWrites(target: Target, patches: readonly PatchOutput[], observed: AnyObject, times: Times): ObjectWrite[] {
  if (patches.length === 0) return [];
  const traits = traitsOf(target.resource);
  const { uid, resourceVersion } = observed.metadata;
  const shown = conditionDiff(target.resource, patches, observed, times);
  const inAnnotation = traits.conditions === 'annotation';
  const metadata = metadataPatch(patches, observed, inAnnotation && shown !== undefined ? JSON.stringify(shown.conditions) : undefined);
  const spec = fieldsPatch(
    patches.map((patch) => patch.spec),
    observed.spec,
  );
  const status = statusPatch(target.resource, patches, observed, shown);
  const inMain = {
    ...(metadata !== undefined && { metadata }),
    ...(spec !== undefined && { spec }),
    ...(status !== undefined && !traits.statusSubresource && { status }),
  };
  // The write that removes the last finalizer deletes the object: no further write can succeed.
  const letGo =
    observed.metadata.deletionTimestamp !== undefined && Array.isArray(metadata?.finalizers) && metadata.finalizers.length === 0;
  const events = shown === undefined ? [] : conditionEvents(shown, patches);
  const writes: ObjectWrite[] = [];
  if (Object.keys(inMain).length > 0) {
    // A merge patch replaces the whole list of conditions: without the resourceVersion it would undo a concurrent change.
    const listed = shown !== undefined && (inAnnotation || 'status' in inMain);
    const pinned = spec !== undefined || metadata?.finalizers !== undefined || listed;
    // Without the Event of a patch that an earlier write has sent.
    const own = patches.flatMap((patch) => (patch.event === undefined || !changes(patch, observed) ? [] : [patch.event]));
    writes.push({
      ...target,
      verb: 'patch',
      subresource: undefined,
      style: 'merge',
      patch: inMain,
      uid,
      ...(pinned ? { resourceVersion } : {}),
      events: letGo || !traits.statusSubresource || inAnnotation ? [...own, ...events] : own,
    });
  }
  if (status !== undefined && traits.statusSubresource && !letGo) {
    const isShared = traits.sharedConditions === true;
    writes.push({
      ...target,
      verb: 'patch',
      subresource: 'status',
      style: isShared ? 'strategic' : 'merge',
      patch: { status },
      uid,
      ...(isShared ? {} : { resourceVersion }),
      events: traits.conditions === 'status' ? events : [],
    });
  }
  return writes;
}

/** Undefined if all conditions are as desired, or the kind has none. */
function conditionDiff(
  resource: ResourceName,
  patches: readonly PatchOutput[],
  observed: AnyObject,
  times: Times,
): ConditionDiff | undefined {
  const { conditions, statusSubresource, sharedConditions } = traitsOf(resource);
  if (conditions === 'none') return undefined;
  const desired = oneOfEachType(gathered(patches, (patch) => patch.conditions));
  const without: readonly string[] = gathered(patches, (patch) => patch.withoutConditions);
  // Without the subresource each status write is a new generation: observedGeneration would never equal it.
  const observedGeneration = conditions === 'status' && !statusSubresource ? undefined : observed.metadata.generation;
  const stamp = { ...times, observedGeneration, extended: sharedConditions !== true };
  return diffConditions(conditionsOf(resource, observed), desired, without, stamp);
}

function conditionEvents({ withEvent, removed }: ConditionDiff, patches: readonly PatchOutput[]): PlannedEvent[] {
  return [
    ...withEvent.flatMap((condition) => eventOfCondition(condition) ?? []),
    ...patches.flatMap(({ eventsWithout = {} }) => removed.flatMap((type) => eventsWithout[type] ?? [])),
  ];
}

/** Undefined if the status is as desired. */
function statusPatch(
  resource: ResourceName,
  patches: readonly PatchOutput[],
  observed: AnyObject,
  shown: ConditionDiff | undefined,
): Record<string, unknown> | undefined {
  const fields = fieldsPatch(
    patches.map((patch) => patch.status),
    observed.status,
  );
  if (shown === undefined || traitsOf(resource).conditions !== 'status') return fields;
  return {
    ...fields,
    conditions: traitsOf(resource).sharedConditions === true ? mergedByType(resource, patches, observed, shown) : shown.conditions,
  };
}

/** For a strategic merge patch: the changed conditions, and `$patch: delete` for each removed one. */
function mergedByType(
  resource: ResourceName,
  patches: readonly PatchOutput[],
  observed: AnyObject,
  { changed, conditions }: ConditionDiff,
): readonly unknown[] {
  const without: readonly string[] = gathered(patches, (patch) => patch.withoutConditions);
  return [
    ...changed.map((one) => conditions.find((condition) => condition.type === one.type)),
    ...conditionsOf(resource, observed)
      .filter((held) => without.includes(held.type) && !conditions.some(({ type }) => type === held.type))
      .map(({ type }) => ({ $patch: 'delete', type })),
  ];
}

/** The lists of all patches, concatenated. */
function gathered<T>(patches: readonly PatchOutput[], of: (patch: PatchOutput) => readonly T[] | undefined): readonly T[] {
  const all: T[] = [];
  for (const patch of patches) {
    const list = of(patch);
    if (list !== undefined) all.push(...list);
  }
  return all;
}

function metadataPatch(
  patches: readonly PatchOutput[],
  observed: AnyObject,
  conditionsText: string | undefined,
): Record<string, unknown> | undefined {
  const { annotations = {}, labels = {}, finalizers = [], deletionTimestamp } = observed.metadata;
  const patch: Record<string, unknown> = {};
  const annotationPatches = patches.map((one) => one.annotations);
  if (conditionsText !== undefined)
    annotationPatches.push({ [kilnAnnotation.conditions]: conditionsText === '[]' ? null : conditionsText });
  const annotationsPatch = fieldsPatch(annotationPatches, annotations);
  if (annotationsPatch !== undefined) patch.annotations = annotationsPatch;
  const labelsPatch = fieldsPatch(
    patches.map((one) => (one.labels === undefined ? undefined : storableLabels(one.labels))),
    labels,
  );
  if (labelsPatch !== undefined) patch.labels = labelsPatch;
  const opinions = patches.filter((one) => one.finalizer !== undefined);
  if (opinions.length > 0) {
    const keep = opinions.some((one) => one.finalizer === true);
    const others = finalizers.filter((one) => one !== FINALIZER && !LEGACY_FINALIZERS.includes(one));
    // The API server adds no finalizer to an object that is being deleted: there an older one of Kube-OVN stays instead.
    const takesOwn = finalizers.includes(FINALIZER) || deletionTimestamp === undefined;
    const desired = !keep ? others : takesOwn ? [...others, FINALIZER] : finalizers;
    if (!sameMembers(desired, finalizers)) patch.finalizers = desired;
  }
  return Object.keys(patch).length === 0 ? undefined : patch;
}

function changes(patch: PatchOutput, observed: AnyObject): boolean {
  return metadataPatch([patch], observed, undefined) !== undefined || fieldsPatch([patch.spec], observed.spec) !== undefined;
}

/** The fields of several contributions that differ; null removes an existing field. */
function fieldsPatch(
  contributions: readonly (Readonly<Record<string, unknown>> | undefined)[],
  observed: unknown,
): Record<string, unknown> | undefined {
  const held = typeof observed === 'object' && observed !== null ? (observed as Readonly<Record<string, unknown>>) : {};
  let patch: Record<string, unknown> | undefined;
  for (const fields of contributions) {
    if (fields === undefined) continue;
    for (const name of Object.keys(fields)) {
      const value = chosen(name, fields[name], contributions);
      if (value === undefined) continue;
      if (value === null ? held[name] !== undefined && held[name] !== null : !sameJson(held[name], value))
        (patch ??= {})[name] = value === null ? null : mergeable(value, held[name]);
    }
  }
  return patch;
}

/** The value of a field that several contributions name: a value before its removal, then by text. So their order does not matter. */
function chosen(name: string, value: unknown, contributions: readonly (Readonly<Record<string, unknown>> | undefined)[]): unknown {
  if (contributions.length === 1) return value;
  let found = value;
  for (const fields of contributions) {
    const other = fields?.[name];
    if (other === undefined || other === found || other === null) continue;
    if (found === undefined || found === null || byContents(other, found) < 0) found = other;
  }
  return found;
}

/** Of conditions of one type the first by text, in whatever order they are. */
function oneOfEachType(conditions: readonly ConditionOutput[]): readonly ConditionOutput[] {
  if (conditions.length < 2) return conditions;
  const found = new Map<string, ConditionOutput>();
  for (const one of conditions) {
    const other = found.get(one.type);
    if (other === undefined || byContents(one, other) < 0) found.set(one.type, one);
  }
  return found.size === conditions.length ? conditions : [...found.values()];
}

function firstOf<T>(outputs: readonly T[]): T | undefined {
  return outputs.length < 2 ? outputs[0] : outputs.toSorted(byContents)[0];
}

/** A merge patch merges objects: a key to remove must be null in it. */
function mergeable(value: unknown, held: unknown): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  if (typeof held !== 'object' || held === null || Array.isArray(held)) return value;
  const merged: Record<string, unknown> = { ...value };
  for (const [key, old] of Object.entries(held))
    merged[key] = Object.hasOwn(value, key) ? mergeable((value as Record<string, unknown>)[key], old) : null;
  return merged;
}

function sameMembers(a: readonly string[], b: readonly string[]): boolean {
  return a.length === b.length && a.every((one) => b.includes(one));
}
