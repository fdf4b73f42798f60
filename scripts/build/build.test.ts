/** The built program, in a folder of its own: as in the image, without sources, packages and the laboratory. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { isBuiltin } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { testEnvironment } from '../../src/testing/environment.ts';
import { buildPrograms, ROOT, UNUSED } from './programs.ts';

const folder = mkdtempSync(join(tmpdir(), 'kiln-build-'));
after(() => rmSync(folder, { recursive: true }));
const dist = join(folder, 'dist');
const built = spawnSync(process.execPath, [join(ROOT, 'scripts/build.ts'), '--directory', dist], { encoding: 'utf8' });

function run(
  program: string,
  ...args: readonly string[]
): { readonly status: number | null; readonly stdout: string; readonly stderr: string } {
  return spawnSync(process.execPath, [program, ...args], { cwd: folder, encoding: 'utf8', env: testEnvironment() });
}

const kiln = (...args: readonly string[]) => run(join(dist, 'kiln.mjs'), ...args);

test('it is built without a warning', () => assert.deepEqual([built.status, built.stdout, built.stderr], [0, '', '']));

for (const args of [['--help'], ['start', '--help'], ['version', '--client'], ['config', '-o', 'json'], ['explain', 'nothing/at-all']])
  test(`kiln ${args.join(' ')} prints what the sources print`, () => {
    const { status, stdout, stderr } = kiln(...args);
    const ofSources = run(join(ROOT, 'src/cli/main.ts'), ...args);
    assert.deepEqual([status, stdout, stderr], [ofSources.status, ofSources.stdout, ofSources.stderr]);
    assert.ok(`${stdout}${stderr}`.length > 20);
  });

test('the CNI plugin is one file, which runs with nothing beside it', () => {
  const plugin = spawnSync(join(dist, 'kiln-cni'), [], { cwd: '/', encoding: 'utf8', env: { CNI_COMMAND: 'VERSION' }, input: '' });
  assert.deepEqual([plugin.status, plugin.stderr], [0, '']);
  assert.deepEqual(JSON.parse(plugin.stdout), {
    cniVersion: '1.1.0',
    supportedVersions: ['0.1.0', '0.2.0', '0.3.0', '0.3.1', '0.4.0', '1.0.0', '1.1.0'],
  });
});

test('`kiln start` without a cluster reports that there is no laboratory, and what to name instead', () => {
  const { status, stderr } = kiln('start');
  assert.equal(status, 2, stderr);
  assert.match(stderr, /^error: .*\n {2}why: this installation does not contain the laboratory\n {2}next: .*--kubeconfig.*--in-cluster/m);
});

test('a controller in a cluster starts: it looks for the service account', () => {
  const { status, stderr } = kiln('start', '--in-cluster', '--ovn-nb=unix:/nowhere/at/all');
  assert.equal(status, 3, stderr);
  assert.match(stderr, /KUBERNETES_SERVICE_HOST is not set/);
});

test('its files are of ASCII alone: any other character would double the memory of a text', () => {
  const files = globSync('*.mjs', { cwd: dist });
  assert.ok(files.includes('kiln.mjs'));
  for (const file of files) assert.doesNotMatch(readFileSync(join(dist, file), 'utf8'), /[\u0080-\uffff]/, file);
});

test('the licences of the packages in it are beside it', () => {
  const licenses = readFileSync(join(dist, 'LICENSES.txt'), 'utf8');
  for (const name of ['undici', 'commander', 'yaml', 'prom-client', 'pino', '@kubernetes/client-node', '@marcbachmann/cel-js', 'ws'])
    assert.match(licenses, new RegExp(`^${name} \\d.*\\)$`, 'm'));
});

test('its files import each other and modules of Node alone; a part of a package that is left out is one that the package imports', async () => {
  const { inputs, outputs } = await buildPrograms({ programs: { kiln: 'src/cli/built.ts' }, directory: join(folder, 'again') });
  const foreign = Object.values(outputs).flatMap(({ imports }) => imports.filter(({ external }) => external === true));
  assert.deepEqual(
    foreign.filter(({ path }) => !isBuiltin(path)),
    [],
  );
  for (const { importer, specifier } of UNUSED) assert.ok(`unused:${importer}/${specifier}` in inputs, `${importer} imports ${specifier}`);
});

test('stacks name files and lines of the sources', async () => {
  const source = join(folder, 'fault.ts');
  const positions = join(ROOT, 'src/runtime/source-positions.ts');
  writeFileSync(
    source,
    `import { showSourcePositions } from '${positions}';\n\ninterface Wide {\n  readonly of: string;\n}\nshowSourcePositions();\nfunction fail({ of }: Wide): never {\n  throw new TypeError(of);\n}\nfail({ of: 'some fault' });\n`,
  );
  await buildPrograms({ programs: { fault: source }, directory: join(folder, 'faulty') });
  const { status, stderr } = run(join(folder, 'faulty/fault.mjs'));
  assert.equal(status, 1);
  assert.ok(stderr.length < 2_000, stderr);
  assert.match(stderr, /TypeError: some fault\n {4}at fail \(\S*fault\.ts:8:9\)\n {4}at \S*fault\.ts:10:1\n/);
});
