import assert from 'node:assert/strict';
import { existsSync, readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { generatedFiles } from '../../scripts/kinds/generated-files.ts';
import type { KindResource } from '../../src/api/schema/resource.ts';
import { KINDS } from '../../src/kinds/list.ts';
import { PARTS } from '../../src/kinds/parts.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'src', 'kinds');

test('src/kinds/generated is up to date with the list of kinds; fix with: npm run --silent kinds', async () => {
  const files = await generatedFiles();
  for (const [name, text] of files) assert.equal(readFileSync(join(FOLDER, 'generated', name), 'utf8'), text, name);
  assert.deepEqual(readdirSync(join(FOLDER, 'generated')).toSorted(), [...files.keys()].toSorted());
});

test('the list names each folder of a kind once, and each kind has its resource', () => {
  const folders = readdirSync(FOLDER, { withFileTypes: true }).flatMap((entry) => (entry.isDirectory() ? [entry.name] : []));
  assert.deepEqual(folders.filter((name) => name !== 'generated').toSorted(), [...KINDS].toSorted());
  for (const kind of KINDS) assert.ok(existsSync(join(FOLDER, kind, 'resource.ts')), kind);
});

test('each part, and each generated file, has a name of its own', () => {
  for (const names of [PARTS.map(({ name }) => name), PARTS.map(({ file }) => file)]) assert.equal(new Set(names).size, PARTS.length);
});

/** EIPs and NAT rules are drawn together, each with those that name it: `test/sim/draw/addresses.ts`. */
const DRAWN_TOGETHER = ['iptables-eip'];

test('the record of each kind that is implemented says what the simulator draws', async () => {
  for (const kind of KINDS) {
    const { resource } = (await import(join(FOLDER, kind, 'resource.ts'))) as { readonly resource: KindResource };
    if (resource.unimplemented !== undefined || resource.nat !== undefined || DRAWN_TOGETHER.includes(kind)) continue;
    assert.ok(existsSync(join(FOLDER, kind, 'simulator.ts')), kind);
  }
});
