/** The sources without the laboratory. The image has a built program: `scripts/build`. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testEnvironment } from '../../testing/environment.ts';

const ROOT = join(import.meta.dirname, '../../..');
const image = mkdtempSync(join(tmpdir(), 'kiln-image-'));
after(() => rmSync(image, { recursive: true }));
for (const part of ['src', 'package.json']) cpSync(join(ROOT, part), join(image, part), { recursive: true });
symlinkSync(join(ROOT, 'node_modules'), join(image, 'node_modules'));

function kiln(...args: readonly string[]): { readonly status: number | null; readonly stderr: string } {
  return spawnSync(process.execPath, [join(image, 'src/cli/main.ts'), ...args], {
    cwd: image,
    encoding: 'utf8',
    env: { ...testEnvironment(), KUBERNETES_SERVICE_HOST: '' },
  });
}

test('`kiln start` without a cluster reports that there is no laboratory, and what to name instead', () => {
  const { status, stderr } = kiln('start');
  assert.equal(status, 2, stderr);
  assert.match(stderr, /^error: .*\n {2}why: this installation does not contain the laboratory\n {2}next: .*--kubeconfig.*--in-cluster/m);
});

test('a controller on a cluster starts without it', () => {
  const { status, stderr } = kiln('start', '--in-cluster', '--ovn-nb=unix:/nowhere/at/all');
  assert.equal(status, 2, stderr);
  assert.doesNotMatch(stderr, /laboratory|ERR_MODULE_NOT_FOUND|Cannot find module/);
});
