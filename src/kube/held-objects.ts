import type { Delta } from './delta.ts';
import { type KubeObject, keyOf, type ObjectKey } from './resource.ts';
import { compareVersions, isAfter, isAtMost } from './resource-version.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** A full list that is being read. */
interface Listing {
  /** The server's state that it shows; known with the first page. */
  version: string | undefined;
  readonly seen: Set<ObjectKey>;
  /** Objects of our own writes whose reply came while the list was read. */
  readonly own: Set<ObjectKey>;
  /** Uids whose deletion we learnt of from a reply while the list was read. */
  readonly ownDeleted: Set<string>;
}

/**
 * What a cache holds, and the one place that decides whether a list, the watch or a reply to an own write is newer.
 * Pure: no I/O, no clock. Every method returns the true changes it made.
 *
 * The order of events on a watch is the order of their resource versions, so whatever is not newer than the newest
 * version delivered (`version`) is known already, deletions included. Where versions are not numbers, the watch is
 * always taken.
 */
export class HeldObjects<T extends KubeObject> {
  readonly #objects = new Map<ObjectKey, T>();
  /** Uids that a reply of ours showed to be gone, until the watch or a list says the same. */
  readonly #goneUids = new Set<string>();
  #version: string | undefined;
  #listing: Listing | undefined;

  get objects(): ReadonlyMap<ObjectKey, T> {
    return this.#objects;
  }

  /** Everything up to here was delivered by list or watch; a watch resumes from it. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Starts a full list, given up the one before. Its pages follow, then `endList`. */
  beginList(): void {
    this.#listing = { version: undefined, seen: new Set(), own: new Set(), ownDeleted: new Set() };
  }

  page(items: readonly T[], version: string): Delta<T>[] {
    const listing = this.#listing;
    if (listing === undefined) throw new Error('page without beginList');
    listing.version ??= version;
    const deltas: Delta<T>[] = [];
    for (const object of items) {
      const key = keyOf(object.metadata);
      const uid = object.metadata.uid;
      if (uid !== undefined && this.#goneUids.has(uid)) {
        if (listing.ownDeleted.has(uid)) continue;
        this.#goneUids.delete(uid);
      }
      listing.seen.add(key);
      const held = this.#objects.get(key);
      if (held !== undefined) {
        const heldVersion = held.metadata.resourceVersion ?? '';
        const listed = object.metadata.resourceVersion ?? '';
        if (listing.own.has(key) && isAfter(heldVersion, listed)) continue;
        if (heldVersion === listed && held.metadata.uid === uid) continue;
      }
      this.#put(key, object, held, deltas);
    }
    return deltas;
  }

  /** What the list did not show, and `endList` would remove: nothing has told of its deletion. */
  unseen(version = this.#listing?.version): T[] {
    const listing = this.#listing;
    if (listing === undefined || version === undefined) return [];
    const unseen: T[] = [];
    for (const [key, object] of this.#objects) {
      if (listing.seen.has(key)) continue;
      if (listing.own.has(key) && isAfter(object.metadata.resourceVersion ?? '', version)) continue;
      unseen.push(object);
    }
    return unseen;
  }

  /**
   * Removes what the list did not show, but for objects that we wrote while it was read.
   * @param version up to which it shows everything, where that is less than its first page
   */
  endList(version = this.#listing?.version): Delta<T>[] {
    const listing = this.#listing;
    if (listing === undefined || version === undefined) throw new Error('endList without a page');
    const deltas: Delta<T>[] = [];
    for (const object of this.unseen(version)) {
      this.#objects.delete(keyOf(object.metadata));
      deltas.push({ type: 'delete', object, inferred: true });
    }
    for (const uid of this.#goneUids) if (!listing.ownDeleted.has(uid)) this.#goneUids.delete(uid);
    this.#version = version;
    this.#listing = undefined;
    return deltas;
  }

  abandonList(): void {
    this.#listing = undefined;
  }

  /** @returns false where the event is older than what is held, and was left out */
  event(type: WatchEventType, object: T, deltas: Delta<T>[]): boolean {
    const key = keyOf(object.metadata);
    const held = this.#objects.get(key);
    const version = object.metadata.resourceVersion ?? '';
    const uid = object.metadata.uid;
    const delivered = this.#version;
    this.#advance(version);
    if (type === 'DELETED') {
      if (uid !== undefined) this.#goneUids.delete(uid);
      if (held === undefined || (held.metadata.uid !== uid && isAfter(held.metadata.resourceVersion ?? '', version))) {
        return false;
      }
      this.#objects.delete(key);
      deltas.push({ type: 'delete', object: held });
      return true;
    }
    if (uid !== undefined && this.#goneUids.has(uid)) return false;
    const known = held === undefined ? delivered : held.metadata.resourceVersion;
    if (known !== undefined && isAtMost(version, known)) return false;
    this.#put(key, object, held, deltas);
    return true;
  }

  /** Everything up to this version was delivered. */
  bookmark(version: string): void {
    this.#advance(version);
  }

  /**
   * The object of a reply to a write of our own, which is there. Ignored where list or watch have been past it, so that a deletion
   * already seen is not undone.
   */
  own(object: T): Delta<T>[] {
    const { uid, resourceVersion: version = '' } = object.metadata;
    if (uid !== undefined && this.#goneUids.has(uid)) return [];
    const key = keyOf(object.metadata);
    const held = this.#objects.get(key);
    const newest = this.#version;
    // Versions without an order: only the watch can tell, and it will.
    if (newest !== undefined && !isAfter(version, newest)) return [];
    if (held !== undefined && !isAfter(version, held.metadata.resourceVersion ?? '')) return [];
    const deltas: Delta<T>[] = [];
    this.#listing?.own.add(key);
    this.#put(key, object, held, deltas);
    return deltas;
  }

  /** A reply of ours showed that this object is gone. */
  ownDelete(key: ObjectKey, uid: string): Delta<T>[] {
    const held = this.#objects.get(key);
    if (held === undefined || held.metadata.uid !== uid) {
      // Its creation may still be on its way to us, unless nothing of it can be.
      this.#listing?.ownDeleted.add(uid);
      if (this.#listing !== undefined) this.#goneUids.add(uid);
      return [];
    }
    this.#goneUids.add(uid);
    this.#listing?.ownDeleted.add(uid);
    this.#objects.delete(key);
    return [{ type: 'delete', object: held }];
  }

  /** The resource is no longer served: all objects are gone. */
  clear(): Delta<T>[] {
    const deltas = [...this.#objects.values()].map((object): Delta<T> => ({ type: 'delete', object, inferred: true }));
    this.#objects.clear();
    this.#goneUids.clear();
    this.#version = undefined;
    return deltas;
  }

  #advance(version: string): void {
    if (this.#version === undefined || (compareVersions(version, this.#version) ?? 1) > 0) this.#version = version;
  }

  #put(key: ObjectKey, object: T, held: T | undefined, deltas: Delta<T>[]): void {
    this.#objects.set(key, object);
    if (held === undefined) deltas.push({ type: 'upsert', object });
    else if (held.metadata.uid === object.metadata.uid) deltas.push({ type: 'upsert', object, before: held });
    else deltas.push({ type: 'delete', object: held }, { type: 'upsert', object });
  }
}
