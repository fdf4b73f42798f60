/** Selects the representation of an object or a list that a client accepts. */
import type { ResourceDefinition } from './resource.ts';
import type { Presentation } from './table.ts';
import { PLAIN } from './table.ts';
import { ApiError } from './status.ts';

const TYPES: readonly string[] = ['application/json', 'application/*', '*/*', 'application/yaml'];

/** @throws ApiError 406 when the server has no representation that the client accepts. */
export function negotiate(accept: string | undefined, query: URLSearchParams): Presentation {
  if (accept === undefined || accept === '') return PLAIN;
  for (const part of accept.split(',')) {
    const [type = '', ...parameters] = part.split(';').map((piece) => piece.trim());
    if (!TYPES.includes(type)) continue;
    const values = new Map(parameters.map((parameter) => parameter.split('=', 2) as [string, string]));
    const as = values.get('as');
    const version = values.get('v') ?? 'v1';
    if (as === undefined) return PLAIN;
    if (values.get('g') !== 'meta.k8s.io' || !['v1', 'v1beta1'].includes(version)) continue;
    if (as === 'Table') return { kind: 'Table', version, includeObject: includeObject(query.get('includeObject')) };
    if (as === 'PartialObjectMetadata' || as === 'PartialObjectMetadataList')
      return { kind: 'PartialObjectMetadata', version, ofList: as === 'PartialObjectMetadataList' };
  }
  throw new ApiError(406, 'NotAcceptable', 'only the following media types are accepted: application/json, application/yaml');
}

/** @throws ApiError 406 when list metadata is requested for one object, or object metadata for a list. */
export function checkNumber(presentation: Presentation, { custom, group, kind }: ResourceDefinition, isList: boolean): void {
  if (presentation.kind !== 'PartialObjectMetadata' || presentation.ofList === isList) return;
  const type = custom ? 'unstructured.Unstructured' : `${group.split('.')[0] || 'core'}.${kind}`;
  throw new ApiError(
    406,
    'NotAcceptable',
    isList
      ? `you requested PartialObjectMetadata, but the requested object is a list (*${type}List)`
      : `you requested PartialObjectMetadataList, but the requested object is not a list (*${type})`,
  );
}

/** Whether the client prefers YAML to the other served types. */
export function wantsYaml(accept = ''): boolean {
  const first = accept
    .split(',')
    .map((part) => part.split(';')[0]?.trim())
    .find((type) => type !== undefined && TYPES.includes(type));
  return first === 'application/yaml';
}

function includeObject(value: string | null): 'None' | 'Metadata' | 'Object' {
  return value === 'None' || value === 'Object' ? value : 'Metadata';
}
