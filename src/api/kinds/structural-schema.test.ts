/** Our schemas are structural schemas (the rules of `apiextensions.k8s.io/v1`), and one description gives both type and schema. */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { allCrds, allKinds, crdYaml } from './crds.ts';
import { complete } from '../schema/kind.ts';
import type { KubeObject } from '../kubernetes/meta.ts';
import { boolean, count, integer, list, map, object, required, string } from '../schema/schema.ts';
import type { SchemaNode, TypeOf } from '../schema/schema.ts';
import { ipPoolKind } from './ip-pool.ts';
import type { IPPoolSpec } from './ip-pool.ts';
import { vpcKind } from './vpc.ts';
import type { Vpc } from './vpc.ts';

/** Violations of the rules in a node and its descendants. */
const violations = (node: SchemaNode, path: string): string[] => {
  const out: string[] = [];
  const { type, properties, items, additionalProperties, required: needed = [] } = node;
  const isIntOrString = node['x-kubernetes-int-or-string'] === true;
  if (isIntOrString ? type !== undefined : type === undefined) out.push(`${path} needs exactly one of type and int-or-string`);
  if ((type === 'array') !== (items !== undefined)) out.push(`${path} is an array exactly when it has items`);
  if (properties && additionalProperties) out.push(`${path} has properties and additionalProperties`);
  if ((properties || additionalProperties) && type !== 'object') out.push(`${path} has fields but is no object`);
  for (const name of needed) if (properties?.[name] === undefined) out.push(`${path} requires ${name}, which it does not have`);
  if (node.enum && node.default !== undefined && !node.enum.includes(String(node.default)))
    out.push(`${path} has a default that its enum refuses`);
  if (node.pattern !== undefined) assert.doesNotThrow(() => RegExp(node.pattern ?? '', 'u'), path);
  const keys = node['x-kubernetes-list-map-keys'] ?? [];
  if ((node['x-kubernetes-list-type'] === 'map') !== keys.length > 0) out.push(`${path} has map keys exactly when it is a map list`);
  for (const key of keys) if (items?.required?.includes(key) !== true) out.push(`${path} has the key ${key}, which items do not require`);
  for (const alternative of node.anyOf ?? [])
    if (alternative.description !== undefined || alternative.properties) out.push(`${path} describes fields inside anyOf`);
  for (const [name, child] of Object.entries(properties ?? {})) out.push(...violations(child, `${path}.${name}`));
  if (items) out.push(...violations(items, `${path}[]`));
  if (additionalProperties) out.push(...violations(additionalProperties, `${path}{}`));
  return out;
};

const holdsCel = (value: unknown): boolean => JSON.stringify(value).includes('x-kubernetes-validations');

describe('structural schemas', () => {
  for (const crd of allCrds())
    test(crd.spec.names.kind, () => {
      for (const version of crd.spec.versions) {
        assert.deepEqual(violations(version.schema.openAPIV3Schema, crd.spec.names.kind), []);
        assert.deepEqual(version.schema.openAPIV3Schema.properties?.['metadata'], { type: 'object' });
        for (const { jsonPath, name } of version.additionalPrinterColumns ?? []) {
          const steps = jsonPath.split('.').slice(1);
          let node: SchemaNode | undefined = version.schema.openAPIV3Schema;
          for (const step of steps) node = steps[0] === 'metadata' ? {} : node?.properties?.[step];
          assert.ok(node, `column ${name} of ${crd.spec.names.kind} shows ${jsonPath}, which the schema has not`);
        }
      }
    });

  test('a broken schema is seen', () => {
    const broken: SchemaNode = { type: 'object', required: ['a'], properties: { b: { type: 'array' }, c: {} } };
    assert.equal(violations(broken, 'x').length, 3);
  });

  test('fields and kinds have descriptions', () => {
    const silent = (node: SchemaNode, path: string): string[] =>
      Object.entries(node.properties ?? {}).flatMap(([name, child]) => [
        ...(child.description === undefined && path !== '' ? [`${path}.${name}`] : []),
        ...silent(child, `${path}.${name}`),
        ...(child.items ? silent(child.items, `${path}.${name}[]`) : []),
      ]);
    for (const { kind, spec, status, description } of allKinds) {
      assert.notEqual(description, '');
      assert.deepEqual([...silent(spec.node, `${kind}.spec`), ...(status ? silent(status.node, `${kind}.status`) : [])], []);
    }
  });
});

describe('CRDs for servers without CEL', () => {
  test('have no rules and are otherwise equal', () => {
    assert.ok(holdsCel(allCrds()));
    assert.ok(!holdsCel(allCrds({ cel: false })));
    const withoutRules = JSON.parse(
      JSON.stringify(allCrds(), (key, value: unknown) => (key === 'x-kubernetes-validations' ? undefined : value)),
    ) as unknown;
    assert.deepEqual(JSON.parse(JSON.stringify(allCrds({ cel: false }))), withoutRules);
  });

  test('the YAML text has every CRD, unabridged', () => {
    const documents = parseAllDocuments(crdYaml()).map((document) => document.toJS() as unknown);
    assert.deepEqual(documents, JSON.parse(JSON.stringify(allCrds())));
    assert.ok(!/[*&]a\d/.test(crdYaml()), 'no YAML aliases, which kubectl and Helm expand differently');
  });
});

describe('description language', () => {
  const shape = object('a thing', {
    name: required(string('its name')),
    size: integer('how big', { minimum: 0 }),
    color: string('', { enum: ['red', 'blue'], default: 'red' }),
    tags: list('', string()),
    extra: map('', boolean()),
    addresses: count(),
  });

  test('gives the schema', () => {
    assert.deepEqual(shape.node, {
      type: 'object',
      description: 'a thing',
      required: ['name'],
      properties: {
        name: { type: 'string', description: 'its name' },
        size: { type: 'integer', description: 'how big', minimum: 0 },
        color: { type: 'string', enum: ['red', 'blue'], default: 'red' },
        tags: { type: 'array', items: { type: 'string' } },
        extra: { type: 'object', additionalProperties: { type: 'boolean' } },
        addresses: { type: 'number' },
      },
    });
  });

  test('gives the type', () => {
    type Thing = TypeOf<typeof shape>;
    const full: Thing = { name: 'a', size: 1, color: 'blue', tags: ['t'], extra: { b: true }, addresses: 1n << 64n };
    // @ts-expect-error name is required
    const nameless: Thing = { size: 1 };
    // @ts-expect-error only values of the enum
    const green: Thing = { name: 'a', color: 'green' };
    assert.ok(full.tags?.includes('t') === true && nameless.size === 1 && green.name === 'a');
  });
});

describe('complete', () => {
  const metadata = { name: 'x', uid: 'u', resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

  test('keeps an object that has everything', () => {
    const vpc: Vpc = { apiVersion: 'kubeovn.io/v1', kind: 'Vpc', metadata, spec: {} };
    assert.equal(complete(vpcKind, vpc), vpc);
  });

  test('gives an object without spec an empty one, with what must be there', () => {
    const bare = { apiVersion: 'kubeovn.io/v1', kind: 'IPPool', metadata };
    assert.deepEqual(complete(ipPoolKind, bare).spec, { ips: [], subnet: '' });
    const half = { ...bare, spec: { subnet: 's' } as IPPoolSpec } satisfies KubeObject<IPPoolSpec>;
    assert.deepEqual(complete(ipPoolKind, half).spec, { ips: [], subnet: 's' });
    assert.deepEqual(complete(ipPoolKind, { ...bare, spec: null }).spec, { ips: [], subnet: '' });
  });
});
