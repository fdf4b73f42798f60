/** Our CustomResourceDefinitions accept the same objects and show the same columns as Kube-OVN's. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, test } from 'node:test';
import { parseAllDocuments } from 'yaml';
import { allCrds } from './crds.ts';

/** Kube-OVN's CRDs as one file of several documents, as its chart contains them. */
const reference =
  process.env['KUBE_OVN_CRDS'] ?? fileURLToPath(new URL('../../../../shared/reference/kube-ovn-crds.yaml', import.meta.url));
const skip = existsSync(reference) ? false : `${reference} is not there: set KUBE_OVN_CRDS to Kube-OVN's CRDs to compare with them`;

/** Intended differences, with the reason. */
const intended: readonly { readonly key: string; readonly reason: string }[] = [
  { key: 'description', reason: 'our own words' },
  { key: 'message', reason: 'our own words for a CEL rule' },
  { key: 'rule', reason: 'the same condition, written our way (compared on 95 objects with the CEL library of Kubernetes 1.26)' },
  { key: 'controller-gen.kubebuilder.io/version', reason: 'names the generator of a file that we did not generate with it' },
];
const ignored = new Set(intended.map(({ key }) => key));

/** Paths and values of everything except intended differences. Order matters only in lists of columns. */
const flatten = (value: unknown, path: string, out: Map<string, string>, parent: string): Map<string, string> => {
  if (Array.isArray(value)) {
    if (value.length === 0) out.set(path, '[]');
    const items: readonly unknown[] =
      parent === 'required' || parent === 'enum' ? value.map(String).toSorted() : (value as readonly unknown[]);
    for (const [index, item] of items.entries()) flatten(item, `${path}[${index}]`, out, '');
    return out;
  }
  if (typeof value !== 'object' || value === null) {
    out.set(path, JSON.stringify(value));
    return out;
  }
  const isProperties = parent === 'properties';
  const entries = Object.entries(value).filter(([key]) => isProperties || !ignored.has(key));
  if (entries.length === 0 && parent !== 'annotations') out.set(path, '{}');
  for (const [key, item] of entries) flatten(item, `${path}.${key}`, out, isProperties ? '' : key);
  return out;
};

const flat = (crd: unknown): Map<string, string> => flatten(crd, '', new Map(), '');

const differences = (ours: Map<string, string>, theirs: Map<string, string>): string[] => [
  ...[...theirs].filter(([path, value]) => ours.get(path) !== value).map(([path, value]) => `${path}: ${value} became ${ours.get(path)}`),
  ...[...ours.keys()].filter((path) => !theirs.has(path)).map((path) => `${path} is new: ${ours.get(path)}`),
];

interface Named {
  readonly metadata: { readonly name: string };
}

const theirs = (): Named[] =>
  parseAllDocuments(readFileSync(reference, 'utf8'))
    .map((document) => document.toJS() as Named | null)
    .filter((document) => document !== null);

describe("parity with Kube-OVN's CustomResourceDefinitions", { skip }, () => {
  test('the same kinds', () => {
    const names = (crds: readonly Named[]): string[] => crds.map((crd) => crd.metadata.name).toSorted();
    assert.deepEqual(names(allCrds()), names(theirs()));
    assert.equal(allCrds().length, 25);
  });

  const ours = new Map<string, unknown>(allCrds().map((crd) => [crd.metadata.name, crd]));
  for (const crd of skip === false ? theirs() : [])
    test(crd.metadata.name, () => {
      const flatTheirs = flat(crd);
      assert.ok(flatTheirs.size > 20, 'the reference has content');
      assert.deepEqual(differences(flat(ours.get(crd.metadata.name)), flatTheirs), []);
    });

  test('a difference is seen', () => {
    const [first] = theirs();
    const changed = JSON.parse(JSON.stringify(first).replace('"integer"', '"string"')) as unknown;
    assert.equal(differences(flat(changed), flat(first)).length, 1);
  });
});
