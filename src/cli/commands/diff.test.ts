/** `kiln diff`, and `version` and `status` without a leader, with an API server and the Northbound database. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { CONTROLLER_LEASE, kilnAnnotation } from '../../api/well-known.ts';
import { NotDerived } from '../../controller/fresh-controller.ts';
import type { KubeErrorCode } from '../../kube/errors.ts';
import { KubeError } from '../../kube/errors.ts';
import { microTime } from '../../kube/leader/lease.ts';
import { LEASES } from '../../kube/resource.ts';
import { VERSION } from '../../runtime/version.ts';
import { traitsOf } from '../../world/resources.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { settingsText } from '../../world/settings-text.ts';
import { leaderOf } from '../cluster/leader.ts';
import { notComplete } from './diff.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

let scene: CommandScene;
const skip = sceneOfThisFile((opened) => {
  scene = opened;
});

/** An earlier test stopped the controller, so nothing else writes the Lease. */
async function onLease(annotations: Readonly<Record<string, string | null>>): Promise<void> {
  await scene.client.mergePatch(LEASES, { name: CONTROLLER_LEASE, namespace: 'kube-system' }, { metadata: { annotations } });
}

test('an incomplete diff prints what is known: which server rejected it, or that the time was too short', () => {
  const failureFor = (waitingFor: readonly string[], trouble?: KubeError): readonly unknown[] => {
    const failure = notComplete(new NotDerived(20_000, 'observing', waitingFor, trouble), 20_000, 'tcp:10.0.0.1:6641', ' (why)');
    return [failure.exit, failure.why.replace('not complete after 20 s: ', ''), failure.next];
  };
  const refused = (code: KubeErrorCode, text: string): KubeError => new KubeError(code, { verb: 'list', resource: 'pods' }, text);
  assert.deepEqual(failureFor(['ips', 'pods']), [4, 'ips, pods', 'kiln diff --request-timeout 80s']);
  assert.deepEqual(failureFor([]), [4, 'the rules', 'kiln diff --request-timeout 80s']);
  const [exit, why, next] = failureFor(['the Northbound database', 'pods'], refused('KUBE_FORBIDDEN', 'may not'));
  assert.deepEqual([exit, next], [3, 'kubectl auth can-i --list']);
  assert.match(String(why), /^KUBE_FORBIDDEN: .*may not$/);
  assert.equal(failureFor(['pods'], refused('KUBE_UNAVAILABLE', 'away'))[2], 'kubectl cluster-info');
  assert.deepEqual(failureFor(['the Northbound database', 'pods'], refused('KUBE_UNAVAILABLE', 'away')).slice(1), [
    'the Northbound database, pods (why)',
    'ovn-nbctl --db=tcp:10.0.0.1:6641 show',
  ]);
});

test('diff with a database that cannot be reached: why, and exit 3', { skip }, async () => {
  const { exit, err } = await scene.kiln('diff', '--ovn-nb=tcp:127.0.0.1:1', '--request-timeout=3s');
  assert.equal(exit, 3, err);
  assert.match(err, /\n {2}why: not complete after 3 s: .*the Northbound database.* \(OVSDB_CONNECT_FAILED: .*127\.0\.0\.1:1/);
});

test('diff: empty where the controller has done its work, and what it would do where it has not', { skip }, async () => {
  await scene.controller.untilQuiet();
  const nothing = await scene.kiln('diff');
  assert.deepEqual([nothing.exit, nothing.out, nothing.err], [0, '', 'nothing to do\n']);
  await scene.controller.stop();
  await scene.make('vpcs', { metadata: { name: 'new' } });
  const grouped = await scene.kiln('diff');
  assert.equal(grouped.exit, 1);
  assert.match(grouped.out, /^CHANGE +KIND +COUNT +FIELDS +NAMES\n(.*\n)*insert +Logical_Router +1 +- +new\n/);
  assert.match(grouped.out, /^patch +Vpc +1 +metadata\.finalizers\S* +new$/m);
  assert.match(grouped.err, /^hint: kiln diff --details prints each change$/m);
  const { exit, out } = await scene.kiln('diff', '--details');
  assert.equal(exit, 1);
  assert.match(out, /^insert Logical_Router new: .*"name":"new"/m);
  assert.match(out, /^patch Vpc new: .*kube-ovn-controller/m);
  const json = JSON.parse((await scene.kiln('diff', '-o', 'json')).out) as {
    readonly kind: string;
    readonly rows: readonly { readonly table: string }[];
  };
  assert.equal(json.kind, 'Plan');
  assert.ok(json.rows.some(({ table }) => table === 'Logical_Router'));
  assert.deepEqual((await scene.client.get(traitsOf('vpcs'), { name: 'new' })).metadata.finalizers, undefined, 'nothing was written');
  assert.equal((await scene.kiln('status')).exit, 1, 'nobody leads');
});

test('diff lists what Kube-OVN left, with what each row does, below the object that it serves; for programs too', { skip }, async () => {
  const policy = async (subnet: string, match: string): Promise<void> => {
    const columns = ['priority=29000', `match="${match}"`, 'action=drop', 'external_ids:vendor=kube-ovn', `external_ids:subnet=${subnet}`];
    const into = ['--', 'add', 'Logical_Router', 'ovn-cluster', 'policies', '@p'];
    await scene.nbctl('--id=@p', 'create', 'Logical_Router_Policy', ...columns, ...into);
  };
  await policy('gone', 'ip4.src == 10.99.0.0/24');
  await policy('gone', 'ip4.src == 10.99.0.0/24');
  await policy('ovn-default', 'ip4.src == $no.such');
  const { exit, out, err } = await scene.kiln('diff');
  assert.equal(exit, 1);
  const line = '  Logical_Router_Policy ovn-cluster|29000|ip4.src == 10.99.0.0/24 (drop)\n';
  const missing = '  Logical_Router_Policy ovn-cluster|29000|ip4.src == $no.such (drop; address set no.such does not exist)\n';
  const left = `left by Kube-OVN, 2 for objects that do not exist:\n${line}${line}left by Kube-OVN, 1 for Subnet ovn-default:\n${missing}`;
  const removal = /; ovn-nbctl remove Logical_Router \S+ policies \S+$/gm;
  assert.equal(out.match(removal)?.length, 2, 'a command for each row that serves nothing');
  assert.ok(out.replaceAll(removal, '').endsWith(`\n${left}`), out);
  assert.equal(err, 'hint: kiln diff --details prints each change\n');
  const { leftovers } = JSON.parse((await scene.kiln('diff', '-o', 'json')).out) as {
    readonly leftovers: readonly { readonly object?: object; readonly rows: readonly { readonly effect: string }[] }[];
  };
  assert.deepEqual(
    leftovers.map(({ object, rows }) => [object, rows.map(({ effect }) => effect)]),
    [
      [undefined, ['drop', 'drop']],
      [{ resource: 'subnets', key: 'ovn-default' }, ['drop; address set no.such does not exist']],
    ],
  );
  // Of two equal policies the command deletes one.
  for (const match of ['ip4.src == 10.99.0.0/24', 'ip4.src == 10.99.0.0/24', 'ip4.src == $no.such'])
    await scene.nbctl('lr-policy-del', 'ovn-cluster', '29000', match);
  assert.doesNotMatch((await scene.kiln('diff', '--details')).out, /left by Kube-OVN/);
});

test('diff and status list a vip that Kube-OVN left of a Service that does not exist, and its command removes it', { skip }, async () => {
  const backend = '10.16.0.5:80';
  await scene.make('services', {
    metadata: { name: 'web', namespace: 'default' },
    spec: { clusterIP: '10.96.0.78', ports: [{ port: 80 }] },
  });
  for (const address of ['10.96.0.77', '10.96.0.78']) await scene.nbctl('lb-add', 'cluster-tcp-loadbalancer', `${address}:80`, backend);
  const command = 'ovn-nbctl lb-del cluster-tcp-loadbalancer 10.96.0.77:80';
  const { out: listed } = await scene.kiln('diff');
  assert.match(
    listed,
    new RegExp(
      `\\nof no Service, 1 in Load_Balancer cluster-tcp-loadbalancer:\\n {2}tcp 10\\.96\\.0\\.77:80 to ${backend}; ${command}\\n(?!.*10\\.96)`,
    ),
  );
  const { leftoverVips } = JSON.parse((await scene.kiln('diff', '-o', 'json')).out) as {
    readonly leftoverVips: readonly { vpc: string }[];
  };
  assert.deepEqual(
    leftoverVips.map(({ vpc }) => vpc),
    ['ovn-cluster'],
  );
  const { out } = await scene.kiln('status');
  assert.ok(out.includes('has 1 vip that is of no Service') && out.includes('kiln gc plan'), out);
  // No controller runs here.
  await scene.nbctl(...command.split(' ').slice(1));
  assert.doesNotMatch((await scene.kiln('diff')).out, /of no Service/);
});

test('version: all parts, and whether they fit', { skip }, async () => {
  const { exit, out } = await scene.kiln('version');
  assert.equal(exit, 0, out);
  assert.match(
    out,
    /^client +kiln \d\S*, Node\.js v\d.*\nkubernetes +v\d.*\ncontroller +- no leader; the last one was kiln \d\S*\ncrds +✔ kubeovn\.io\/v1, all 25 kinds\nnorthbound +✔ schema \d[\d.]*/,
  );
  const json = JSON.parse((await scene.kiln('version', '-o', 'json')).out) as {
    readonly kind: string;
    readonly fits: boolean;
    readonly controller: { readonly version: string };
  };
  assert.deepEqual([json.kind, json.fits, json.controller.version], ['Version', true, VERSION]);
  assert.deepEqual(parse((await scene.kiln('version', '-o', 'yaml')).out), json);
});

test('every command that reads the database finds it at a later endpoint when the first one is away', { skip }, async () => {
  const endpoints = `--ovn-nb=unix:/nowhere/at/all,${scene.ovnNb}`;
  assert.match((await scene.kiln('version', endpoints)).out, /\nnorthbound +✔ schema /);
  const { exit, out, err } = await scene.kiln('uninstall', '--dry-run=client', endpoints);
  assert.equal(exit, 0, err);
  assert.match(out, /rows/);
  assert.match((await scene.kiln('status', endpoints)).out, /\nnorthbound +✔ /);
  assert.equal((await scene.kiln('diff', endpoints)).exit, 1);
  assert.match(
    (await scene.kiln('version', '--ovn-nb=unix:/nowhere/at/all')).out,
    /\nnorthbound +✖ OVSDB_CONNECT_FAILED: cannot connect to unix:\/nowhere\/at\/all: /,
  );
});

test('version of a controller that does not fit: exit 1', { skip }, async () => {
  await onLease({ [kilnAnnotation.version]: '9.1.0' });
  const { exit, out } = await scene.kiln('version');
  assert.equal(exit, 1);
  assert.match(
    out,
    /\ncontroller +- no leader; the last one was kiln 9\.1\.0; it is not compatible with kiln \S+ here: use the commands of its version\n/,
  );
  await onLease({ [kilnAnnotation.version]: VERSION });
});

test(
  'commands use the settings that the controller has published; flags take precedence; without published ones there is a hint',
  { skip },
  async () => {
    const told = (await leaderOf({ client: scene.client }, 'kube-system'))?.settings;
    assert.deepEqual(told, DEFAULT_SETTINGS);
    await onLease({ [kilnAnnotation.settings]: settingsText({ ...DEFAULT_SETTINGS, defaultVpc: 'main' }) });
    const asTold = await scene.kiln('diff');
    assert.match(asTold.out, /^create +Vpc +1 +- +main$/m);
    assert.doesNotMatch((await scene.kiln('diff', '--cluster-router=ovn-cluster')).out, /main/);
    assert.match(
      (await scene.kiln('status', '-o', 'wide')).out,
      /\nsettings +default Vpc main · default Subnet ovn-default 10\.16\.0\.0\/16 · /,
    );
    assert.match(
      (await scene.kiln('diff', '--default-cidr=100.64.0.0/16')).err,
      /why: --default-cidr 100\.64\.0\.0\/16 overlaps --node-switch-cidr/,
    );
    await onLease({ [kilnAnnotation.settings]: null });
    assert.match(
      (await scene.kiln('diff')).err,
      /^hint: no controller has published its settings in Lease kube-system\/kiln-controller; without a flag, Kube-OVN's default is assumed$/m,
    );
    await onLease({ [kilnAnnotation.settings]: settingsText(DEFAULT_SETTINGS) });
  },
);

test('a controller is the leader while it renews its Lease, whatever time its clock has, and no longer', { skip }, async () => {
  const HOUR = 3_600_000;
  const renew = async (holderIdentity: string, ahead: number): Promise<unknown> =>
    await scene.client.mergePatch(
      LEASES,
      { name: CONTROLLER_LEASE, namespace: 'kube-system' },
      { spec: { holderIdentity, renewTime: microTime(Date.now() + ahead), leaseDurationSeconds: 15 } },
    );
  const renewals = async (ahead: number, signal: AbortSignal): Promise<void> => {
    for (; !signal.aborted; await sleep(200)) await renew('far-off', ahead);
  };
  for (const ahead of [-HOUR, HOUR]) {
    await renew('far-off', ahead);
    const done = new AbortController();
    const [{ out }] = await Promise.all([scene.kiln('status').finally(() => done.abort()), renewals(ahead, done.signal)]);
    assert.match(out, /^leader +✔ far-off/m, String(ahead));
  }
  const { exit, out } = await scene.kiln('status');
  assert.equal(exit, 1);
  assert.match(out, /^leader +✖ far-off/m);
  await renew('', 0);
});

test('a database that the controller cannot follow is a finding, though it can be read from here', { skip }, async () => {
  const tell = (holderIdentity: string, loss: string | null): Promise<unknown> =>
    scene.client.mergePatch(
      LEASES,
      { name: CONTROLLER_LEASE, namespace: 'kube-system' },
      {
        metadata: { annotations: { [kilnAnnotation.northboundLoss]: loss } },
        spec: { holderIdentity, renewTime: microTime(Date.now()), leaseDurationSeconds: 60 },
      },
    );
  await tell('somebody', 'OVSDB_CONNECT_TIMEOUT: tcp:10.0.0.1:6641 did not answer within 5000 ms');
  const { exit, out } = await scene.kiln('status');
  assert.equal(exit, 1);
  assert.match(out, /\nnorthbound +✔ .*\n +✖ the controller cannot follow it: OVSDB_CONNECT_TIMEOUT: tcp:10\.0\.0\.1:6641 did not answer /);
  const { leader, northbound } = JSON.parse((await scene.kiln('status', '-o', 'json')).out) as {
    leader: object;
    northbound: { loss: string };
  };
  assert.match(northbound.loss, /^OVSDB_CONNECT_TIMEOUT: /);
  assert.deepEqual(Object.keys(leader), ['identity', 'renewed', 'live', 'version']);
  await tell('', null);
});

test('a database that rejects transactions of the controller is a finding, with its message', { skip }, async () => {
  const tell = (holderIdentity: string, refusal: string | null): Promise<unknown> =>
    scene.client.mergePatch(
      LEASES,
      { name: CONTROLLER_LEASE, namespace: 'kube-system' },
      {
        metadata: { annotations: { [kilnAnnotation.northboundRefusal]: refusal } },
        spec: { holderIdentity, renewTime: microTime(Date.now()), leaseDurationSeconds: 60 },
      },
    );
  await tell('somebody', 'I/O error: No space left on device');
  const { exit, out } = await scene.kiln('status');
  assert.equal(exit, 1);
  assert.match(out, /\nnorthbound +✔ .*\n +✖ fails every transaction of the controller: I\/O error: No space left on device\n/);
  const { northbound } = JSON.parse((await scene.kiln('status', '-o', 'json')).out) as { northbound: { refusal: string } };
  assert.equal(northbound.refusal, 'I/O error: No space left on device');
  await tell('', null);
});
