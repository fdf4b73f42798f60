/** `kiln status` with an API server, the Northbound database and the controller. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import { traitsOf } from '../../world/resources.ts';
import { runHere } from '../testing/command-here.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

let scene: CommandScene;
const skip = sceneOfThisFile((opened) => {
  scene = opened;
});

test('status of a cluster that is well: one screen, exit 0', { skip }, async () => {
  const { exit, out, err } = await scene.kiln('status');
  assert.equal(exit, 0, out + err);
  assert.match(
    out,
    /^leader +✔ \S+, renewed \d+s ago, term \d+, kiln \d\S+\nnorthbound +✔ unix:\S+, schema \d[\d.]*, \d+ rows of Kiln\nobjects +Vpc 1 · Subnet 2 /,
  );
  assert.match(out, /\nfindings +✔ none\n$/);
});

test('status with findings: exit 1, each with the command that leads on', { skip }, async () => {
  await scene.make('subnets', { metadata: { name: 'lost' }, spec: { vpc: 'nowhere', cidrBlock: '10.97.0.0/24' } });
  await scene.controller.untilQuiet();
  const { exit, out } = await scene.kiln('status');
  assert.equal(exit, 1);
  assert.match(
    out,
    /findings +✖ 1\n {2}not ready {2}Subnet lost: spec\.vpc "nowhere" names a Vpc that does not exist.* \([\dms]+\)\n {4}kiln explain subnet lost\n$/,
  );
  const json = JSON.parse((await scene.kiln('status', '-o', 'json')).out) as {
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
  assert.equal((await scene.kiln('status', '-o', 'name')).out, 'subnet.kubeovn.io/lost\n');
  assert.deepEqual((parse((await scene.kiln('status', '-o', 'yaml')).out) as typeof json).findings, json.findings);
  assert.match(
    (await scene.kiln('status', '-o', 'wide')).out,
    /\n {2}not ready {2}subnet\.kubeovn\.io\/lost {2}Subnet lost: spec\.vpc "nowhere" /,
  );
  await scene.client.delete(traitsOf('subnets'), { name: 'lost' });
  await scene.controller.untilQuiet();
});

test('status of much that is wrong: the gravest 20 of a screen, and how many there are of the others', { skip }, async () => {
  const names = Array.from({ length: 21 }, (_, i) => `gone-${String(i).padStart(2, '0')}`);
  for (const name of names) await scene.make('subnets', { metadata: { name }, spec: { vpc: 'nowhere', cidrBlock: '10.97.0.0/24' } });
  // Sorts before the others by name; its only fault is less serious.
  await scene.make('subnets', { metadata: { name: 'early' }, spec: { cidrBlock: '10.94.0.0/24', namespaces: ['to-come'] } });
  await scene.controller.untilQuiet();
  const { exit, out } = await scene.kiln('status');
  assert.equal(exit, 1);
  const shown = [...out.matchAll(/^ {2}(not ready|without effect) {2}Subnet (\S+):/gm)].map(([, , name]) => name);
  assert.deepEqual(shown, names.slice(0, 20), out);
  assert.match(out, /findings +✖ 22\n/);
  assert.match(out, /\n {2}… and 2 more \(1 not ready, 1 without effect\): kiln status -o wide\n$/);
  const json = JSON.parse((await scene.kiln('status', '-o', 'json')).out) as { readonly findings: readonly { readonly key: string }[] };
  assert.deepEqual(
    json.findings.map(({ key }) => key),
    ['early', ...names],
  );
  for (const name of ['early', ...names]) await scene.client.delete(traitsOf('subnets'), { name });
  await scene.controller.untilQuiet();
});

test('what is not implemented is listed as notes, and the exit code stays 0', { skip }, async () => {
  await scene.make('networkpolicies', { metadata: { name: 'deny', namespace: 'default' }, spec: { podSelector: {} } });
  const { exit, out } = await scene.kiln('status');
  assert.equal(exit, 0, out);
  assert.match(
    out,
    /\nfindings +✔ none\nnotes +1\n {2}not implemented {2}NetworkPolicy default\/deny: this version of Kiln does not implement NetworkPolicy: .*\n {4}kiln explain networkpolicy deny -n default\n$/,
  );
  const json = JSON.parse((await scene.kiln('status', '-o', 'json')).out) as {
    readonly findings: readonly unknown[];
    readonly notes: readonly { readonly what: string; readonly key: string }[];
  };
  assert.deepEqual([json.findings, json.notes.map(({ what, key }) => [what, key])], [[], [['not implemented', 'default/deny']]]);
  const explained = await scene.kiln('explain', 'networkpolicy', 'deny', '-n', 'default');
  assert.deepEqual(
    [explained.exit, /waits: Kiln does not implement this yet: NetworkPolicy/.test(explained.out)],
    [1, true],
    explained.out,
  );
  await scene.client.delete(traitsOf('networkpolicies'), { name: 'deny', namespace: 'default' });
  await scene.controller.untilQuiet();
});

test('in a locale that is not of UTF-8 there is nothing but ASCII, and what programs read is as ever', { skip }, async () => {
  const to = [`--kubeconfig=${scene.kubeconfig}`];
  const env = { KILN_OVN_NB: scene.ovnNb, LC_ALL: 'C' };
  const tree = await runHere(['explain', 'vpc', 'ovn-cluster', ...to], env);
  assert.match(tree.out, /\n\|- used by \(blocks deletion\)\n\|  [|`]- Subnet\//);
  const status = await runHere(['status', ...to], env);
  assert.match(status.out, /\nfindings +\+ none\n$/);
  for (const { out } of [tree, status]) assert.equal(Buffer.byteLength(out), out.length, out);
  const json = JSON.parse((await runHere(['status', '-o', 'json', ...to], env)).out) as { readonly kind: string };
  assert.equal(json.kind, 'Status');
});

test('status of a namespace, and of what has a label', { skip }, async () => {
  await scene.make('subnets', {
    metadata: { name: 'own', labels: { team: 'web' } },
    spec: { vpc: 'nowhere', cidrBlock: '10.96.0.0/24', namespaces: ['kube-public'] },
  });
  await scene.make('subnets', { metadata: { name: 'other' }, spec: { vpc: 'nowhere', cidrBlock: '10.97.0.0/24' } });
  await scene.controller.untilQuiet();
  const named = async (...flags: readonly string[]): Promise<string> => (await scene.kiln('status', '-o', 'name', ...flags)).out;
  assert.equal(await named('-A'), 'subnet.kubeovn.io/other\nsubnet.kubeovn.io/own\n');
  assert.equal(await named('-l', 'team=web', '-n', 'kube-public'), 'subnet.kubeovn.io/own\n');
  assert.equal(await named('-l', '!team'), 'subnet.kubeovn.io/other\n');
  // A selector without matching objects must not be reported as healthy, with or without a namespace.
  for (const flags of [
    ['-l', 'team=nobody'],
    ['-l', 'team=web', '-n', 'default'],
  ] as const) {
    const nothing = await scene.kiln('status', ...flags);
    assert.equal(nothing.exit, 1, nothing.err);
    assert.match(
      nothing.err,
      /^error: kiln status has nothing to show\n {2}why: no object.* has the labels "team=\w+"\n {2}next: kubectl get /,
    );
    assert.doesNotMatch(nothing.out, /none/);
  }
  const both = await scene.kiln('status', '-A', '-n', 'default');
  assert.deepEqual([both.exit, /cannot be used with option/.test(both.err)], [2, true]);
  const nonsense = await scene.kiln('status', '-l', 'a b');
  assert.deepEqual([nonsense.exit, nonsense.err.startsWith('error: -l "a b" is not a label selector\n')], [2, true], nonsense.err);
  const nobody = await scene.kiln('status', '-n', 'nobody');
  assert.deepEqual([nobody.exit, /Namespace nobody does not exist/.test(nobody.err)], [1, true]);
  for (const name of ['own', 'other']) await scene.client.delete(traitsOf('subnets'), { name });
  await scene.controller.untilQuiet();
});

test('status with a database that cannot be reached: what was read, and exit 3', { skip }, async () => {
  const { exit, out } = await scene.kiln('status', '--ovn-nb=tcp:127.0.0.1:1');
  assert.equal(exit, 3, out);
  assert.match(out, /\nnorthbound +✖ OVSDB_CONNECT_FAILED: .*\nobjects +Vpc 1 /);
  // An empty variable names no database.
  const unnamed = await runHere(['status', `--kubeconfig=${scene.kubeconfig}`], { KILN_OVN_NB: '' });
  assert.deepEqual([unnamed.exit, /\nnorthbound +- not read \(--ovn-nb\)\n/.test(unnamed.out)], [0, true], unnamed.out);
});
