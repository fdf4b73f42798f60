/** The changes of a preview as a reader wants them: addresses, pods that move or lose their network, deletions that wait, faults. */
import { blockersOf } from '../blockers/blockers.ts';
import { blockedSentence } from '../blockers/sentences.ts';
import type { ObjectId } from '../compile/output.ts';
import { objectId } from '../compile/output.ts';
import { canBeBound, notYet } from '../explain/awaited-state.ts';
import { stateOf } from '../explain/object-state.ts';
import { wordsOf } from '../explain/words.ts';
import { equal } from '../engine/equal.ts';
import type { ResourceName } from '../world/resources.ts';
import { RESOURCE_NAMES, resourcesWith } from '../world/resources.ts';
import type { AnyObservedObject, World } from '../world/world.ts';
import type { TouchedObject } from './memory-api.ts';

export interface NamedKey {
  readonly resource: ResourceName;
  readonly key: string;
}

export interface AddressForeseen extends NamedKey {
  readonly addresses: readonly string[];
}

/** What becomes of an object that has its network: a pod, a node. */
export interface NetworkForeseen extends NamedKey {
  readonly what: 'moved' | 'cut off' | 'evicted' | 'deleted';
  readonly before: readonly string[];
  readonly after: readonly string[];
  /** Why; empty if nothing says it. */
  readonly message: string;
}

export interface ObjectForeseen extends NamedKey {
  readonly message: string;
}

export interface Foresight {
  /** Of objects that had none. */
  readonly addresses: readonly AddressForeseen[];
  readonly networks: readonly NetworkForeseen[];
  /** Deletions that do not complete. */
  readonly waits: readonly ObjectForeseen[];
  /** Objects that say after the change why they are not in effect, and did not say it before. */
  readonly faults: readonly ObjectForeseen[];
}

const BINDABLE = RESOURCE_NAMES.filter(canBeBound);
/** Objects that hold the address of another one, which is named instead. */
const HOLDERS: ReadonlySet<ResourceName> = new Set(resourcesWith('holdsPorts'));

interface Network {
  readonly object: AnyObservedObject;
  readonly addresses: readonly string[];
  /** Why it has no network. */
  readonly unbound: string | undefined;
}

/** The addresses of all objects now, to be compared with those after a change. */
export class Networks {
  readonly #world: World;
  readonly #before = new Map<ObjectId, NamedKey & Network>();

  constructor(world: World) {
    this.#world = world;
    for (const resource of BINDABLE)
      for (const [key, object] of world.tables[resource]?.entries() ?? [])
        this.#before.set(objectId(resource, key), { resource, key, ...this.#network(resource, key, object) });
  }

  /**
   * @param applied objects of the user
   * @param evicted pods that Kiln evicts
   */
  changes(applied: ReadonlySet<ObjectId>, evicted: ReadonlySet<ObjectId>): Pick<Foresight, 'addresses' | 'networks'> {
    const networks = [...this.#before].flatMap(([id, before]) => this.#change(id, before, evicted));
    const addresses = BINDABLE.flatMap((resource) =>
      [...(this.#world.tables[resource]?.entries() ?? [])].flatMap(([key, object]): AddressForeseen[] => {
        const id = objectId(resource, key);
        if (HOLDERS.has(resource) && !applied.has(id)) return [];
        const { addresses: found } = this.#network(resource, key, object);
        return found.length === 0 || (this.#before.get(id)?.addresses.length ?? 0) > 0 ? [] : [{ resource, key, addresses: found }];
      }),
    );
    return { addresses, networks };
  }

  #change(id: ObjectId, { resource, key, ...before }: NamedKey & Network, evicted: ReadonlySet<ObjectId>): readonly NetworkForeseen[] {
    // An object that had no network loses none; that of another object is named there.
    if (before.unbound !== undefined || before.addresses.length === 0 || HOLDERS.has(resource)) return [];
    const object = this.#world.tables[resource]?.peek(key);
    const found = { resource, key, before: before.addresses };
    if (evicted.has(id)) return [{ ...found, what: 'evicted', after: [], message: '' }];
    if (object === undefined) return [{ ...found, what: 'deleted', after: [], message: '' }];
    const { addresses: after, unbound } = this.#network(resource, key, object);
    if (unbound !== undefined) return [{ ...found, what: 'cut off', after, message: unbound }];
    return equal(after, before.addresses) ? [] : [{ ...found, what: 'moved', after, message: '' }];
  }

  #network(resource: ResourceName, key: string, object: AnyObservedObject): Network {
    const addresses = wordsOf(resource).addresses?.(this.#world, key) ?? [];
    return { object, addresses, unbound: notYet({ kind: 'bound' }, resource, object) };
  }
}

/** Of the objects that were changed. */
export function foreseen(world: World, touched: Iterable<TouchedObject>): Pick<Foresight, 'waits' | 'faults'> {
  const waits: ObjectForeseen[] = [];
  const faults: ObjectForeseen[] = [];
  for (const { resource, key, before } of touched) {
    const now = world.tables[resource]?.peek(key);
    if (now === undefined) continue;
    if (now.metadata.deletionTimestamp !== undefined) {
      if (before?.metadata.deletionTimestamp === undefined) waits.push({ resource, key, message: whyItWaits(world, resource, key, now) });
      continue;
    }
    const { ready, message } = stateOf(resource, now);
    if (ready === 'False' && message !== '' && (before === undefined || message !== stateOf(resource, before).message))
      faults.push({ resource, key, message });
  }
  return { waits, faults };
}

function whyItWaits(world: World, resource: ResourceName, key: string, object: AnyObservedObject): string {
  const blockers = blockersOf(world, resource, key);
  return blockers.count > 0
    ? blockedSentence(world.settings, resource, key, blockers)
    : (notYet({ kind: 'deleted' }, resource, object) ?? '');
}
