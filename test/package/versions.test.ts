/** One version: of the package, of the program, of the newest part of the changelog, and of the images in manifests and documents. */
import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { VERSION } from '../../src/runtime/version.ts';

const ROOT = join(import.meta.dirname, '../..');
const read = (file: string): string => readFileSync(join(ROOT, file), 'utf8');
const json = (file: string): unknown => JSON.parse(read(file));

test('package.json, package-lock.json, the newest part of CHANGELOG.md and kiln version agree', () => {
  const lock = json('package-lock.json') as { readonly version: string; readonly packages: Readonly<Record<string, { version?: string }>> };
  const found = {
    'package.json': (json('package.json') as { readonly version: string }).version,
    'package-lock.json': lock.version,
    'package-lock.json, packages': lock.packages['']?.version,
    'CHANGELOG.md': /^## (\S+)/m.exec(read('CHANGELOG.md'))?.[1],
  };
  for (const [file, version] of Object.entries(found)) assert.equal(version, VERSION, `${file}; kiln version prints ${VERSION}`);
});

test('images of Kiln in manifests and documents have that version', () => {
  const files = globSync(['deploy/*.yaml', 'docs/**/*.md', 'Containerfile'], { cwd: ROOT });
  const images = files.flatMap((file) =>
    [...read(file).matchAll(/\bkiln(?:-agent|-ovn)?:(\d+\.\d+\.\d+)/g)].map(([image, version]) => ({ file, image, version })),
  );
  assert.ok(images.length > 5, `${images.length} images`);
  for (const { file, image, version } of images) assert.equal(version, VERSION, `${file}: ${image}`);
});

test('the Helm charts have that version, as their own and as their appVersion', () => {
  const charts = globSync('charts/*/Chart.yaml', { cwd: ROOT });
  assert.ok(charts.length > 0);
  for (const file of charts)
    for (const field of ['version', 'appVersion'])
      assert.equal(new RegExp(`^${field}: ['"]?([^'"\\s]+)`, 'm').exec(read(file))?.[1], VERSION, `${file}: ${field}`);
});
