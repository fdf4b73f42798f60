/** Server-side printing: the tables of `kubectl get`, and metadata-only representations. */
import type { JsonObject } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ResourceDefinition } from './resource.ts';

export type Presentation =
  | { readonly kind: 'Object' }
  | { readonly kind: 'Table'; readonly version: string; readonly includeObject: 'None' | 'Metadata' | 'Object' }
  /** `ofList`: the client requested the metadata of a list's objects. */
  | { readonly kind: 'PartialObjectMetadata'; readonly version: string; readonly ofList: boolean };

export const PLAIN: Presentation = { kind: 'Object' };

export function partialMetadata(object: KubeObject, version: string): JsonObject {
  return { kind: 'PartialObjectMetadata', apiVersion: `meta.k8s.io/${version}`, metadata: object.metadata };
}

export function table(
  definition: ResourceDefinition,
  objects: readonly KubeObject[],
  presentation: Extract<Presentation, { kind: 'Table' }>,
  listMeta: JsonObject,
  now: number,
  withColumns = true,
): JsonObject {
  return {
    kind: 'Table',
    apiVersion: `meta.k8s.io/${presentation.version}`,
    metadata: listMeta,
    columnDefinitions: withColumns
      ? definition.columns.map((column) => ({
          name: column.name,
          type: column.type,
          format: column.format ?? '',
          description: column.description ?? '',
          priority: column.priority,
        }))
      : [],
    rows: objects.map((object) => ({
      cells: definition.columns.map((column) => column.cell(object, now)),
      ...(presentation.includeObject === 'None'
        ? {}
        : { object: presentation.includeObject === 'Object' ? object : partialMetadata(object, presentation.version) }),
    })),
  };
}
