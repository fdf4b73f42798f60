/**
 * Whether an object has the types that its kind promises to the rules. An API server validates objects against their schemas before it
 * calls a webhook; other clients may send anything. Values, required fields and unknown fields are not checked. Pure.
 */
import type { Kind } from '../../api/schema/kind.ts';
import type { SchemaNode } from '../../api/schema/schema.ts';
import { boolean, list, map, object, string } from '../../api/schema/schema.ts';
import type { ReviewedObject } from '../protocol/admission-review.ts';
import type { TypesOf } from '../protocol/kind-admission.ts';

const METADATA = object('', {
  name: string(),
  generateName: string(),
  namespace: string(),
  uid: string(),
  resourceVersion: string(),
  creationTimestamp: string(),
  deletionTimestamp: string(),
  annotations: map('', string()),
  labels: map('', string()),
  finalizers: list('', string()),
  ownerReferences: list('', object('', { apiVersion: string(), kind: string(), name: string(), uid: string(), controller: boolean() })),
}).node;

export function wellTyped({ metadata, spec, status }: ReviewedObject, kind: TypesOf | Kind<unknown, unknown> | undefined): boolean {
  if (!fits(metadata, METADATA)) return false;
  if (kind === undefined) return true;
  return fits(spec, kind.spec.node) && (kind.status === undefined || fits(status, kind.status.node));
}

function fits(value: unknown, node: SchemaNode): boolean {
  if (value === undefined) return true;
  if (node['x-kubernetes-int-or-string'] === true) return typeof value === 'string' || isNumber(value);
  switch (node.type) {
    case 'string':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'integer':
    case 'number':
      return isNumber(value);
    case 'array':
      return Array.isArray(value) && value.every((one) => node.items === undefined || fits(one, node.items));
    case 'object':
      return (
        typeof value === 'object' && value !== null && !Array.isArray(value) && membersFit(value as Readonly<Record<string, unknown>>, node)
      );
    default:
      return true;
  }
}

function membersFit(value: Readonly<Record<string, unknown>>, { properties, additionalProperties }: SchemaNode): boolean {
  if (additionalProperties !== undefined) return Object.values(value).every((one) => fits(one, additionalProperties));
  return Object.entries(properties ?? {}).every(([name, member]) => !Object.hasOwn(value, name) || fits(value[name], member));
}

function isNumber(value: unknown): boolean {
  return typeof value === 'number' || typeof value === 'bigint';
}
