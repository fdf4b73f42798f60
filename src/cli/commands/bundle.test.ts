import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { tracesOf } from '../../runtime/testing/secret-traces.ts';
import { runHere } from '../testing/command-here.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

const TOKEN = 'eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJzb21lYm9keSJ9.c2lnbmF0dXJl';
let scene: CommandScene;
let folder: string;
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  folder = await mkdtemp(join(tmpdir(), 'kiln-bundle-'));
  await scene.make('subnets', {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name: 'red', annotations: { 'example.com/login': 'password=hunter22', 'example.com/token': TOKEN } },
    spec: { cidrBlock: '10.95.0.0/24' },
  });
  const secrets = { group: '', version: 'v1', plural: 'secrets', kind: 'Secret', namespaced: true };
  const metadata = { name: 'keys', namespace: 'default' };
  await scene.client.create(secrets, { metadata, stringData: { key: 'never-to-be-read' } } as never);
  await scene.make('pods', {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'web', namespace: 'default' },
    spec: { containers: [{ name: 'main', image: 'web', env: [{ name: 'KEY', value: 'never-to-be-told' }] }] },
  });
  await scene.controller.untilQuiet();
});

after(async () => {
  if (skip === false) await rm(folder, { recursive: true, force: true });
});

test('one archive that tar reads: versions, status, plan, objects, rows, Events; and no secret in it', { skip }, async () => {
  const file = join(folder, 'kiln.tar.gz');
  // A longer file of another user, readable by everyone.
  await writeFile(file, 'x'.repeat(5_000_000), { mode: 0o644 });
  const { exit, out, err } = await scene.kiln('bundle', '--file', file);
  // No pod of the cluster runs the controller, so there is no log to fetch, and the command reports that.
  assert.deepEqual([exit, out], [1, `${file}\n`], err);
  assert.match(err, /warning: logs: no pod in namespace kube-system/);
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

test('in a laboratory, whose controller runs in no pod, the log beside the kubeconfig makes it complete', { skip }, async () => {
  const beside = await mkdtemp(join(folder, 'lab-'));
  await writeFile(join(beside, 'kubeconfig'), await readFile(scene.kubeconfig));
  const planted = NAMED.map((text) => JSON.stringify({ level: 'warn', msg: 'write rejected', error: text, name: text, unlisted: CANARY }));
  const crash = [`Error: ${CANARY}`, '    at Compiler.run (/app/dist/main.mjs:10:22)', ...NAMED, '-----BEGIN PRIVATE KEY-----', CANARY];
  const lines = ['{"msg":"turn","resource":"subnets","password":"hunter22"}', ...planted, ...crash];
  await writeFile(join(beside, 'kiln.log'), `${lines.join('\n')}\n`);
  const file = join(beside, 'kiln.tar.gz');
  const { exit, err } = await runHere(['bundle', '--file', file], { KUBECONFIG: join(beside, 'kubeconfig'), KILN_OVN_NB: scene.ovnNb });
  assert.equal(exit, 0, err);
  const { stdout } = await promisify(execFile)('tar', ['-xzOf', file, '--wildcards', '*/logs/laboratory.log']);
  assert.match(stdout, /^\{"msg":"turn","resource":"subnets"\}$/m);
  assert.match(stdout, /"msg":"write rejected"/);
  assert.match(stdout, /^ {4}at Compiler\.run \(\/app\/dist\/main\.mjs:10:22\)$/m);
  for (const secret of ['hunter22', ...tracesOf(CANARY)]) assert.ok(!stdout.includes(secret), stdout);
});

/** By itself, to find fields that must be dropped; after a name, in many forms, for fields that are kept. */
const CANARY = 'c4narY.hunter-Zq7';
const NAMED = [
  `client_secret ${CANARY}`,
  `the password "${CANARY}" was refused`,
  `config.secret["a"]="${CANARY}"`,
  `AWS_SECRET_ACCESS_KEY=${CANARY}`,
  `https://example.com/?access_token=${CANARY}&x=1`,
  `postgres://me:${CANARY}@db/x`,
  `[{"name":"DB_PASSWORD","value":"${CANARY}"}]`,
  Buffer.from(`api_key: ${CANARY}`).toString('base64'),
  encodeURIComponent(`session_token="${CANARY}"`),
];
const all = (): Record<string, string> => Object.fromEntries(NAMED.map((text, at) => [`example.com/kept-${at}`, text]));

test('a secret in any field of any object is not in the archive, in any encoding', { skip }, async () => {
  const annotations = { ...all(), 'example.com/alone': CANARY, 'kubectl.kubernetes.io/last-applied-configuration': `{"x":"${CANARY}"}` };
  const labels = { 'example.com/alone': CANARY };
  const [text = ''] = NAMED;
  const core = (plural: string, kind: string, group = '', namespaced = true): Parameters<typeof scene.client.create>[0] => ({
    ...{ group, version: 'v1', plural, kind, namespaced },
  });
  const namespace = 'canary';
  await scene.client.create(core('namespaces', 'Namespace', '', false), { metadata: { name: namespace, annotations, labels } });
  const containers = [
    { name: 'main', image: `x/${CANARY.toLowerCase()}`, env: [{ name: 'A', value: CANARY }], args: [CANARY], command: [CANARY] },
  ];
  const asks = Object.fromEntries(
    ['logical_switch', 'ip_address', 'security_groups', 'routes', 'port_vips'].map((suffix, at) => [
      `ovn.kubernetes.io/${suffix}`,
      NAMED[at] ?? text,
    ]),
  );
  const networks = JSON.stringify([{ name: 'net', namespace, 'cni-args': { any: CANARY } }]);
  const alone = { 'ovn.kubernetes.io/ip_address': CANARY, 'any.kubernetes.io/ip_address': `it is ${CANARY}` };
  for (const [at, more] of [asks, alone, { 'k8s.v1.cni.cncf.io/networks': networks }, { 'k8s.v1.cni.cncf.io/networks': text }].entries())
    await scene.client.create(core('pods', 'Pod'), {
      ...{ metadata: { name: `web-${at}`, namespace, labels, annotations: { ...annotations, ...more } }, spec: { containers } },
    } as never);
  await scene.client.create(core('network-attachment-definitions', 'NetworkAttachmentDefinition', 'k8s.cni.cncf.io'), {
    ...{ metadata: { name: 'net', namespace, annotations }, spec: { config: JSON.stringify({ type: 'any', any: CANARY, name: text }) } },
  } as never);
  const subnet = {
    vpc: 'no-such',
    cidrBlock: '10.96.0.0/24',
    acls: [{ match: text, action: 'allow', direction: 'to-lport', priority: 1 }],
  };
  await scene.make('subnets', { metadata: { name: 'canary', annotations, labels }, spec: { ...subnet, namespaces: NAMED } });
  await scene.make('vips', { metadata: { name: 'canary', annotations, labels }, spec: { subnet: text, namespace: NAMED[1] } });
  await scene.make('ips', {
    metadata: { name: 'canary.x', annotations, labels },
    spec: { subnet: NAMED[2], podName: 'canary', namespace: 'x' },
  });
  for (const component of ['any-controller', 'kiln-controller'])
    await scene.client.create(core('events', 'Event'), {
      ...{ metadata: { name: `canary.${component}`, namespace }, source: { component }, reason: 'InvalidAnnotation', type: 'Normal' },
      ...{
        involvedObject: { kind: 'Pod', name: 'web-0', namespace },
        message: component === 'any-controller' ? CANARY : `Pod canary/web-0: "the door opens with ${CANARY}" ${NAMED.join(' and ')}`,
      },
    } as never);
  await scene.controller.untilQuiet();
  const file = join(folder, 'canary.tar.gz');
  await scene.kiln('bundle', '--file', file);
  const archive = gunzipSync(await readFile(file)).toString('latin1');
  assert.ok(archive.includes('canary.kiln-controller') && archive.includes('[dropped]'));
  assert.match(archive, /\[text of \d+ characters\]/);
  assert.ok(!archive.includes('canary.any-controller'));
  for (const trace of tracesOf(CANARY)) {
    const at = archive.indexOf(trace);
    assert.equal(at, -1, `${trace}: …${archive.slice(Math.max(0, at - 300), at + 100)}`);
  }
});

test('the errors of an unwritable file and of an unreachable cluster have three lines', { skip }, async () => {
  const refused = await scene.kiln('bundle', '--quiet', '--file', join(folder, 'no', 'such', 'folder.tar.gz'));
  assert.equal(refused.exit, 2);
  assert.match(refused.err, /error: --file .* cannot be written\n {2}why: ENOENT/);
  const away = await runHere(['bundle'], { KUBECONFIG: '/nowhere/kubeconfig' });
  assert.equal(away.exit, 3);
});
