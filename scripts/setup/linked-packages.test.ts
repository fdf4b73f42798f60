import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';

const folder = mkdtempSync(join(tmpdir(), 'kiln-linked-'));
after(() => rmSync(folder, { recursive: true }));

test('set-up leaves the packages of another clone alone that node_modules links to', () => {
  const theirs = join(folder, 'theirs');
  const clone = join(folder, 'clone');
  mkdirSync(theirs);
  mkdirSync(join(clone, 'scripts'), { recursive: true });
  writeFileSync(join(theirs, 'package.txt'), 'in use');
  symlinkSync(theirs, join(clone, 'node_modules'));
  copyFileSync(join(import.meta.dirname, '..', 'setup.mjs'), join(clone, 'scripts', 'setup.mjs'));
  const named = { name: 'clone', version: '1.0.0' };
  writeFileSync(join(clone, 'package.json'), JSON.stringify(named));
  writeFileSync(join(clone, 'package-lock.json'), JSON.stringify({ ...named, lockfileVersion: 3, packages: { '': named } }));

  const { status, stderr } = spawnSync(process.execPath, [join(clone, 'scripts', 'setup.mjs'), 'start'], { encoding: 'utf8' });

  assert.equal(status, 1);
  assert.match(stderr, /node_modules is a link/);
  assert.ok(existsSync(join(theirs, 'package.txt')));
});
