/**
 * Kube-OVN's definitions and ours accept and reject the same objects and store the same fields of them: tested with objects generated from
 * both.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { parseAllDocuments } from 'yaml';
import { allCrds } from '../../src/api/kinds/crds.ts';
import type { Environment } from '../../lab/apiserver/environment.ts';
import { systemEnvironment } from '../../lab/apiserver/environment.ts';
import type { Json, JsonObject } from '../../lab/apiserver/json.ts';
import { clone, isObject, list, object, text } from '../../lab/apiserver/json.ts';
import type { ResourceDefinition } from '../../lab/apiserver/resource.ts';
import { LabApi } from '../../lab/apiserver/server.ts';
import { ApiError } from '../../lab/apiserver/status.ts';

const reference = fileURLToPath(new URL('../../../shared/reference/kube-ovn-crds.yaml', import.meta.url));
const skip = existsSync(reference) ? false : "Kube-OVN's definitions are not on this host";
const RUNS = Number(process.env['CRD_EQUALITY_RUNS'] ?? 60);

/** The lab without HTTP, with one set of definitions and a clock that stands still. */
function labWith(crds: readonly JsonObject[]): LabApi {
  const steps: (() => void)[] = [];
  const environment: Environment = { ...systemEnvironment, now: () => 0, uid: () => 'uid', schedule: (step) => void steps.push(step) };
  const lab = new LabApi(environment);
  const definitions = lab.registry.find('apiextensions.k8s.io', 'v1', 'customresourcedefinitions');
  if (definitions === undefined) throw new Error('no definitions of definitions');
  for (const crd of crds) lab.operations.create(definitions, '', withoutSubresources(crd));
  for (let step = steps.shift(); step !== undefined; step = steps.shift()) step();
  return lab;
}

/** Removes the status subresource, so that a status is stored with the object and validated like the rest. */
function withoutSubresources(crd: JsonObject): JsonObject {
  const copy = clone(crd);
  for (const version of list(object(copy['spec'])['versions'])) delete object(version)['subresources'];
  return copy;
}

interface Outcome {
  /** The fields that validation rejects. Messages are not compared: those of our CEL rules differ. */
  readonly refused?: readonly string[];
  readonly kept?: Json;
}

function outcome(lab: LabApi, definition: ResourceDefinition, body: JsonObject): Outcome {
  try {
    const namespace = definition.namespaced ? 'default' : '';
    return { kept: lab.operations.create(definition, namespace, clone(body), { dryRun: true, fromClient: true }) };
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const causes = list(error.details?.['causes']).map((cause) => `${text(object(cause)['field'])} ${text(object(cause)['reason'])}`);
    return { refused: causes.length === 0 ? [error.message] : causes.toSorted((a, b) => (a < b ? -1 : 1)) };
  }
}

const NOISE: readonly Json[] = [
  '',
  'x',
  '10.0.0.0/16',
  'IPv4',
  0,
  -1,
  1,
  65536,
  2 ** 31,
  1.5,
  true,
  false,
  null,
  [],
  {},
  ['a', 'a'],
  { a: 'b' },
];

/** Values that a schema accepts, values just beyond its bounds, and values of other types. */
function valueOf(schema: JsonObject, depth = 0): fc.Arbitrary<Json> {
  const good = fitting(schema, depth);
  const edges: Json[] = [];
  for (const key of ['minimum', 'maximum']) {
    const bound = schema[key];
    if (typeof bound === 'number') edges.push(bound - 1, bound, bound + 1);
  }
  for (const key of ['minLength', 'maxLength']) {
    const bound = schema[key];
    if (typeof bound === 'number') edges.push('a'.repeat(Math.max(0, bound - 1)), 'a'.repeat(bound), 'a'.repeat(bound + 1));
  }
  return fc.oneof({ weight: 20, arbitrary: good }, ...(edges.length === 0 ? [] : [{ weight: 4, arbitrary: fc.constantFrom(...edges) }]), {
    weight: 1,
    arbitrary: fc.constantFrom(...NOISE),
  });
}

function fitting(schema: JsonObject, depth: number): fc.Arbitrary<Json> {
  if (Array.isArray(schema['enum'])) return fc.constantFrom(...schema['enum']);
  if (schema['x-kubernetes-int-or-string'] === true) return fc.constantFrom<Json>(1, 0, 10, '1', '10Mi', '0', '-5', 'x', '9223372036855');
  switch (schema['type']) {
    case 'object': {
      const properties = object(schema['properties']);
      const names = Object.keys(properties);
      if (names.length === 0 || depth > 8) return fc.dictionary(fc.constantFrom('a', 'b'), fc.constantFrom<Json>('x', 'y'), { maxKeys: 2 });
      const required = list(schema['required']).map(text);
      const fields = Object.fromEntries(
        names.map((name) => [
          name,
          fc.option(valueOf(object(properties[name]), depth + 1), { freq: required.includes(name) ? 15 : 2, nil: undefined }),
        ]),
      );
      return fc.record(fields).map((made) => {
        const kept: JsonObject = {};
        for (const [name, value] of Object.entries(made)) if (value !== undefined) kept[name] = value;
        return kept;
      });
    }
    case 'array':
      return fc.array(valueOf(object(schema['items']), depth + 1), { maxLength: 3 });
    case 'integer':
      return fc.oneof(fc.integer({ min: 0, max: 10 }), fc.integer());
    case 'number':
      return fc.oneof(fc.integer({ min: 0, max: 10 }), fc.constantFrom<Json>(0.5, 2 ** 60));
    case 'boolean':
      return fc.boolean();
    default:
      return fc.constantFrom<Json>('a', 'b', 'default', '10.0.0.1', '10.0.0.0/16', 'fd00::1', '2026-01-01T00:00:00Z', 'ovn', 'a-b', '5');
  }
}

let refused = 0;
let kept = 0;

/** Objects generated from the schema of `source` have the same outcome in both labs. */
function alike(plural: string, left: LabApi, right: LabApi, source: LabApi): fc.IProperty<[JsonObject]> {
  const [a, b, from] = [left, right, source].map((lab) => lab.registry.find('kubeovn.io', 'v1', plural));
  const properties = object(from?.openApiSchema?.['properties']);
  if (a === undefined || b === undefined) throw new Error(`${plural} are not served`);
  const fields: Record<string, fc.Arbitrary<Json>> = { spec: valueOf(object(properties['spec'])) };
  if (properties['status'] !== undefined) fields['status'] = valueOf(object(properties['status']));
  return fc.property(fc.record(fields) as fc.Arbitrary<JsonObject>, (made) => {
    const body: JsonObject = { apiVersion: 'kubeovn.io/v1', kind: a.kind, metadata: { name: 'x' }, ...made, unknown: 1 };
    const [one, other] = [outcome(left, a, body), outcome(right, b, body)];
    if (one.refused === undefined) kept++;
    else refused++;
    assert.deepEqual(other, one);
  });
}

describe("the same objects with Kube-OVN's definitions and with ours", { skip }, () => {
  const theirs =
    skip === false ? parseAllDocuments(readFileSync(reference, 'utf8')).map((document) => document.toJS() as JsonObject | null) : [];
  const [left, right] = skip === false ? [labWith(theirs.filter(isObject)), labWith(allCrds() as unknown as JsonObject[])] : [];
  const known = new Set(theirs.map((crd) => text(object(object(object(crd)['spec'])['names'])['plural'])));

  for (const crd of allCrds()) {
    const { plural, kind } = crd.spec.names;
    // Kinds that Kube-OVN lacks have nothing to be compared with.
    if (!known.has(plural)) continue;
    for (const whose of ['theirs', 'ours'] as const)
      test(`${kind}, from ${whose}`, () => {
        if (left === undefined || right === undefined) throw new Error('no definitions');
        fc.assert(alike(plural, left, right, whose === 'theirs' ? left : right), { numRuns: RUNS });
      });
  }

  test('we have all of their kinds', () => {
    const ours = new Set(allCrds().map((crd) => crd.spec.names.plural));
    assert.deepEqual(
      [...known].filter((plural) => plural !== '' && !ours.has(plural)),
      [],
    );
  });

  test('the comparison finds a difference', () => {
    if (left === undefined) throw new Error('no definitions');
    const altered = JSON.parse(JSON.stringify(allCrds()).replace('"maximum":4095', '"maximum":1')) as JsonObject[];
    assert.ok(fc.check(alike('vlans', left, labWith(altered), left), { numRuns: 500 }).failed);
  });

  test('some objects were accepted and some rejected', () => {
    assert.ok(refused > 100 && kept > 100, `${refused} refused, ${kept} kept`);
    process.stdout.write(`${refused} objects refused by both, ${kept} kept alike\n`);
  });
});
