/** The description of a kind besides its schema: what the API server needs, and the resulting object type. */

import type { KubeObject, NewObject } from '../kubernetes/meta.ts';
import type { Schema, SchemaNode } from './schema.ts';

export const GROUP = 'kubeovn.io';
export const VERSION = 'v1';
export const API_VERSION = `${GROUP}/${VERSION}`;

/** A column of `kubectl get`; `-o wide` also shows those with priority 1. */
export interface PrinterColumn {
  readonly name: string;
  readonly type: 'string' | 'boolean' | 'integer' | 'number' | 'date';
  readonly jsonPath: string;
  readonly priority?: number;
}

export interface Subresources {
  readonly status?: Record<string, never>;
  readonly scale?: {
    readonly specReplicasPath: string;
    readonly statusReplicasPath: string;
    readonly labelSelectorPath?: string;
  };
}

/** A kind of `kubeovn.io/v1`. */
export interface Kind<Spec, Status = undefined> {
  readonly kind: string;
  readonly plural: string;
  readonly singular: string;
  readonly shortNames?: readonly string[];
  readonly scope: 'Cluster' | 'Namespaced';
  readonly description: string;
  readonly columns?: readonly PrinterColumn[];
  /** Absent and empty (`subresources: {}`) differ in the CRD, but not in their effect. */
  readonly subresources?: Subresources;
  readonly spec: Schema<Spec>;
  readonly specRequired?: true;
  readonly status?: Schema<Status>;
}

/** An observed object of a kind. */
export type ObjectOf<K> = K extends Kind<infer Spec, infer Status> ? KubeObject<Spec, Status> : never;
/** A new object of a kind. */
export type NewObjectOf<K> = K extends Kind<infer Spec, infer Status> ? NewObject<Spec, Status> : never;

/** Infers the spec and status types from their schemas. */
export const defineKind = <Spec, Status = undefined>(kind: Kind<Spec, Status>): Kind<Spec, Status> => kind;

/** A column from its two or three parts. */
export const column = (name: string, jsonPath: string, type: PrinterColumn['type'] = 'string'): PrinterColumn => ({
  name,
  type,
  jsonPath,
});

/** Columns of `kubectl get` for the age of an object. */
export const ageColumn = (name = 'Age'): PrinterColumn => column(name, '.metadata.creationTimestamp', 'date');

const zeroOf = (node: SchemaNode): unknown => {
  switch (node.type) {
    case 'string':
      return '';
    case 'array':
      return [];
    case 'boolean':
      return false;
    case 'integer':
    case 'number':
      return 0;
    default:
      return {};
  }
};

/**
 * The object with all fields that its type requires. Most schemas do not require `spec`, and a stored object can be older than a required
 * field. As in a Go client, a missing field becomes empty, so that one incomplete object cannot stop a reader. Returns the same object if
 * nothing is missing.
 */
export const complete = <Spec, Status>(
  kind: Kind<Spec, Status>,
  object: Omit<KubeObject<Spec, Status>, 'spec'> & { readonly spec?: Spec | null },
): KubeObject<Spec, Status> => {
  const present: object = typeof object.spec === 'object' && object.spec !== null ? object.spec : {};
  const missing = (kind.spec.node.required ?? []).filter((name) => !(name in present));
  if (present === object.spec && missing.length === 0) return object as KubeObject<Spec, Status>;
  const zeros = missing.map((name) => [name, zeroOf(kind.spec.node.properties?.[name] ?? {})] as const);
  return { ...object, spec: { ...Object.fromEntries(zeros), ...present } as Spec };
};
