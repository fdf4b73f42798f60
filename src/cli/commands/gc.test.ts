/** `kiln gc`, with an API server, the Northbound database and a controller: what a person decides, and what becomes of rows. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Controller } from '../../controller/controller.ts';
import type { KubeObject } from '../../kube/resource.ts';
import { EVENTS } from '../../kube/resource.ts';
import { SILENT } from '../../runtime/log.ts';
import { until } from '../../testing/until.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { traitsOf } from '../../world/resources.ts';
import { northboundSession } from '../connection/connect.ts';
import { makeController } from '../connection/make-controller.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

let scene: CommandScene;
const skip = sceneOfThisFile((opened) => {
  scene = opened;
});

/** A switch of a Subnet that does not exist, as a controller of another time left it. */
async function leaveSwitch(name: string, { owner = `subnet//${name}`, rule = 'subnet-switch' } = {}): Promise<void> {
  await scene.nbctl(
    'ls-add',
    name,
    '--',
    'set',
    'logical_switch',
    name,
    'external_ids:vendor=kube-ovn',
    `external_ids:kiln.io/owner="${owner}"`,
    'external_ids:kiln.io/uid=gone',
    `external_ids:kiln.io/rule=${rule}`,
  );
}

async function switches(): Promise<readonly string[]> {
  return (await scene.nbctl('--bare', '--columns=name', 'list', 'logical_switch')).split('\n').filter((line) => line !== '');
}

const planned = async (): Promise<
  readonly {
    readonly what: string;
    readonly table: string;
    readonly name: string;
    readonly fate: string;
    readonly since: string | null;
    readonly madeBy: string;
  }[]
> => {
  const { out } = await scene.kiln('gc', 'plan', '-o', 'json');
  return (JSON.parse(out) as { readonly rows: never }).rows;
};

test('gc status, pause and resume: rows stay while it lasts, marked with the time, and go at its end', { skip }, async () => {
  const before = await scene.kiln('gc', 'status');
  assert.equal(before.exit, 0, before.err);
  assert.match(before.out, /^collection {2}✔/);
  const paused = await scene.kiln('gc', 'pause', '--reason', 'restoring etcd');
  assert.equal(paused.exit, 0, paused.err);
  assert.match((await scene.kiln('gc', 'pause')).err, /^nothing to do: collection is paused by .*: restoring etcd/);
  await leaveSwitch('left-a');
  await until('the row is marked', async () =>
    (await scene.nbctl('get', 'logical_switch', 'left-a', 'external_ids')).includes('unexplained-since'),
  );
  const [row] = await planned();
  assert.deepEqual([row?.name, row?.fate, row?.madeBy], ['left-a', 'paused', 'Kube-OVN']);
  assert.ok(Math.abs(Date.now() - Date.parse(row?.since ?? '')) < 60_000, row?.since ?? 'no time');
  const plan = await scene.kiln('gc', 'plan');
  assert.equal(plan.exit, 1);
  assert.match(
    plan.out,
    /^FATE +SINCE +ROW +MADE BY +WITH IT +WHY\npaused +\d+s +Logical_Switch left-a +Kube-OVN for subnet\/left-a +- +subnet\/left-a does not exist; collection is paused by/,
  );
  assert.match((await scene.kiln('gc', 'plan', '-o', 'wide')).out, /UUID.*RULE/);
  const status = await scene.kiln('gc', 'status', '-o', 'json');
  assert.equal(status.exit, 1);
  const { collects, pause } = JSON.parse(status.out) as { readonly collects: boolean; readonly pause: { readonly reason: string } };
  assert.deepEqual([collects, pause.reason], [false, 'restoring etcd']);
  assert.match((await scene.kiln('diff')).err, /nothing to do/, 'a paused collection is no difference');
  assert.equal((await scene.kiln('gc', 'resume')).exit, 0);
  await until('the row is gone', async () => !(await switches()).includes('left-a'));
  assert.match((await scene.kiln('gc', 'resume')).err, /nothing to do/);
  const nothing = await scene.kiln('gc', 'plan');
  assert.deepEqual([nothing.exit, nothing.out], [0, '']);
});

test('annotation kiln.io/gc of a Namespace keeps its rows, and a value that is no mode is reported on it', { skip }, async () => {
  const { client } = scene;
  const annotate = (mode: string | null): Promise<unknown> =>
    client.mergePatch(traitsOf('namespaces'), { name: 'kept' }, { metadata: { annotations: { 'kiln.io/gc': mode } } });
  await scene.make('namespaces', { metadata: { name: 'kept', annotations: { 'kiln.io/gc': 'report' } } });
  await scene.controller.untilQuiet();
  await leaveSwitch('left-b', { owner: 'pod/kept/p' });
  await until('the row is marked', async () =>
    (await scene.nbctl('get', 'logical_switch', 'left-b', 'external_ids')).includes('unexplained-since'),
  );
  assert.deepEqual(
    (await planned()).map(({ fate }) => fate),
    ['report'],
  );
  await annotate('of');
  await scene.controller.untilQuiet();
  const status = await scene.kiln('status');
  assert.match(status.out, /Namespace kept: .*kiln\.io\/gc.*"of" is no mode of the collection.*on, report, off.*not collected/);
  assert.ok((await switches()).includes('left-b'));
  await annotate('on');
  await until('the row is gone', async () => !(await switches()).includes('left-b'));
});

test('gc run: through the controller that leads, rows in their grace too, and not while it is paused', { skip }, async () => {
  await scene.kiln('gc', 'pause');
  await leaveSwitch('left-d');
  const paused = await scene.kiln('gc', 'run', '--yes');
  assert.equal(paused.exit, 1, paused.err);
  assert.match(paused.err, /nothing was collected[^]*paused[^]*kiln gc resume/);
  await scene.kiln('gc', 'resume');
  const ran = await scene.kiln('gc', 'run', '--yes');
  assert.equal(ran.exit, 0, ran.err);
  assert.ok(!(await switches()).includes('left-d'));
});

async function vips(): Promise<string> {
  return (await scene.nbctl('--bare', '--columns=vips', 'list', 'load_balancer')).trim();
}

const VIP = '10.96.0.77:80';

async function leaveVip(): Promise<void> {
  await scene.nbctl('lb-add', 'cluster-tcp-loadbalancer', VIP, '10.16.0.5:80');
  await scene.nbctl('lb-add', 'cluster-udp-loadbalancer', '[fd00::77]:53', '');
}

test('a vip of no Service is in the plan, stays while it is paused or a mode says so, and goes after it', { skip }, async () => {
  await scene.kiln('gc', 'pause');
  await leaveVip();
  const plan = (await planned()).map(({ what, table, name, fate }) => `${what} ${table} ${name} ${fate}`);
  assert.deepEqual(plan, [
    `entry Load_Balancer cluster-tcp-loadbalancer ${VIP} paused`,
    'entry Load_Balancer cluster-udp-loadbalancer [fd00::77]:53 paused',
  ]);
  assert.match(
    (await scene.kiln('gc', 'plan')).out,
    /no Service has tcp 10\.96\.0\.77:80, which goes to 10\.16\.0\.5:80; collection is paused by/,
  );
  assert.match((await scene.kiln('diff')).err, /nothing to do/);
  await scene.client.mergePatch(traitsOf('vpcs'), { name: 'ovn-cluster' }, { metadata: { annotations: { 'kiln.io/gc': 'report' } } });
  await scene.kiln('gc', 'resume');
  await scene.controller.untilQuiet();
  assert.deepEqual(
    (await planned()).map(({ fate }) => fate),
    ['report', 'report'],
  );
  assert.ok((await vips()).includes(VIP));
  await scene.client.mergePatch(traitsOf('vpcs'), { name: 'ovn-cluster' }, { metadata: { annotations: { 'kiln.io/gc': null } } });
  await until('the vips are gone', async () => !/77/.test(await vips()));
  assert.deepEqual(await planned(), []);
});

test('gc run without a controller takes the Lease, deletes what the plan has, and makes nothing', { skip }, async () => {
  await scene.controller.stop();
  await leaveSwitch('left-e', { rule: 'leftover' });
  await scene.make('vpcs', { metadata: { name: 'late' }, spec: {} });
  const dry = await scene.kiln('gc', 'run', '--dry-run=client');
  assert.match(dry.out, /^FATE[^]*\ngrace .*left-e/);
  assert.ok((await switches()).includes('left-e'));
  const ran = await scene.kiln('gc', 'run', '--yes');
  assert.equal(ran.exit, 0, ran.err);
  assert.match(ran.err, /collected 1 of 1\n/);
  assert.ok(!(await switches()).includes('left-e'));
  assert.doesNotMatch(await scene.nbctl('--bare', '--columns=name', 'list', 'logical_router'), /late/);
});

test('gc run takes vips of no Service too, and kiln undo puts them back where the collection leaves them', { skip }, async () => {
  const journal = mkdtempSync(join(tmpdir(), 'kiln-gc-'));
  await leaveVip();
  const ran = await scene.kiln('gc', 'run', '--yes', '--journal', journal);
  assert.equal(ran.exit, 0, ran.err);
  assert.match(ran.err, /collected 2 of 2\n/);
  assert.doesNotMatch(await vips(), /77/);
  const undo = ['undo', '--yes', '--journal', journal, '--owner', 'vpc/ovn-cluster'];
  const going = await scene.kiln(...undo);
  assert.match(
    going.out + going.err,
    /the collection would remove it again; kubectl annotate vpc ovn-cluster kiln\.io\/gc=report keeps it/,
  );
  assert.doesNotMatch(await vips(), /77/);
  await scene.client.mergePatch(traitsOf('vpcs'), { name: 'ovn-cluster' }, { metadata: { annotations: { 'kiln.io/gc': 'report' } } });
  const undone = await scene.kiln(...undo);
  assert.equal(undone.exit, 0, undone.err);
  assert.ok((await vips()).includes(VIP) && (await vips()).includes('[fd00::77]:53'));
  await scene.client.mergePatch(traitsOf('vpcs'), { name: 'ovn-cluster' }, { metadata: { annotations: { 'kiln.io/gc': null } } });
  assert.equal((await scene.kiln('gc', 'run', '--yes', '--journal', 'off')).exit, 0);
  rmSync(journal, { recursive: true });
});

test('the IP object of a pod that is gone goes by the same plan as its port', { skip }, async () => {
  const { client } = scene;
  const start = async (): Promise<Controller> => {
    const controller = makeController(client, northboundSession({ ovnNb: scene.ovnNb }, SILENT), SILENT);
    controller.start();
    await controller.untilQuiet();
    return controller;
  };
  const before = await start();
  await scene.make('pods', {
    metadata: { name: 'brief', namespace: 'default' },
    spec: { containers: [{ name: 'c', image: 'i' }], terminationGracePeriodSeconds: 0 },
  });
  await until('the pod has its IP object', async () => (await client.find(traitsOf('ips'), { name: 'brief.default' })) !== undefined);
  await before.untilQuiet();
  await scene.kiln('gc', 'pause');
  await before.stop();
  await client.delete(traitsOf('pods'), { name: 'brief', namespace: 'default' }, { gracePeriodSeconds: 0 });
  await until('the pod is gone', async () => (await client.find(traitsOf('pods'), { name: 'brief', namespace: 'default' })) === undefined);
  const pool = 'ovn.kubernetes.io/ip_pool';
  const namespaceKeys = async (): Promise<Readonly<Record<string, string>>> =>
    (await client.find<KubeObject>(traitsOf('namespaces'), { name: 'default' }))?.metadata.annotations ?? {};
  await client.mergePatch(traitsOf('namespaces'), { name: 'default' }, { metadata: { annotations: { [pool]: 'gone' } } });
  const after = await start();
  try {
    const keys = (await planned()).filter(({ what }) => what === 'keys').map(({ table, name, fate }) => `${table} ${name} ${fate}`);
    assert.deepEqual(keys, ['Namespace default paused']);
    const fates = (await planned())
      .filter(({ name }) => name === 'brief.default')
      .map(({ what, table, fate }) => `${what} ${table} ${fate}`);
    assert.deepEqual(fates, ['row Logical_Switch_Port paused', 'object IP paused']);
    const [ofRow, ofObject] = (await planned()).filter(({ name }) => name === 'brief.default').map(({ since }) => since);
    assert.ok(typeof ofRow === 'string' && ofObject === ofRow, 'the IP object since when its port says so');
    assert.match((await scene.kiln('diff')).err, /nothing to do/);
    await scene.kiln('gc', 'resume');
    await until('the IP object is gone', async () => (await client.find(traitsOf('ips'), { name: 'brief.default' })) === undefined);
    await until('the key is gone', async () => (await namespaceKeys())[pool] === undefined);
    assert.deepEqual(await planned(), []);
  } finally {
    await after.stop();
  }
});

test('more rows than the limit wait for gc approve, are told on the default Vpc, and go after it', { skip }, async () => {
  const names = [1, 2, 3, 4].map((n) => `left-c${n}`);
  for (const name of names) await leaveSwitch(name);
  const controller: Controller = makeController(scene.client, northboundSession({ ovnNb: scene.ovnNb }, SILENT), SILENT, {
    settings: { ...DEFAULT_SETTINGS, gcMaxRows: 3, gcKubeOvnGrace: 0 },
  });
  try {
    controller.start();
    await controller.untilQuiet();
    const held = await scene.kiln('gc', 'status');
    assert.equal(held.exit, 1, held.out);
    assert.match(held.out, /hold {8}✖ No row without an owner is collected: 4 have none .*more than 3 rows \(--gc-max-rows\)/);
    assert.deepEqual(new Set((await planned()).map(({ fate, name }) => `${fate} ${name}`)), new Set(names.map((name) => `held ${name}`)));
    await until('an Event tells it', async () => {
      const events = await scene.client.listAll<KubeObject & { readonly reason?: string }>(EVENTS, {
        fieldSelector: 'reason=CollectionHeld',
      });
      return events.length === 1;
    });
    const unasked = await scene.kiln('gc', 'approve');
    assert.equal(unasked.exit, 2, unasked.err);
    assert.equal((await switches()).filter((name) => name.startsWith('left-c')).length, 4, 'nothing was approved');
    const approved = await scene.kiln('gc', 'approve', '--yes');
    assert.equal(approved.exit, 0, approved.err);
    assert.match(approved.err, /approved: these 4 rows \(digest [0-9a-f]{16}\)/);
    await until('the row is gone', async () => !(await switches()).some((name) => name.startsWith('left-c')));
    await controller.untilQuiet();
    await until('rows are collected', async () => (await scene.kiln('gc', 'status')).exit === 0);
    assert.match((await scene.kiln('gc', 'approve', '--yes')).err, /nothing to approve/);
  } finally {
    await controller.stop();
  }
});
