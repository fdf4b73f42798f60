/**
 * What is left of a cascade, and why: a foreign finalizer, a foreign row, or a new dependent that the plan did not show.
 */
import { FINALIZER, LEGACY_FINALIZERS } from '../../api/well-known.ts';
import { blockersAmong, blockersOf } from '../../blockers/blockers.ts';
import type { TreeObject } from '../../explain/dependents.ts';
import type { ForeignHold } from '../../explain/foreign-holds.ts';
import { awaitedForeign } from '../../explain/foreign-holds.ts';
import { ipKeepsAddress } from '../../webhook/kinds/taken-addresses.ts';
import { isReserved, isRetained } from '../../world/claimants.ts';
import type { ResourceName } from '../../world/resources.ts';
import { keyOf, traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';
import { typeText } from '../arguments/object-argument.ts';

/** The name as `kubectl delete` prints it. */
export function stepText({ resource, namespace, name }: Pick<TreeObject, 'resource' | 'namespace' | 'name'>): string {
  return `${typeText(resource)}/${namespace === '' ? '' : `${namespace}/`}${name}`;
}

export interface HeldStep {
  readonly step: TreeObject;
  readonly hold: ForeignHold;
}

/** The remaining steps of the plan, in the order of deletion. */
export class CascadeLeft {
  readonly steps: readonly TreeObject[];
  readonly #world: World;
  readonly #shown: ReadonlySet<string>;

  readonly #endingOwners: ReadonlySet<string>;

  /** @param endingOwners uids of owners that were scaled to 0 or deleted: their pods go by themselves */
  constructor(world: World, steps: readonly TreeObject[], endingOwners: ReadonlySet<string>) {
    this.#world = world;
    this.#endingOwners = endingOwners;
    this.steps = steps.filter((step) => objectOf(world, step)?.metadata.uid === step.uid);
    this.#shown = new Set(this.steps.map((step) => idOf(step.resource, keyOf({ metadata: step }))));
  }

  /** Steps without blockers. */
  get free(): readonly TreeObject[] {
    return this.steps.filter((step) => blockersOf(this.#world, step.resource, keyOf({ metadata: step })).count === 0);
  }

  /** `<kind> <key>` of the first ten new blockers that the plan did not show. */
  get unplannedBlockers(): readonly string[] {
    return [...new Set(this.steps.flatMap((step) => this.#unplannedBlockersOf(step)))].slice(0, 10);
  }

  /** Waiting does not help: every remaining step has a blocker that the plan did not show. */
  get stuck(): boolean {
    const lowest = this.steps.filter(
      (step) => blockersAmong(this.#world, step.resource, keyOf({ metadata: step }), this.#isShown).count === 0,
    );
    return lowest.length > 0 && lowest.every((step) => this.#unplannedBlockersOf(step).length > 0);
  }

  /**
   * Waiting does not help: every remaining step is deleted but for rows of other programs in its rows, or waits for such steps. Empty where
   * anything else is left.
   */
  foreignHolds(northboundRead: boolean): readonly HeldStep[] {
    const held = this.free.flatMap((step) => {
      const hold = awaitedForeign(this.#world, step, northboundRead);
      return hold === undefined ? [] : [{ step, hold }];
    });
    return held.length === this.free.length ? held : [];
  }

  /** The first ten, each with its blocker or finalizer. */
  get text(): string {
    const texts = this.steps.slice(0, 10).map((step) => `${stepText(step)}${this.#why(step)}`);
    return `${texts.join(', ')}${this.steps.length > texts.length ? ` and ${this.steps.length - texts.length} more` : ''}`;
  }

  #why(step: TreeObject): string {
    const finalizers = objectOf(this.#world, step)?.metadata.finalizers ?? [];
    const others = finalizers.filter((one) => one !== FINALIZER && !LEGACY_FINALIZERS.includes(one));
    const unplannedBlockers = this.#unplannedBlockersOf(step);
    const why = [
      ...(others.length === 0 ? [] : [`finalizer ${others.join(', ')}`]),
      ...(unplannedBlockers.length === 0 ? [] : [`blocked by ${unplannedBlockers.join(', ')}`]),
    ];
    return why.length === 0 ? '' : ` (${why.join('; ')})`;
  }

  readonly #isShown = (resource: ResourceName, key: string): boolean => this.#shown.has(idOf(resource, key));

  #unplannedBlockersOf(step: TreeObject): readonly string[] {
    const lasts = (resource: ResourceName, key: string): boolean => !this.#isShown(resource, key) && !this.#passes(resource, key);
    return blockersAmong(this.#world, step.resource, keyOf({ metadata: step }), lasts).names;
  }

  /**
   * Whether an object blocks only for a while: it does not exist any more, is being deleted, is a pod whose owner ends, is an address of
   * such a pod, or is part of the plan.
   */
  #passes(resource: ResourceName, key: string): boolean {
    const world = this.#world;
    const object = world.tables[resource]?.peek(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return true;
    if (resource === 'pods') return this.#ends(key);
    if (resource !== 'ips') return false;
    if (!ipKeepsAddress(world, key)) return true;
    const ip = world.ips.peek(key);
    if (ip === undefined || isReserved(ip) || isRetained(ip.spec.podType)) return false;
    const pod = `${ip.spec.namespace ?? ''}/${ip.spec.podName ?? ''}`;
    return this.#isShown('pods', pod) || this.#passes('pods', pod);
  }

  #ends(pod: string): boolean {
    const owner = this.#world.pods.peek(pod)?.metadata.ownerReferences?.find(({ controller }) => controller === true);
    return owner !== undefined && this.#endingOwners.has(owner.uid);
  }
}

function objectOf(
  world: World,
  step: TreeObject,
): { readonly metadata: { readonly uid: string; readonly finalizers?: readonly string[] } } | undefined {
  return world.tables[step.resource]?.peek(keyOf({ metadata: step }));
}

function idOf(resource: ResourceName, key: string): string {
  return `${traitsOf(resource).kind} ${key}`;
}
