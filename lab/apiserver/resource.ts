/** The definition of one resource in one version: its names, its schema, and the rules of its kind. */
import type { Json, JsonObject } from './json.ts';
import type { KubeObject } from './object.ts';
import type { Schema } from './schema/schema.ts';
import type { FieldError } from './status.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** Columns with a priority above 0 appear only with `-o wide`. */
  readonly priority: number;
  readonly cell: (object: KubeObject, now: number) => Json;
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** The rules of a kind. They may change the objects that they get, which are fresh copies; see `settles`. */
export interface Strategy {
  /** Called before defaults and validation of a new object. */
  readonly prepareCreate?: (object: KubeObject) => void;
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, subresource: string | undefined) => void;
  /** Changes an object that is being deleted and still has finalizers or a grace period. */
  readonly prepareDelete?: (object: KubeObject) => void;
  /** Sets defaults; also on objects of updates. */
  readonly applyDefaults?: (object: KubeObject) => void;
  /**
   * `prepareUpdate` and `applyDefaults` write nothing into parts that they have already processed: the unchanged parts of an update are the
   * stored ones, which are shared.
   */
  readonly settles?: boolean;
  readonly validate?: (object: KubeObject, old: KubeObject | undefined) => readonly FieldError[];
  /** Warnings for the client that creates or updates the object. */
  readonly warnings?: (object: KubeObject) => readonly string[];
  /** The grace period of a deletion in seconds; absent or 0: none. */
  readonly gracePeriod?: (object: KubeObject, requested: number | undefined) => number;
  /** The rule for names of the kind. */
  readonly nameRule?: 'subdomain' | 'label' | 'path' | 'service';
}

/** Conversion between the stored version and another one, such as Events of two groups. */
export interface View {
  readonly toStorage: (object: KubeObject) => KubeObject;
  readonly fromStorage: (object: KubeObject) => KubeObject;
}

export interface ResourceDefinition {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly singular: string;
  readonly kind: string;
  readonly listKind: string;
  readonly shortNames: readonly string[];
  readonly categories: readonly string[];
  readonly namespaced: boolean;
  readonly verbs: readonly string[];
  /** The store's table, shared by all versions. */
  readonly table: string;
  readonly schema: Schema;
  /** True for kinds of CustomResourceDefinitions. */
  readonly custom: boolean;
  /** The definition's original schema, for OpenAPI. */
  readonly openApiSchema?: JsonObject;
  readonly hasStatus: boolean;
  readonly scale?: ScaleSubresource;
  /** Whether the server maintains `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** Whether an update without resourceVersion overwrites the object. */
  readonly unconditionalUpdate: boolean;
  readonly createOnUpdate: boolean;
  /** A DELETE returns the object, not a Status. */
  readonly returnsDeleted: boolean;
  readonly fieldSelectors: readonly string[];
  readonly columns: readonly Column[];
  readonly strategy: Strategy;
  readonly view?: View;
}

export const ALL_VERBS: readonly string[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export function apiVersionOf(definition: ResourceDefinition): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}
