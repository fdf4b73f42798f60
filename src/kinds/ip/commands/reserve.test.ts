/** `kiln reserve` and `kiln release` with an API server, the Northbound database and the controller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { IP } from '../../../api/kinds/ip.ts';
import { PLAIN } from '../../../explain/tree-text.ts';
import type { KubeClient } from '../../../kube/client/client.ts';
import type { KubeObject } from '../../../kube/resource.ts';
import { KubeError } from '../../../kube/errors.ts';
import { PODS } from '../../../kube/resource.ts';
import { traitsOf } from '../../../world/resources.ts';
import type { CommandIo } from '../../../cli/connection/cluster-command.ts';
import { CommandFailure, failureOf } from '../../../cli/errors/command-failure.ts';
import { IPS, SUBNETS } from './reserved-address.ts';
import { release } from './release.ts';
import type { ReleaseFlags } from './release.ts';
import { lineText, outputText } from '../../../cli/output/terminal.ts';
import { runHere } from '../../../cli/testing/command-here.ts';
import type { CommandScene } from '../../../cli/testing/command-scene.ts';
import { sceneOfThisFile } from '../../../cli/testing/command-scene.ts';
import { reserve } from './reserve.ts';
import type { ReserveFlags } from './reserve.ts';

let scene: CommandScene;
let client: KubeClient;
const skip = sceneOfThisFile(async (opened) => {
  scene = opened;
  ({ client } = scene);
  await make(SUBNETS, { metadata: { name: 'kept' }, spec: { cidrBlock: '10.91.0.0/24' } });
});

function make(resource: typeof IPS, object: object): Promise<KubeObject> {
  return client.create(resource, object as KubeObject);
}

interface Ran {
  readonly exit: number;
  readonly out: string;
  readonly err: string;
}

async function run(command: (io: CommandIo) => Promise<number>, ask?: CommandIo['ask']): Promise<Ran> {
  let [out, err] = ['', ''];
  const io: CommandIo = {
    client,
    namespace: 'default',
    out: (output) => (out += outputText(output)),
    say: (line) => (err += `${lineText(line)}\n`),
    paint: PLAIN,
    lastWords: () => undefined,
    onInterrupt: () => undefined,
    ask,
  };
  try {
    return { exit: await command(io), out, err };
  } catch (error) {
    if (!(error instanceof CommandFailure)) throw error;
    return { exit: error.exit, out, err: `${err}${error.message}\n${error.why}\n${error.next}\n` };
  }
}

const COMMON = {
  output: 'table',
  requestTimeout: '30s',
  color: 'never',
  timeout: '120s',
  wait: true,
  dryRun: 'none',
  leaseNamespace: 'kube-system',
} as const;

function reserved(name: string, flags: Partial<ReserveFlags> = {}): Promise<Ran> {
  return run((io) => reserve(name, { ...COMMON, subnet: 'kept', ...flags }, io));
}

function released(name: string, flags: Partial<ReleaseFlags> = {}, ask?: CommandIo['ask']): Promise<Ran> {
  return run((io) => release(name, { ...COMMON, yes: ask === undefined, ...flags }, io), ask);
}

function find(name: string): Promise<IP | undefined> {
  return client.find<IP>(IPS, { name });
}

test('reserve reserves the next free address, or the requested one, and release frees it', { skip }, async () => {
  const free = await reserved('one', { output: 'wide', lease: '24h' });
  assert.equal(free.exit, 0);
  assert.match(free.out, /^NAME {9}V4IP {7}V6IP {4}MAC .*SUBNET {2}LEASE {2}FOR {10}STATE/);
  assert.match(free.out, /\none\.default {2}10\.91\.0\.2 {2}<none> {2}[0-9a-f:]{17} {2}kept {4}24h {4}default\/one/);
  assert.match(free.err, /to release it: kiln release one\.default/);
  const named = await reserved('two', { ip: '10.91.0.77', mac: '0A:00:00:00:00:77', namespace: 'shop', output: 'name' });
  assert.deepEqual([named.exit, named.out], [0, 'ip.kubeovn.io/two.shop\n']);
  const { spec, metadata } = (await find('two.shop')) as IP;
  assert.deepEqual(
    [spec.v4IpAddress, spec.macAddress, metadata.labels?.['ovn.kubernetes.io/ip_reserved']],
    ['10.91.0.77', '0a:00:00:00:00:77', 'true'],
  );
  assert.deepEqual(
    [(await reserved('two', { namespace: 'shop' })).exit, (await find('two.shop'))?.metadata.uid],
    [0, metadata.uid],
    'asked again, it is there already',
  );
  const back = await released('two.shop');
  assert.deepEqual([back.exit, await find('two.shop')], [0, undefined]);
  assert.match(back.err, /to reserve it again: kiln reserve two -n shop --subnet kept --ip 10\.91\.0\.77 --mac 0a:00:00:00:00:77\n/);
  const { macAddress = '' } = (await find('one.default'))?.spec ?? {};
  assert.match(
    (await released('one.default')).err,
    new RegExp(`: kiln reserve one -n default --subnet kept --ip 10\\.91\\.0\\.2 --mac ${macAddress} --lease 24h\\n`),
  );
});

test('the error of an address that is taken, or outside of the Subnet, names it, and no object is left', { skip }, async () => {
  assert.equal((await reserved('first', { ip: '10.91.0.50' })).exit, 0);
  const taken = await reserved('second', { ip: '10.91.0.50' });
  assert.equal(taken.exit, 1);
  assert.match(taken.err, /cannot be allocated; nothing was reserved\nAddressConflict: .*10\.91\.0\.50.*first\.default/);
  assert.equal(await find('second.default'), undefined);
  assert.doesNotMatch(
    (await find('first.default'))?.metadata.annotations?.['kiln.io/conditions'] ?? '',
    /AddressConflict/,
    'who only asks is no second holder',
  );
  const outside = await reserved('third', { ip: '10.92.0.1' });
  assert.match(outside.err, /cannot be allocated.*\n.*10\.92\.0\.1/);
  for (const { err } of [taken, outside]) assert.doesNotMatch(err, /kubectl edit ip/, 'nothing is left to edit');
  assert.match((await reserved('fourth', { subnet: 'nowhere' })).err, /Subnet nowhere does not exist\nkubectl get subnets/);
  assert.match((await reserved('first', { subnet: 'ovn-default' })).err, /IP first\.default exists: 10\.91\.0\.50 of Subnet kept/);
  assert.equal((await released('first.default')).exit, 0);
});

test('an address in use is not released: the pod that has it is named', { skip }, async () => {
  assert.equal((await reserved('busy', { ip: '10.91.0.60' })).exit, 0);
  const annotations = { 'ovn.kubernetes.io/logical_switch': 'kept' };
  await make(PODS, {
    metadata: { name: 'busy', namespace: 'default', annotations },
    spec: { containers: [{ name: 'c', image: 'none' }] },
  });
  await scene.controller.untilQuiet();
  const refused = await released('busy.default');
  assert.equal(refused.exit, 1);
  assert.match(refused.err, /busy\.default is in use.*\n10\.91\.0\.60 of Subnet kept is used by Pod default\/busy/);
  assert.notEqual(await find('busy.default'), undefined);
  await client.delete(PODS, { namespace: 'default', name: 'busy' }, { gracePeriodSeconds: 0 });
  await scene.controller.untilQuiet();
  assert.equal((await released('busy.default')).exit, 0);
});

test('a Vip and an OvnEip are released by kind and name when no object uses them, and the error names the users', { skip }, async () => {
  const [vips, eips, fips] = [traitsOf('vips'), traitsOf('ovn-eips'), traitsOf('ovn-fips')];
  await make(vips, { metadata: { name: 'db' }, spec: { subnet: 'kept', v4ip: '10.91.0.90' } });
  await make(eips, { metadata: { name: 'out' }, spec: { externalSubnet: 'kept', v4Ip: '10.91.0.91' } });
  await make(fips, { metadata: { name: 'web' }, spec: { ovnEip: 'out' } });
  await scene.controller.untilQuiet();
  const used = await released('ovn-eip/out');
  assert.equal(used.exit, 1);
  assert.match(used.err, /ovn-eip\/out is in use.*\n10\.91\.0\.91 of Subnet kept is used by OvnFip web/);
  await client.delete(fips, { name: 'web' });
  await scene.controller.untilQuiet();
  for (const [target, address] of [
    ['ovn-eip/out', '10.91.0.91'],
    ['vip/db', '10.91.0.90'],
  ] as const) {
    const back = await released(target);
    assert.deepEqual([back.exit, back.err.includes(`released ${address}`)], [0, true], back.err);
  }
  assert.deepEqual([await client.find(vips, { name: 'db' }), await client.find(eips, { name: 'out' })], [undefined, undefined]);
  assert.match((await released('vip/db')).err, /Vip db does not exist/);
  assert.match((await released('pod/db')).err, /neither the name of an IP object nor <kind>\/<name> with one of vip, ovn-eip/);
});

test('release prompts on a terminal, requires --yes elsewhere, and checks again after the answer', { skip }, async () => {
  assert.equal((await reserved('asked')).exit, 0);
  assert.equal((await released('asked.default', { yes: false }, () => Promise.resolve(false))).exit, 1);
  assert.notEqual(await find('asked.default'), undefined);
  const bare = await released('asked.default', { yes: false });
  assert.equal(bare.exit, 2);
  assert.match(bare.err, /there is no terminal for the confirmation\nkiln release asked\.default --yes/);
  const raced = await released('asked.default', { yes: false }, async () => {
    await make(PODS, {
      metadata: { name: 'asked', namespace: 'default', annotations: { 'ovn.kubernetes.io/logical_switch': 'kept' } },
      spec: { containers: [{ name: 'c', image: 'none' }] },
    });
    return true;
  });
  assert.equal(raced.exit, 1);
  assert.match(raced.err, /used by Pod default\/asked/);
  await client.delete(PODS, { namespace: 'default', name: 'asked' }, { gracePeriodSeconds: 0 });
  await scene.controller.untilQuiet();
  assert.equal((await released('asked.default', { yes: false }, () => Promise.resolve(true))).exit, 0);
  assert.match((await released('asked.default')).err, /IP asked\.default does not exist/);
});

test('in a Subnet that is not ready a reservation times out, stays a request, and can be taken back', { skip }, async () => {
  await make(SUBNETS, { metadata: { name: 'broken' }, spec: { cidrBlock: '10.91.0.0/25' } });
  await scene.controller.untilQuiet();
  const timedOut = await reserved('later', { subnet: 'broken', timeout: '1s' });
  assert.equal(timedOut.exit, 4);
  assert.match(timedOut.err, /kiln release later\.default --yes/);
  assert.equal((await released('later.default')).exit, 0);
  await client.delete(SUBNETS, { name: 'broken' });
});

test('a namespace that does not exist is reported, and the address is reserved for it all the same', { skip }, async () => {
  for (const dryRun of ['client', 'none'] as const) {
    const { exit, err } = await reserved('early', { namespace: 'not-yet', dryRun });
    assert.equal(exit, 0, err);
    assert.match(err, /^Namespace not-yet does not exist: a pod can have the address once there is one; kubectl get namespaces\n/);
  }
  assert.equal((await released('early.not-yet')).exit, 0);
  assert.doesNotMatch((await reserved('dry', { dryRun: 'client' })).err, /does not exist/);
});

test('dry runs change nothing', { skip }, async () => {
  const shown = await reserved('dry', { dryRun: 'client', output: 'yaml', lease: '1h', ip: '10.91.0.5' });
  assert.equal(shown.exit, 0);
  assert.match(shown.out, /kiln\.io\/lease: 1h/);
  assert.equal((await reserved('dry', { dryRun: 'server', output: 'name' })).out, 'ip.kubeovn.io/dry.default\n');
  assert.equal(await find('dry.default'), undefined);
});

test('the commands with their flags: results on standard output, three lines on standard error, exit codes', { skip }, async () => {
  const made = await scene.kiln('reserve', 'cli', '-n', 'shop', '--subnet', 'kept', '-o', 'json', '-q');
  const { apiVersion, kind, metadata } = JSON.parse(made.out) as IP;
  assert.deepEqual([apiVersion, kind, metadata.name], ['kubeovn.io/v1', 'IP', 'cli.shop']);
  assert.equal((await scene.kiln('release', 'cli.shop', '--yes', '-o', 'name', '-q')).out, 'ip.kubeovn.io/cli.shop\n');
  const { exit, err } = await scene.kiln('release', 'cli.shop', '--yes');
  assert.equal(exit, 1);
  assert.match(err, /^error: .*\n {2}why: .*\n {2}next: kubectl get ips\n$/);
  assert.equal((await scene.kiln('reserve', 'cli')).exit, 2, 'no --subnet');
  assert.equal((await scene.kiln('reserve', 'cli', '--subnet', 'kept', '--lease', 'long')).exit, 2);
  assert.equal((await runHere(['reserve', 'cli', '--subnet', 'kept', '--kubeconfig', '/nowhere/kubeconfig'])).exit, 3);
});

test("an invalid name is an error before the first request; the API server's validation is one sentence", { skip }, async () => {
  for (const [flag, ...args] of [
    ['name', 'Bad_Name', '--subnet=red'],
    ['-n', 'web', '-n', 'No.Name', '--subnet=red'],
    ['--subnet', 'web', '--subnet=RED'],
  ] as const) {
    const { exit, err } = await scene.kiln('reserve', ...args);
    assert.equal(exit, 2, err);
    assert.match(err, new RegExp(`why: .*${flag}.* is no name of `));
  }
  const long = await scene.kiln('reserve', 'a'.repeat(250), '-n', 'default', '--subnet', 'kept');
  assert.equal(long.exit, 2, long.err);
  assert.match(long.err, /why: IP a{40}… would have a name of 258 characters, and the most is 253\n/);
  const subject = { verb: 'create', resource: 'ips.kubeovn.io', name: 'web.default' };
  const invalid = new KubeError('KUBE_INVALID', subject, 'IP.kubeovn.io "web.default" is invalid: spec.subnet: Required value', {
    causes: [{ field: 'spec.subnet', message: 'Required value' }],
  });
  assert.equal(
    failureOf(invalid, 'reserve').why,
    'the API server finds ips.kubeovn.io web.default invalid: spec.subnet: Required value (KUBE_INVALID)',
  );
});

test('a denial by an admission webhook is not reported as missing rights: its message, exit 1, and where to look', { skip }, async () => {
  await client.transport.request({
    subject: { verb: 'create', resource: 'faults' },
    method: 'POST',
    path: '/lab/faults',
    body: {
      match: { verbs: ['create'], resources: ['ips.kubeovn.io'] },
      fault: {
        kind: 'error',
        code: 403,
        reason: 'Forbidden',
        message: 'admission webhook "addresses.kiln.io" denied the request: 10.91.0.8 is taken',
      },
      times: 1,
    },
  });
  const { exit, err } = await reserved('late', { ip: '10.91.0.8' });
  assert.equal(exit, 1, err);
  assert.equal(
    err,
    'the address for late.default cannot be allocated; nothing was reserved\n' +
      'admission webhook "addresses.kiln.io" denied the request: 10.91.0.8 is taken\n' +
      'kubectl get ips -l ovn.kubernetes.io/subnet=kept\n',
  );
});
