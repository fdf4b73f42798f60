import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { readManifests } from './read-manifests.ts';

const folder = mkdtempSync(join(tmpdir(), 'kiln-manifests-'));
after(() => rmSync(folder, { recursive: true }));

for (const [name, contents, why] of [
  ['broken.yaml', 'kind: [\n', /broken\.yaml is not YAML: .* at line 2, column 1$/],
  [
    'itself.yaml',
    'apiVersion: v1\nkind: List\nitems: &items\n- apiVersion: v1\n  kind: List\n  items: *items\n',
    /itself\.yaml has a List that is in itself$/,
  ],
  ['whole.yaml', '&all\napiVersion: v1\nkind: List\nitems:\n- *all\n', /whole\.yaml has a List that is in itself$/],
  [
    'deep.json',
    `${'{"apiVersion":"v1","kind":"PodList","items":['.repeat(20)}${']}'.repeat(20)}`,
    /deep\.json has more than 10 Lists in one another$/,
  ],
  ['empty.yaml', '# nothing yet\n', /^no object is in .*empty\.yaml$/],
] as const)
  test(`${name}: the file and the place are named`, async () => {
    const path = join(folder, name);
    writeFileSync(path, contents);
    await assert.rejects(readManifests('plan', [path], false), (error: { readonly why: string }) => why.test(error.why));
  });
