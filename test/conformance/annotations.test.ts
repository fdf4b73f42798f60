/** The list of annotations, from which the reference page is generated, describes exactly how the code uses each. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { KILN_ANNOTATIONS, OBJECT_ANNOTATIONS, POD_ANNOTATIONS } from '../../src/api/annotations.ts';
import type { PodAnnotationSuffix } from '../../src/api/well-known.ts';
import { podAnnotation } from '../../src/api/well-known.ts';

const root = join(import.meta.dirname, '../..');
const LIST = 'src/api/annotations.ts';
const NAMES = 'src/api/well-known.ts';

/** The source of the product, without the files that name all annotations alike and without tests. */
function source(...patterns: readonly string[]): string {
  return globSync(patterns, { cwd: root })
    .filter((path) => !/\.test\.ts$|\/testing\/|\/simulator\.ts$/.test(path) && path !== LIST && path !== NAMES)
    .map((path) => readFileSync(join(root, path), 'utf8'))
    .join('\n');
}

const product = source('src/**/*.ts');
/** The files in which a quoted word is the suffix of a pod annotation. */
const ofPods = source('src/compile/pod/**/*.ts', 'src/webhook/**/*.ts', 'src/world/allocated-subnets.ts', 'src/api/pod/pod-*.ts');
const writing = source('src/compile/pod/annotations/pod-annotations.ts');

test('pods: exactly the annotations listed as read or written are read or written', () => {
  for (const [suffix, { use }] of Object.entries(POD_ANNOTATIONS)) {
    const word = `'${suffix}'`;
    assert.equal(ofPods.includes(word), use !== '-', `${suffix}: it is listed as "${use}"`);
    assert.equal(writing.includes(`key(${word})`) || writing.includes(`provider, ${word})`), use.includes('writes'), `${suffix}: written`);
  }
});

test('other objects, and annotations without a provider: exactly the listed ones are used', () => {
  for (const [name, { use }] of Object.entries(OBJECT_ANNOTATIONS))
    assert.equal(new RegExp(`annotationKey\\.${name}\\b`).test(product), use !== '-', `${name}: it is listed as "${use}"`);
  for (const name of Object.keys(KILN_ANNOTATIONS)) assert.match(product, new RegExp(`kilnAnnotation\\.${name}\\b`));
});

test('the list has every annotation that the product names', () => {
  const literal = [...product.matchAll(/'((?:ovn\.kubernetes|kiln)\.io\/[a-z_-]+)'/g)].map(([, key]) => key ?? '');
  // Ownership keys of rows in both databases, and keys of output for programs.
  const others = [
    'owner',
    'uid',
    'rule',
    'spec',
    'alone',
    'mac',
    'mtu',
    'let-go',
    'unexplained-since',
    'term',
    'v1',
    'container',
    'device',
    'interface',
    'provider',
    'node',
    'before',
    'provider-network',
    'interface-of-node',
    'moved',
    'routes',
    'vlan-interfaces',
    'taken-interfaces',
    'bridge-mappings',
  ].map((name) => `kiln.io/${name}`);
  const listed = Object.entries(POD_ANNOTATIONS).flatMap(([suffix, { use }]) =>
    use === '-' ? [] : [podAnnotation('ovn', suffix as PodAnnotationSuffix)],
  );
  const known = new Set([...others, ...listed]);
  assert.deepEqual(
    literal.filter((key) => !known.has(key)),
    [],
  );
});
