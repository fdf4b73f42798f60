/**
 * All that `kiln explain` prints about one object, as a tree or as JSON.
 */
import { blockersOf } from '../blockers/blockers.ts';
import type { Blockers } from '../blockers/blockers.ts';
import { blockedSentence } from '../blockers/sentences.ts';
import type { OwnerReference } from '../api/kubernetes/meta.ts';
import { FINALIZER, LEGACY_FINALIZERS } from '../api/well-known.ts';
import { conditionOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf, traitsOf } from '../world/resources.ts';
import type { AnyObservedObject, World } from '../world/world.ts';
import { addressCounts } from './address-counts.ts';
import type { Branches } from './dependents.ts';
import { branchesOf, dependenciesOf, dependentsOf, treeObject } from './dependents.ts';
import type { DrawnObject, TreeLimits } from './dependents.ts';
import type { IneffectiveCondition } from './ineffective-conditions.ts';
import { ineffectiveConditions } from './ineffective-conditions.ts';
import { nextCommands } from './next-commands.ts';
import type { ObjectState } from './object-state.ts';
import { stateOf } from './object-state.ts';
import type { OwnedRows } from './owned-rows.ts';
import { ownedRows } from './owned-rows.ts';
import { wordsOf } from './words.ts';

export interface Waiting {
  readonly reason: string;
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
}

export interface Explanation {
  readonly subject: DrawnObject;
  /** Whether Kiln implements this kind. If not, `waiting` reports that. */
  readonly implemented: boolean;
  readonly dependencies: Branches;
  readonly dependents: Branches;
  /** Of a Subnet and an IPPool: how many addresses are in use and free, a text for each family; and what nodes have of them. */
  readonly counts: readonly string[];
  /** The present blockers of its deletion. */
  readonly blockers: Blockers;
  /** Its owners, which would create it again. */
  readonly owners: readonly OwnerReference[];
  /** The ReplicaSets, pods and addresses of a workload; the IP objects of a virtual machine. */
  readonly created: { readonly objects: readonly DrawnObject[]; readonly more: number };
  /** Undefined if the Northbound database was not read. */
  readonly rows: OwnedRows | undefined;
  /** Undefined if the object does not wait. */
  readonly waiting: Waiting | undefined;
  /** Ineffective and unimplemented parts of the object, beside the reason in `waiting`. */
  readonly notes: readonly IneffectiveCondition[];
  /** The sentence that no controller leads, so nothing will change. Undefined if one leads, or if that is unknown. */
  readonly unattended?: string | undefined;
  /** The next commands. */
  readonly next: readonly string[];
}

export interface ExplainOptions {
  readonly limits: TreeLimits;
  /** Whether the Northbound replica is complete. */
  readonly rows: boolean;
  /** Kinds that are not implemented, and why. */
  readonly unimplemented: (resource: ResourceName) => string | undefined;
}

const NOTHING = { objects: [], more: 0 };

/** @param object as the API server serves it now */
export function explain(world: World, resource: ResourceName, object: AnyObservedObject, options: ExplainOptions): Explanation {
  const key = keyOf(object);
  const state = stateOf(resource, object);
  const blockers = blockersOf(world, resource, key);
  const unimplemented = options.unimplemented(resource);
  const { limits } = options;
  const dependencies = dependenciesOf(world, resource, key, limits);
  const why = whyItWaits(world, resource, object, state, blockers, unimplemented);
  // The state of a pod that Kiln has finished with has no message.
  const waiting = why?.message === '' ? { ...why, message: missingAmong(dependencies.objects) } : why;
  const words = wordsOf(resource);
  const [users, created] = [words.users?.(world, key), words.created?.(world, key)];
  return {
    subject: { ...treeObject(world, resource, key), uid: object.metadata.uid, created: object.metadata.creationTimestamp, state },
    implemented: unimplemented === undefined,
    dependencies,
    dependents: users === undefined ? dependentsOf(world, resource, key, limits) : branchesOf(world, users, limits),
    counts: [...addressCounts(resource, object), ...(words.keptBack?.(world, key) ?? [])],
    blockers,
    owners: object.metadata.ownerReferences ?? [],
    created: created === undefined ? NOTHING : { objects: created.keys.map((one) => treeObject(world, created.resource, one)), more: 0 },
    rows: options.rows ? ownedRows(world, resource, key, object.metadata.uid, limits.children) : undefined,
    waiting,
    notes: ineffectiveConditions(world, resource, object).filter(({ message }) => message !== waiting?.message),
    next: waiting === undefined ? [] : nextCommands(world, { resource, key, blockers, waiting, dependencies: dependencies.objects }),
  };
}

/** Which dependency does not exist; empty if all do. */
function missingAmong(dependencies: Branches['objects']): string {
  const missing = dependencies.find(({ uid }) => uid === undefined);
  return missing === undefined ? '' : `${traitsOf(missing.resource).kind} ${missing.name} does not exist`;
}

function whyItWaits(
  world: World,
  resource: ResourceName,
  object: AnyObservedObject,
  state: ObjectState,
  blockers: Blockers,
  unimplemented: string | undefined,
): Waiting | undefined {
  const { metadata } = object;
  const { kind } = traitsOf(resource);
  if (metadata.deletionTimestamp !== undefined) {
    const since = metadata.deletionTimestamp;
    const others = (metadata.finalizers ?? []).filter((one) => one !== FINALIZER && !LEGACY_FINALIZERS.includes(one));
    // The present blockers; the condition may be older.
    if (blockers.count > 0)
      return { reason: 'DeletionBlocked', message: blockedSentence(world.settings, resource, keyOf(object), blockers), since };
    if (state.message !== '') return { reason: state.reason, message: state.message, since };
    if (others.length > 0)
      return {
        reason: 'ForeignFinalizer',
        message: `${kind} ${metadata.name} waits for the programs that set its finalizers ${others.join(', ')}`,
        since,
      };
    const otherwise = `nothing blocks the deletion of ${kind} ${metadata.name}; it is gone when its rows are`;
    return { reason: 'Terminating', message: wordsOf(resource).terminating?.(metadata.name) ?? otherwise, since };
  }
  if (unimplemented !== undefined)
    return { reason: 'NotCarriedOut', message: `Kiln does not implement this yet: ${unimplemented}`, since: metadata.creationTimestamp };
  if (state.ready === 'False') return { reason: state.reason, message: state.message, since: state.since };
  const { networkCondition } = wordsOf(resource);
  const elsewhere = networkCondition === undefined ? undefined : conditionOf(resource, object, networkCondition);
  // The pod has its network; the condition names ineffective settings.
  if (elsewhere?.status === 'True' && elsewhere.reason !== undefined && elsewhere.reason !== 'Bound')
    return { reason: elsewhere.reason, message: elsewhere.message ?? '', since: elsewhere.lastTransitionTime ?? state.since };
  const ineffective = ineffectiveConditions(world, resource, object).find(({ what }) => what === 'without effect');
  return ineffective === undefined ? undefined : { reason: ineffective.reason, message: ineffective.message, since: ineffective.since };
}
