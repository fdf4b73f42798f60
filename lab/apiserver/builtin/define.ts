/** Declares a built-in kind: its names, and options where it differs from other kinds. */
import type { ResourceDefinition } from '../resource.ts';
import { ALL_VERBS } from '../resource.ts';
import { builtinColumns } from './columns.ts';
import { builtinSchema } from './types.ts';

/** The properties of a kind beyond its names; `type`: its type in `types.json`, if that is not the kind's name. */
export type KindOptions = Partial<
  Pick<
    ResourceDefinition,
    | 'shortNames'
    | 'categories'
    | 'verbs'
    | 'hasStatus'
    | 'hasGeneration'
    | 'fieldSelectors'
    | 'returnsDeleted'
    | 'unconditionalUpdate'
    | 'createOnUpdate'
    | 'scale'
    | 'view'
    | 'table'
    | 'columns'
    | 'strategy'
  >
> & { readonly type?: string };

/** A built-in resource, from its names and options. */
export function define(
  group: string,
  version: string,
  plural: string,
  kind: string,
  namespaced: boolean,
  options: KindOptions = {},
): ResourceDefinition {
  const { type, ...rest } = options;
  return {
    group,
    version,
    plural,
    kind,
    namespaced,
    singular: kind.toLowerCase(),
    listKind: `${kind}List`,
    shortNames: [],
    categories: [],
    verbs: ALL_VERBS,
    table: plural,
    schema: builtinSchema(type ?? kind),
    custom: false,
    hasStatus: false,
    hasGeneration: false,
    unconditionalUpdate: true,
    createOnUpdate: false,
    returnsDeleted: false,
    fieldSelectors: [],
    columns: builtinColumns(options.table ?? plural),
    strategy: {},
    ...rest,
  };
}
