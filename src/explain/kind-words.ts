/** The part `words` of the record of a kind: what `kiln explain` and `kiln status` say about its objects beside conditions. */
import type { ObjectMeta } from '../api/kubernetes/meta.ts';
import type { ResourceName } from '../world/resources.ts';
import type { World } from '../world/world.ts';

export interface StatefulObject {
  readonly metadata: ObjectMeta;
  readonly spec?: unknown;
  readonly status?: unknown;
}

export interface Readiness {
  readonly ready: boolean;
  /** Empty for none. */
  readonly reason: string;
}

/** Objects of one kind. */
export interface NamedObjects {
  readonly resource: ResourceName;
  /** Sorted. */
  readonly keys: readonly string[];
}

export interface KindWords {
  /** Whether an object is ready of which no condition says it; undefined for a kind without readiness. */
  readonly readiness?: (object: StatefulObject) => Readiness;
  /** Another program decides the readiness: it is a finding of `kiln status` only where a condition of Kiln's says so. */
  readonly readyByOthers?: true;
  /** The addresses or networks of an object, for a tree. */
  readonly addresses?: (world: World, key: string) => readonly string[];
  /** The fields of the status with the number of addresses in use and free, by family. */
  readonly counts?: (family: 'v4' | 'v6') => readonly [used: string, free: string];
  /** Addresses that are neither in use nor free, with what has them. */
  readonly keptBack?: (world: World, key: string) => readonly string[];
  /** Whether few addresses left are a finding. Missing: never. */
  readonly runsFull?: (world: World, key: string) => boolean;
  /** How its objects are counted in the line of a running laboratory. */
  readonly counted?: readonly [one: string, several: string];
  /** `kiln delete` does not delete its objects. */
  readonly neverDeleted?: true;
  /** The users of an object, where dependencies do not have them all. */
  readonly users?: (world: World, key: string) => NamedObjects;
  /** What exists because of an object. */
  readonly created?: (world: World, key: string) => NamedObjects;
  /** Why an object is still there that is being deleted, where no condition says it. */
  readonly terminating?: (name: string) => string;
  /** The condition that says whether an object has its network, and as its reason what of it has no effect. */
  readonly networkCondition?: string;
  /** An object whose kind is implemented may request what is not: a note of `kiln status`, since nothing on it can be corrected. */
  readonly partlyImplemented?: true;
}

/** The address fields of IP, Vip, OvnEip and IptablesEIP. */
const ADDRESS_FIELDS = ['v4IpAddress', 'v6IpAddress', 'ipAddress', 'v4ip', 'v6ip', 'v4Ip', 'v6Ip', 'ip'];

/** Of an object that is there for an address. @param part spec or status with the address */
export function addressReadiness(part: unknown): Readiness {
  const texts = (part ?? {}) as Readonly<Record<string, unknown>>;
  const held = ADDRESS_FIELDS.some((field) => typeof texts[field] === 'string' && texts[field] !== '');
  return { ready: held, reason: held ? '' : 'NoAddress' };
}
