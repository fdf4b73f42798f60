/** The shape every API object shares. Objects in the store are never changed in place: every write puts a new one. */
import type { JsonObject } from './json.ts';

export interface OwnerReference extends JsonObject {
  apiVersion: string;
  kind: string;
  name: string;
  uid: string;
}

export interface ObjectMeta extends JsonObject {
  name: string;
  namespace?: string;
  generateName?: string;
  uid: string;
  resourceVersion: string;
  generation?: number;
  creationTimestamp: string;
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  ownerReferences?: OwnerReference[];
}

export interface KubeObject extends JsonObject {
  apiVersion: string;
  kind: string;
  metadata: ObjectMeta;
}

/** The same object with other metadata; the other fields are shared. */
export function withMeta(object: KubeObject, metadata: ObjectMeta): KubeObject {
  return { ...object, metadata };
}

const encoded = new WeakMap<object, string>();

/** The object's JSON text, encoded once for each version of the object. */
export function encodeObject(object: JsonObject): string {
  let text = encoded.get(object);
  if (text === undefined) {
    text = JSON.stringify(object);
    encoded.set(object, text);
  }
  return text;
}
