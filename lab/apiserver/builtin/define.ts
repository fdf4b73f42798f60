/** How a built-in kind is declared: one line, and what it has more than others. */
import type { ResourceDefinition } from '../resource.ts';
import { ALL_VERBS } from '../resource.ts';
import { builtinColumns } from './columns.ts';
import { builtinSchema } from './types.ts';

/** What a kind has beyond its names; `type`: its type of `types.json`, where that is not the kind's name. */
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
    | 'made'
    | 'deprecation'
  >
> & { readonly type?: string };

/** A built-in resource, from its names and what it has more than others. */
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
