/** `kiln status`, `diff`, `version` and `completion` as people run them, on a laboratory. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { after, before, test } from 'node:test';
import { parse } from 'yaml';
import { CONTROLLER_LEASE, kilnAnnotation } from '../../api/well-known.ts';
import { microTime } from '../../kube/lease.ts';
import { LEASES } from '../../kube/resource.ts';
import { findOvn } from '../../lab/programs/ovn.ts';
import { VERSION } from '../../runtime/version.ts';
import { traitsOf } from '../../world/resources.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { settingsText } from '../../world/settings-text.ts';
import { leaderOf } from '../leader.ts';
import { CommandLab, runKiln } from '../testing/command-lab.ts';

const skip = findOvn('system') === undefined && 'OVN is not installed';
let lab: CommandLab;

before(async () => {
  if (skip === false) lab = await CommandLab.open();
});

after(async () => {
  if (skip === false) await lab[Symbol.asyncDispose]();
});

/** The controller was stopped by a test before, so nobody else writes it. */
async function onLease(annotations: Readonly<Record<string, string | null>>): Promise<void> {
  await lab.client.mergePatch(LEASES, { name: CONTROLLER_LEASE, namespace: 'kube-system' }, { metadata: { annotations } });
}

test('status of a cluster that is well: one screen, exit 0', { skip }, async () => {
  const { exit, out, said } = await lab.kiln('status');
  assert.equal(exit, 0, out + said);
  assert.match(
    out,
    /^leader +✔ \S+, renewed \d+s ago, term \d+, kiln \d\S+\nnorthbound +✔ unix:\S+, schema \d[\d.]*, \d+ rows of Kiln\nobjects +Vpc 1 · Subnet 2 /,
  );
  assert.match(out, /\nfindings +✔ none\n$/);
});

test('status with findings: exit 1, each with the command that leads on', { skip }, async () => {
  await lab.make('subnets', { metadata: { name: 'lost' }, spec: { vpc: 'nowhere', cidrBlock: '10.97.0.0/24' } });
  await lab.controller.untilQuiet();
  const { exit, out } = await lab.kiln('status');
  assert.equal(exit, 1);
  assert.match(out, /findings +✖ 1\n {2}not ready {2}Vpc nowhere does not exist.* \(\d+s\)\n {4}kiln explain subnet lost\n$/);
  const json = JSON.parse((await lab.kiln('status', '-o', 'json')).out) as {
    readonly apiVersion: string;
    readonly kind: string;
    readonly leader: { readonly live: boolean };
    readonly findings: readonly { readonly what: string; readonly key: string }[];
  };
  assert.deepEqual([json.apiVersion, json.kind, json.leader.live], ['kiln.io/v1', 'Status', true]);
  assert.deepEqual(
    json.findings.map(({ what, key }) => [what, key]),
    [['not ready', 'lost']],
  );
  assert.equal((await lab.kiln('status', '-o', 'name')).out, 'subnet.kubeovn.io/lost\n');
  assert.deepEqual((parse((await lab.kiln('status', '-o', 'yaml')).out) as typeof json).findings, json.findings);
  assert.match((await lab.kiln('status', '-o', 'wide')).out, /\n {2}not ready {2}subnet\.kubeovn\.io\/lost {2}Vpc nowhere /);
  await lab.client.delete(traitsOf('subnets'), { name: 'lost' });
  await lab.controller.untilQuiet();
});

test('status --watch prints a screen with each change until Ctrl-C, and none without one', { skip }, async () => {
  await lab.make('subnets', { metadata: { name: 'later' }, spec: { vpc: 'nowhere', cidrBlock: '10.98.0.0/24' } });
  await lab.controller.untilQuiet();
  let mended: Promise<unknown> | undefined;
  const { exit, out } = await runKiln(['status', '--watch', `--kubeconfig=${lab.lab.kubeconfig}`], {
    env: { KILN_OVN_NB: lab.lab.ovn.nbEndpoint },
    heard: () => {
      mended ??= lab.client.delete(traitsOf('subnets'), { name: 'later' });
    },
    interruptAt: /findings +✔ none\n$/,
  });
  await mended;
  assert.equal(exit, 130);
  const findings = [...out.matchAll(/^findings +(.*)$/gm)].map(([, text = '']) => text);
  assert.deepEqual([findings[0], findings.at(-1)], ['✖ 1', '✔ none']);
  assert.ok(findings.length <= 4, out);
});

test('in a locale that is not of UTF-8 there is nothing but ASCII, and what programs read is as ever', { skip }, async () => {
  const to = [`--kubeconfig=${lab.lab.kubeconfig}`];
  const env = { KILN_OVN_NB: lab.lab.ovn.nbEndpoint, LC_ALL: 'C' };
  const tree = await runKiln(['explain', 'vpc', 'ovn-cluster', ...to], { env });
  assert.match(tree.out, /\n\|- held by\n\|  [|`]- Subnet\//);
  const status = await runKiln(['status', ...to], { env });
  assert.match(status.out, /\nfindings +\+ none\n$/);
  for (const { out } of [tree, status]) assert.equal(Buffer.byteLength(out), out.length, out);
  const json = JSON.parse((await runKiln(['status', '-o', 'json', ...to], { env })).out) as { readonly kind: string };
  assert.equal(json.kind, 'Status');
});

test('status of a namespace, and of what has a label', { skip }, async () => {
  await lab.make('subnets', {
    metadata: { name: 'own', labels: { team: 'web' } },
    spec: { vpc: 'nowhere', cidrBlock: '10.96.0.0/24', namespaces: ['kube-public'] },
  });
  await lab.make('subnets', { metadata: { name: 'other' }, spec: { vpc: 'nowhere', cidrBlock: '10.97.0.0/24' } });
  await lab.controller.untilQuiet();
  const named = async (...flags: readonly string[]): Promise<string> => (await lab.kiln('status', '-o', 'name', ...flags)).out;
  assert.equal(await named('-A'), 'subnet.kubeovn.io/other\nsubnet.kubeovn.io/own\n');
  assert.equal(await named('-l', 'team=web', '-n', 'kube-public'), 'subnet.kubeovn.io/own\n');
  assert.equal(await named('-l', '!team'), 'subnet.kubeovn.io/other\n');
  const both = await lab.kiln('status', '-A', '-n', 'default');
  assert.deepEqual([both.exit, /cannot be used with option/.test(both.said)], [2, true]);
  const nonsense = await lab.kiln('status', '-l', 'a b');
  assert.deepEqual([nonsense.exit, nonsense.said.startsWith('error: -l "a b" is not a label selector\n')], [2, true], nonsense.said);
  const nobody = await lab.kiln('status', '-n', 'nobody');
  assert.deepEqual([nobody.exit, /Namespace nobody does not exist/.test(nobody.said)], [1, true]);
  for (const name of ['own', 'other']) await lab.client.delete(traitsOf('subnets'), { name });
  await lab.controller.untilQuiet();
});

test('status with a database that cannot be reached: what was read, and exit 3', { skip }, async () => {
  const { exit, out } = await lab.kiln('status', '--ovn-nb=tcp:127.0.0.1:1');
  assert.equal(exit, 3, out);
  assert.match(out, /\nnorthbound +✖ OVSDB_CONNECT_FAILED: .*\nobjects +Vpc 1 /);
});

test('diff with a database that cannot be reached: why, and exit 3', { skip }, async () => {
  const { exit, said } = await lab.kiln('diff', '--ovn-nb=tcp:127.0.0.1:1', '--request-timeout=3s');
  assert.equal(exit, 3, said);
  assert.match(said, /\n {2}why: not complete after 3 s: .*the Northbound database.* \(OVSDB_CONNECT_FAILED: .*127\.0\.0\.1:1/);
});

test('diff: empty where the controller has done its work, and what it would do where it has not', { skip }, async () => {
  await lab.controller.untilQuiet();
  const nothing = await lab.kiln('diff');
  assert.deepEqual([nothing.exit, nothing.out, nothing.said], [0, '', 'nothing to do\n']);
  await lab.controller.stop();
  await lab.make('vpcs', { metadata: { name: 'new' } });
  const { exit, out } = await lab.kiln('diff');
  assert.equal(exit, 1);
  assert.match(out, /^insert Logical_Router new: .*"name":"new"/m);
  assert.match(out, /^patch Vpc new: .*kube-ovn-controller/m);
  const json = JSON.parse((await lab.kiln('diff', '-o', 'json')).out) as {
    readonly kind: string;
    readonly rows: readonly { readonly table: string }[];
  };
  assert.equal(json.kind, 'Plan');
  assert.ok(json.rows.some(({ table }) => table === 'Logical_Router'));
  assert.deepEqual((await lab.client.get(traitsOf('vpcs'), { name: 'new' })).metadata.finalizers, undefined, 'nothing was written');
  assert.equal((await lab.kiln('status')).exit, 1, 'nobody leads');
});

test('version: all parts, and whether they fit', { skip }, async () => {
  const { exit, out } = await lab.kiln('version');
  assert.equal(exit, 0, out);
  assert.match(
    out,
    /^client +kiln \d\S*, Node\.js v\d.*\nkubernetes +v\d.*\ncontroller +- nobody leads; the last one was kiln \d\S*\ncrds +✔ kubeovn\.io\/v1, all 25 kinds\nnorthbound +✔ schema \d[\d.]*, OVN \d[\d.]+/,
  );
  const json = JSON.parse((await lab.kiln('version', '-o', 'json')).out) as {
    readonly kind: string;
    readonly fits: boolean;
    readonly controller: { readonly version: string };
  };
  assert.deepEqual([json.kind, json.fits, json.controller.version], ['Version', true, VERSION]);
  assert.deepEqual(parse((await lab.kiln('version', '-o', 'yaml')).out), json);
});

test('version of a controller that does not fit: exit 1', { skip }, async () => {
  await onLease({ [kilnAnnotation.version]: '9.1.0' });
  const { exit, out } = await lab.kiln('version');
  assert.equal(exit, 1);
  assert.match(
    out,
    /\ncontroller +- nobody leads; the last one was kiln 9\.1\.0; it does not fit kiln \S+ here: use the commands of its version\n/,
  );
  await onLease({ [kilnAnnotation.version]: VERSION });
});

test(
  'commands have the settings that the controller has told; flags count first; where none are told a hint says so',
  { skip },
  async () => {
    const told = (await leaderOf({ client: lab.client }, 'kube-system', Date.now()))?.settings;
    assert.deepEqual(told, DEFAULT_SETTINGS);
    await onLease({ [kilnAnnotation.settings]: settingsText({ ...DEFAULT_SETTINGS, defaultVpc: 'main' }) });
    const asTold = await lab.kiln('diff');
    assert.match(asTold.out, /^create Vpc main: /m);
    assert.doesNotMatch((await lab.kiln('diff', '--cluster-router=ovn-cluster')).out, /main/);
    assert.match((await lab.kiln('status', '-o', 'wide')).out, /\nsettings +Vpc main · Subnet ovn-default 10\.16\.0\.0\/16 · /);
    assert.match(
      (await lab.kiln('diff', '--default-cidr=100.64.0.0/16')).said,
      /why: --default-cidr 100\.64\.0\.0\/16 overlaps --node-switch-cidr/,
    );
    await onLease({ [kilnAnnotation.settings]: null });
    assert.match(
      (await lab.kiln('diff')).said,
      /^hint: no controller has told its settings in Lease kube-system\/kiln-controller; Kube-OVN's defaults are assumed where no flag says otherwise$/m,
    );
    await onLease({ [kilnAnnotation.settings]: settingsText(DEFAULT_SETTINGS) });
  },
);

test('a database that refuses what the controller sends is a finding, in its words', { skip }, async () => {
  const tell = (holderIdentity: string, refusal: string | null): Promise<unknown> =>
    lab.client.mergePatch(
      LEASES,
      { name: CONTROLLER_LEASE, namespace: 'kube-system' },
      {
        metadata: { annotations: { [kilnAnnotation.northboundRefusal]: refusal } },
        spec: { holderIdentity, renewTime: microTime(Date.now()), leaseDurationSeconds: 60 },
      },
    );
  await tell('somebody', 'I/O error: No space left on device');
  const { exit, out } = await lab.kiln('status');
  assert.equal(exit, 1);
  assert.match(out, /\nnorthbound +✔ .*\n +✖ refuses every transaction of the controller: I\/O error: No space left on device\n/);
  const { northbound } = JSON.parse((await lab.kiln('status', '-o', 'json')).out) as { northbound: { refusal: string } };
  assert.equal(northbound.refusal, 'I/O error: No space left on device');
  await tell('', null);
});

test('exit codes: wrong usage 2, out of reach 3', async () => {
  for (const command of ['explain', 'delete', 'diff', 'status', 'version', 'uninstall', 'completion'])
    assert.deepEqual(await runKiln([command, '--nonsense']), {
      exit: 2,
      out: '',
      said: `error: kiln ${command} was not run\n  why: unknown option '--nonsense'\n  next: kiln ${command} --help\n`,
    });
  assert.match(
    (await runKiln(['explian', 'vpc'])).said,
    /^error: kiln was not run\n {2}why: unknown command 'explian' .*explain.*\n {2}next: kiln --help\n$/,
  );
  assert.equal((await runKiln(['completion', 'csh'])).exit, 2);
  const nowhere = { env: { KUBECONFIG: '/nowhere/kubeconfig' } };
  for (const args of [['explain', 'vpc', 'x'], ['delete', 'vpc', 'x'], ['diff', '--ovn-nb=tcp:127.0.0.1:1'], ['status'], ['version']]) {
    const { exit, said } = await runKiln(args, nowhere);
    assert.equal(exit, 3, `${args.join(' ')}: ${said}`);
    assert.match(said, /^error: .+\n {2}why: .+\n {2}next: .+\n$/m);
  }
  assert.equal((await runKiln(['version', '--client'], nowhere)).exit, 0);
});

test('help begins with an example, and says the exit codes', async () => {
  for (const command of ['explain', 'delete', 'diff', 'status', 'version', 'uninstall']) {
    const { out } = await runKiln([command, '--help']);
    assert.match(out, new RegExp(`^Examples:\n {2}kiln ${command}`));
    assert.match(out, /Exit codes: 0 /);
  }
});

test('the completion of bash completes commands, flags and kinds', async () => {
  const { out } = await runKiln(['completion', 'bash']);
  const completed = (...words: readonly string[]): string =>
    spawnSync('bash', ['-c', `${out}\nCOMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _kiln; echo "\${COMPREPLY[@]}"`, 'bash', ...words], {
      encoding: 'utf8',
    }).stdout.trim();
  assert.equal(completed('kiln', 'exp'), 'explain');
  assert.equal(completed('kiln', 'explain', 'sub'), 'subnet');
  assert.equal(completed('kiln', 'delete', '--casc'), '--cascade');
  assert.match((await runKiln(['completion', 'fish'])).out, /complete -c kiln -n '__fish_seen_subcommand_from delete' -l cascade\n/);
  assert.match((await runKiln(['completion', 'zsh'])).out, /^#compdef kiln\n/);
});
