/**
 * What of a cascade is still there, and why: somebody's finalizer, or an object that came in between and was not shown.
 */
import { FINALIZER, LEGACY_FINALIZERS } from '../api/well-known.ts';
import { blockersOf } from '../blockers/blockers.ts';
import type { TreeObject } from '../explain/dependents.ts';
import { ipStays } from '../webhook/taken-addresses.ts';
import { isReserved, isRetained } from '../world/claimants.ts';
import type { ResourceName } from '../world/resources.ts';
import { keyOf, traitsOf } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import { typeText } from './object-argument.ts';

/** As `kubectl delete` names what it deletes. */
export function stepText({ resource, namespace, name }: Pick<TreeObject, 'resource' | 'namespace' | 'name'>): string {
  return `${typeText(resource)}/${namespace === '' ? '' : `${namespace}/`}${name}`;
}

/** What is left of the steps that were shown, in an order in which it can go. */
export class CascadeLeft {
  readonly steps: readonly TreeObject[];
  readonly #world: World;
  readonly #shown: ReadonlySet<string>;

  constructor(world: World, steps: readonly TreeObject[]) {
    this.#world = world;
    this.steps = steps.filter((step) => objectOf(world, step)?.metadata.uid === step.uid);
    this.#shown = new Set(this.steps.map((step) => idOf(step.resource, keyOf({ metadata: step }))));
  }

  /** Nothing holds them any more. */
  get free(): readonly TreeObject[] {
    return this.steps.filter((step) => blockersOf(this.#world, step.resource, keyOf({ metadata: step })).count === 0);
  }

  /** `<kind> <key>` of the first ten that hold something of it, were not shown and stay. */
  get strangers(): readonly string[] {
    return [...new Set(this.steps.flatMap((step) => this.#strangersOf(step)))].slice(0, 10);
  }

  /** Nothing can go, however long one waits: whatever is lowest is held by what was not shown and stays. */
  get stuck(): boolean {
    const lowest = this.steps.filter(
      (step) => blockersOf(this.#world, step.resource, keyOf({ metadata: step }), this.#isShown).count === 0,
    );
    return lowest.length > 0 && lowest.every((step) => this.#strangersOf(step).length > 0);
  }

  /** The first ten, each with what it waits for. */
  get text(): string {
    const texts = this.steps.slice(0, 10).map((step) => `${stepText(step)}${this.#why(step)}`);
    return `${texts.join(', ')}${this.steps.length > texts.length ? ` and ${this.steps.length - texts.length} more` : ''}`;
  }

  #why(step: TreeObject): string {
    const finalizers = objectOf(this.#world, step)?.metadata.finalizers ?? [];
    const others = finalizers.filter((one) => one !== FINALIZER && !LEGACY_FINALIZERS.includes(one));
    const strangers = this.#strangersOf(step);
    const why = [
      ...(others.length === 0 ? [] : [`finalizer ${others.join(', ')}`]),
      ...(strangers.length === 0 ? [] : [`held by ${strangers.join(', ')}`]),
    ];
    return why.length === 0 ? '' : ` (${why.join('; ')})`;
  }

  readonly #isShown = (resource: ResourceName, key: string): boolean => this.#shown.has(idOf(resource, key));

  #strangersOf(step: TreeObject): readonly string[] {
    const lasts = (resource: ResourceName, key: string): boolean => !this.#isShown(resource, key) && !this.#passes(resource, key);
    return blockersOf(this.#world, step.resource, keyOf({ metadata: step }), lasts).names;
  }

  /** It goes by itself: it is gone or on its way out, or an address whose pod is, or is one of those that were shown. */
  #passes(resource: ResourceName, key: string): boolean {
    const world = this.#world;
    const object = world.tables[resource]?.peek(key);
    if (object === undefined || object.metadata.deletionTimestamp !== undefined) return true;
    if (resource !== 'ips') return false;
    if (!ipStays(world, key)) return true;
    const ip = world.ips.peek(key);
    if (ip === undefined || isReserved(ip) || isRetained(ip.spec.podType)) return false;
    return this.#isShown('pods', `${ip.spec.namespace ?? ''}/${ip.spec.podName ?? ''}`);
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
