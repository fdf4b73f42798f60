/** The CustomResourceDefinitions of all kinds, generated from their descriptions. */

import { stringify } from 'yaml';
import { RESOURCES } from '../../kinds/generated/resources.ts';
import { GROUP, VERSION } from '../schema/kind.ts';
import type { Kind, PrinterColumn, Subresources } from '../schema/kind.ts';
import type { KindResource } from '../schema/resource.ts';
import type { SchemaNode } from '../schema/schema.ts';

/** Every kind of `kubeovn.io/v1`, by name. */
export const allKinds: readonly Kind<unknown, unknown>[] = Object.values<KindResource>(RESOURCES)
  .flatMap(({ definition }) => definition ?? [])
  .toSorted((a, b) => (a.kind.toLowerCase() < b.kind.toLowerCase() ? -1 : 1));

/** A CustomResourceDefinition of `apiextensions.k8s.io/v1`: the fields that ours use. */
export interface Crd {
  readonly apiVersion: 'apiextensions.k8s.io/v1';
  readonly kind: 'CustomResourceDefinition';
  readonly metadata: { readonly name: string };
  readonly spec: {
    readonly group: string;
    readonly names: {
      readonly kind: string;
      readonly listKind: string;
      readonly plural: string;
      readonly singular: string;
      readonly shortNames?: readonly string[];
    };
    readonly scope: 'Cluster' | 'Namespaced';
    readonly versions: readonly CrdVersion[];
  };
}

export interface CrdVersion {
  readonly name: string;
  readonly served: boolean;
  readonly storage: boolean;
  readonly schema: { readonly openAPIV3Schema: SchemaNode };
  readonly subresources?: Subresources;
  readonly additionalPrinterColumns?: readonly PrinterColumn[];
}

/** `cel: false` omits the CEL rules: API servers before 1.25 do not have them, and `kubectl` rejects such fields there. */
export interface CrdOptions {
  readonly cel?: boolean;
}

const withoutCel = (node: SchemaNode): SchemaNode => {
  const { 'x-kubernetes-validations': _rules, ...rest } = node;
  const { properties, items, additionalProperties } = rest;
  return {
    ...rest,
    ...(properties && { properties: Object.fromEntries(Object.entries(properties).map(([k, v]) => [k, withoutCel(v)])) }),
    ...(items && { items: withoutCel(items) }),
    ...(additionalProperties && { additionalProperties: withoutCel(additionalProperties) }),
  };
};

/** The schema of a whole object. */
const objectSchema = (kind: Kind<unknown, unknown>): SchemaNode => ({
  type: 'object',
  description: kind.description,
  ...(kind.specRequired === true && { required: ['spec'] }),
  properties: {
    apiVersion: { type: 'string', description: 'API group and version of the object' },
    kind: { type: 'string', description: 'Kind of the object' },
    metadata: { type: 'object' },
    spec: kind.spec.node,
    ...(kind.status && { status: kind.status.node }),
  },
});

export const crdOf = (kind: Kind<unknown, unknown>, { cel = true }: CrdOptions = {}): Crd => {
  const schema = objectSchema(kind);
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${kind.plural}.${GROUP}` },
    spec: {
      group: GROUP,
      names: {
        kind: kind.kind,
        listKind: `${kind.kind}List`,
        plural: kind.plural,
        singular: kind.singular,
        ...(kind.shortNames && { shortNames: kind.shortNames }),
      },
      scope: kind.scope,
      versions: [
        {
          name: VERSION,
          served: true,
          storage: true,
          schema: { openAPIV3Schema: cel ? schema : withoutCel(schema) },
          ...(kind.subresources && { subresources: kind.subresources }),
          ...(kind.columns && { additionalPrinterColumns: kind.columns }),
        },
      ],
    },
  };
};

export const allCrds = (options: CrdOptions = {}): Crd[] => allKinds.map((kind) => crdOf(kind, options));

/** All CustomResourceDefinitions as one YAML text of several documents, for `kubectl apply` and for a chart. */
export const crdYaml = (options: CrdOptions = {}): string =>
  allCrds(options)
    .map((crd) => `---\n${stringify(crd, { aliasDuplicateObjects: false, lineWidth: 0 })}`)
    .join('');
