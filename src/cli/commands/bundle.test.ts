import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import type { CommandLab } from '../testing/command-lab.ts';
import { labOfThisFile, runKiln } from '../testing/command-lab.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzb21lYm9keSJ9.c2lnbmF0dXJl';
let lab: CommandLab;
let folder: string;
const skip = labOfThisFile(async (opened) => {
  lab = opened;
  folder = await mkdtemp(join(tmpdir(), 'kiln-bundle-'));
  await lab.make('subnets', {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name: 'red', annotations: { 'example.com/login': 'password=hunter22', 'example.com/token': TOKEN } },
    spec: { cidrBlock: '10.95.0.0/24' },
  });
  const secrets = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
  const metadata = { name: 'keys', namespace: 'default' };
  await lab.client.create(secrets, { metadata, stringData: { key: 'never-to-be-read' } } as never);
  await lab.make('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'web', env: [{ name: 'KEY', value: 'never-to-be-told' }] }] },
  });
  await lab.controller.untilQuiet();
});

after(async () => {
  if (skip === false) await rm(folder, { recursive: true, force: true });
});

test('one archive that tar reads: versions, status, plan, objects, rows, Events; and no secret in it', { skip }, async () => {
  const file = join(folder, 'kiln.tar.gz');
  // Somebody's longer file, that everybody could read.
  await writeFile(file, 'x'.repeat(5_000_000), { mode: 0o644 });
  const { exit, out, said } = await lab.kiln('bundle', '--file', file);
  // The laboratory has no pod that runs the controller, so there is no log to fetch: that is said.
  assert.deepEqual([exit, out], [1, `${file}\n`], said);
  assert.match(said, /warning: logs: no pod in namespace kube-system/);
  assert.equal((await stat(file)).mode & 0o777, 0o600);
  await promisify(execFile)('tar', ['-xzf', file, '-C', folder]);
  const [name = ''] = (await readdir(folder)).filter((one) => one.startsWith('kiln-bundle-'));
  const paths = (await readdir(join(folder, name), { recursive: true })).toSorted();
  for (const path of ['README.txt', 'version.json', 'status.json', 'plan.json', 'events.json', 'lease.json'])
    assert.ok(paths.includes(path), `${path} is not in ${paths.join(' ')}`);
  const read = (path: string): Promise<string> => readFile(join(folder, name, path), 'utf8');
  const subnets = JSON.parse(await read('objects/subnets.json')) as readonly { readonly metadata: { readonly name: string } }[];
  assert.ok(subnets.some(({ metadata }) => metadata.name === 'red'));
  assert.match(await read('objects/pods.json'), /"name":"web"/);
  assert.match(await read('northbound/Logical_Switch.json'), /"name":"red"/);
  assert.match(await read('README.txt'), /objects\/subnets\.json {2}\d+ bytes\n[\s\S]*Missing:\n- logs: /);
  const files = paths.filter((path) => /\.(json|txt|log)$/.test(path));
  const texts = (await Promise.all(files.map(read))).join('\n');
  for (const secret of ['hunter22', TOKEN, 'never-to-be']) assert.ok(!texts.includes(secret), secret);
});

test('a file that cannot be written, and a cluster that is not there, are said in three lines', { skip }, async () => {
  const refused = await lab.kiln('bundle', '--quiet', '--file', join(folder, 'no', 'such', 'folder.tar.gz'));
  assert.equal(refused.exit, 2);
  assert.match(refused.said, /error: --file .* cannot be written\n {2}why: ENOENT/);
  const away = await runKiln(['bundle'], { env: { KUBECONFIG: '/nowhere/kubeconfig' } });
  assert.equal(away.exit, 3);
});
