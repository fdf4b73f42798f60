import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';

interface Entry {
  readonly version?: string;
  readonly integrity?: string;
  readonly resolved?: string;
  readonly link?: boolean;
}

const lock = JSON.parse(readFileSync(new URL('../../package-lock.json', import.meta.url), 'utf8')) as {
  readonly packages: Readonly<Record<string, Entry>>;
};
const packages = Object.entries(lock.packages).filter(([path]) => path !== '');

test('npm checks what it downloads: every package of the lock file has a hash, also those for other hosts, which npm leaves out where it writes the file from installed packages', () => {
  assert.ok(packages.length > 100);
  // Add what is missing: npm view <package>@<version> dist.integrity
  const missing = packages.filter(([, { integrity = '' }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity));
  assert.deepEqual(
    missing.map(([path, { version }]) => `${path} ${version}`),
    [],
  );
});

test('the lock file names no registry', () => {
  assert.deepEqual(
    packages.filter(([, { resolved }]) => resolved !== undefined).map(([path]) => path),
    [],
  );
});
