/** What the server knows of one resource in one version: its names, its schema, and the rules of its kind. */
import type { Json, JsonObject } from './json.ts';
import type { KubeObject } from './object.ts';
import type { Schema } from './schema/schema.ts';
import type { FieldError } from './status.ts';

export interface Column {
  readonly name: string;
  readonly type: string;
  readonly format?: string;
  readonly description?: string;
  /** Columns above 0 show with `-o wide` only. */
  readonly priority: number;
  readonly cell: (object: KubeObject, now: number) => Json;
}

export interface ScaleSubresource {
  readonly specReplicasPath: string;
  readonly statusReplicasPath: string;
  readonly labelSelectorPath?: string;
}

/** The rules of a kind. Objects given to them are fresh copies, to be changed in place; see `settles`. */
export interface Strategy {
  /** Before defaults and validation of a new object. */
  readonly prepareCreate?: (object: KubeObject) => void;
  readonly prepareUpdate?: (object: KubeObject, old: KubeObject, subresource: string | undefined) => void;
  /** Marks an object whose deletion was asked for and that does not go at once by itself. */
  readonly prepareDelete?: (object: KubeObject) => void;
  /** Fills in defaults; also for objects that clients send as updates. */
  readonly applyDefaults?: (object: KubeObject) => void;
  /**
   * `prepareUpdate` and `applyDefaults` write nothing into parts that they were through with already: those of an update that are as they
   * were are the stored ones.
   */
  readonly settles?: boolean;
  readonly validate?: (object: KubeObject, old: KubeObject | undefined) => readonly FieldError[];
  /** What whoever creates or changes it should know. */
  readonly warnings?: (object: KubeObject) => readonly string[];
  /** Seconds a deletion waits for its confirmation; absent or 0: none. */
  readonly gracePeriod?: (object: KubeObject, requested: number | undefined) => number;
  /** What objects of the kind are called at most. */
  readonly nameRule?: 'subdomain' | 'label' | 'path' | 'service';
}

/** Another version of one storage, such as Events of two groups. */
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
  /** The store's table, one for all versions. */
  readonly table: string;
  readonly schema: Schema;
  /** True for kinds of CustomResourceDefinitions. */
  readonly custom: boolean;
  /** The definition's own schema text, for OpenAPI. */
  readonly openApiSchema?: JsonObject;
  readonly hasStatus: boolean;
  readonly scale?: ScaleSubresource;
  /** Keeps `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** An update without resourceVersion overwrites. */
  readonly unconditionalUpdate: boolean;
  readonly createOnUpdate: boolean;
  /** A DELETE answers with the object, not with a Status. */
  readonly returnsDeleted: boolean;
  readonly fieldSelectors: readonly string[];
  readonly columns: readonly Column[];
  readonly strategy: Strategy;
  readonly view?: View;
  /** Its objects are made when they are asked for, and never stored: they are only read. */
  readonly made?: () => readonly KubeObject[];
  /** What whoever asks for it is warned of. */
  readonly deprecation?: string;
}

export const ALL_VERBS: readonly string[] = ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'];

export function apiVersionOf(definition: ResourceDefinition): string {
  return definition.group === '' ? definition.version : `${definition.group}/${definition.version}`;
}
