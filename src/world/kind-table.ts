/** The part `table` of the record of a kind: what the World keeps of each object, and how objects are found. */
import type { KubeObject } from '../api/kubernetes/meta.ts';
import type { Kind } from '../api/schema/kind.ts';
import { complete } from '../api/schema/kind.ts';
import type { AddressObject } from './address-objects.ts';
import type { Reactor } from '../engine/reactor.ts';
import type { ResourceName } from './resources.ts';
import type { Settings } from './settings.ts';
import type { Indexes } from '../engine/table.ts';
import { Table } from '../engine/table.ts';
import type { Untrimmed } from './trim.ts';
import { trimMeta } from './trim.ts';

export interface KindTable<T> {
  /** What is kept of an object that the API server sends. An object is kept for as long as it exists: drop what no rule reads. */
  readonly trim: (object: Untrimmed) => T;
  /** Indexes by name; every change of an object runs them. */
  readonly indexes?: (settings: Settings) => Indexes<T>;
  /** Indexes that are built when they are first used. */
  readonly lazy?: Indexes<T>;
  /** Objects that an object names, such as its Subnet: a list that lacks them is doubted. An empty or undefined key names none. */
  readonly names?: (object: T) => readonly (readonly [resource: ResourceName, key: string | undefined])[];
  /** An object of the family of address objects in their common form. */
  readonly addressObject?: (object: T, settings: Settings) => AddressObject;
}

export type TableOf<K> = K extends KindTable<infer T> ? Table<T> : never;

export function kindTable<T>(table: KindTable<T>): KindTable<T> {
  return table;
}

type Custom<Spec, Status> = KubeObject<Spec, Status>;

interface CustomTable<T> extends Omit<KindTable<T>, 'trim'> {
  /** Undefined: the object is kept whole, without the bookkeeping of clients. */
  readonly trim?: (object: T & Untrimmed) => T;
}

/** The table of a kind of `kubeovn.io`. Fields that its type requires are present in each object. */
export function customTable<Spec, Status>(
  kind: Kind<Spec, Status>,
  { trim = whole, ...more }: CustomTable<Custom<Spec, Status>> = {},
): KindTable<Custom<Spec, Status>> {
  return { ...more, trim: (object) => complete(kind, trim(object as Custom<Spec, Status> & Untrimmed)) };
}

function whole<T extends Untrimmed>(object: T): T {
  return { ...object, metadata: trimMeta(object.metadata) };
}

/** The table of a kind of address objects. Index `subnet`: the Subnet of the address. */
export function addressTable<Spec, Status>(
  kind: Kind<Spec, Status>,
  addressObject: (object: Custom<Spec, Status>, settings: Settings) => AddressObject,
): KindTable<Custom<Spec, Status>> {
  return customTable(kind, { addressObject, indexes: (settings) => ({ subnet: (object) => [addressObject(object, settings).subnet] }) });
}

/** An empty table of a World. @param name the resource */
export function openTable<T>(reactor: Reactor, name: string, { indexes, lazy }: KindTable<T>, settings: Settings): Table<T> {
  return new Table<T>(reactor, name, indexes?.(settings), lazy);
}
