import type { Delta } from './delta.ts';
import { type KubeObject, keyOf, type ObjectKey } from '../resource.ts';
import { compareVersions, isAfter, isAtMost } from './resource-version.ts';

export type WatchEventType = 'ADDED' | 'MODIFIED' | 'DELETED';

/** A full list that is being read. */
interface Listing {
  /** The version of the state that it shows; known from the first page on. */
  version: string | undefined;
  readonly seen: Set<ObjectKey>;
  /** Objects of own writes whose reply arrived while the list was read. */
  readonly own: Set<ObjectKey>;
  /** Uids whose deletion a reply showed while the list was read. */
  readonly ownDeleted: Set<string>;
}

/**
 * The contents of a cache, and the one place that decides whether a list, the watch or a reply to an own write is newer.
 * Pure: no I/O, no clock. Every method returns the changes it made.
 *
 * Events arrive on a watch in the order of their resource versions. So everything up to the newest delivered version (`version`) is known
 * already, deletions included. If versions are not numbers, watch events always win.
 */
export class CacheContents<T extends KubeObject> {
  readonly #objects = new Map<ObjectKey, T>();
  /** Uids whose deletion a reply showed, until the watch or a list shows it too. */
  readonly #goneUids = new Set<string>();
  #version: string | undefined;
  #listing: Listing | undefined;

  get objects(): ReadonlyMap<ObjectKey, T> {
    return this.#objects;
  }

  /** List or watch have delivered everything up to this version; a watch resumes from it. */
  get version(): string | undefined {
    return this.#version;
  }

  /** Starts a full list and drops an unfinished one. Its pages follow, then `endList`. */
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

  /** The objects that the list lacks and `endList` would remove: no event has delivered their deletion. */
  unlisted(version = this.#listing?.version): T[] {
    const listing = this.#listing;
    if (listing === undefined || version === undefined) return [];
    const unlisted: T[] = [];
    for (const [key, object] of this.#objects) {
      if (listing.seen.has(key)) continue;
      if (listing.own.has(key) && isAfter(object.metadata.resourceVersion ?? '', version)) continue;
      unlisted.push(object);
    }
    return unlisted;
  }

  /**
   * Removes the objects that the list lacks, except those that were written while it was read.
   * @param version up to which the list shows everything, if less than its first page
   */
  endList(version = this.#listing?.version): Delta<T>[] {
    const listing = this.#listing;
    if (listing === undefined || version === undefined) throw new Error('endList without a page');
    const deltas: Delta<T>[] = [];
    for (const object of this.unlisted(version)) {
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

  /** @returns false if the event is older than the contents, and was ignored */
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

  /** The watch has delivered everything up to this version. */
  bookmark(version: string): void {
    this.#advance(version);
  }

  /**
   * Takes the object from the reply to an own write. Ignored if list or watch are past its version, so that a deletion already seen is not
   * undone.
   */
  own(object: T): Delta<T>[] {
    const { uid, resourceVersion: version = '' } = object.metadata;
    if (uid !== undefined && this.#goneUids.has(uid)) return [];
    const key = keyOf(object.metadata);
    const held = this.#objects.get(key);
    const newest = this.#version;
    // Versions without an order: the watch will deliver the newest.
    if (newest !== undefined && !isAfter(version, newest)) return [];
    if (held !== undefined && !isAfter(version, held.metadata.resourceVersion ?? '')) return [];
    const deltas: Delta<T>[] = [];
    this.#listing?.own.add(key);
    this.#put(key, object, held, deltas);
    return deltas;
  }

  /** A reply to an own write showed that this object is gone. */
  ownDelete(key: ObjectKey, uid: string): Delta<T>[] {
    const held = this.#objects.get(key);
    if (held === undefined || held.metadata.uid !== uid) {
      // The event of its creation may still arrive, unless the watch is past it.
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
