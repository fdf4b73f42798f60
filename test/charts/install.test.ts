/**
 * The chart on a real kube-apiserver, by the real Helm: installed, upgraded, rolled back and uninstalled with everything in use. No container runs
 * there: stand-ins for kubelets say that pods run, and the controller is a process with the account of the chart.
 */
import assert from 'node:assert/strict';
import { cp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { missingClusterPrograms } from '../../lab/real-cluster/real-cluster.ts';
import type { ControllerProcess } from '../../src/testing/controller-process.ts';
import { eventually } from '../../src/testing/until.ts';
import { namespaceYaml, podYaml, tenantYaml } from '../scenarios/pods.ts';
import { ChartCluster, names } from './chart-cluster.ts';
import { commandsOf, Reader } from './documented-commands.ts';
import { KILN_CHART, withoutHelm } from './helm.ts';

const skip = withoutHelm || missingClusterPrograms() || false;
const IN = ['-n', 'kube-system', '--wait', '--timeout', '3m'] as const;
/** The API server cannot reach the webhook's Service here, and would wait for it at each request. */
const NO_WEBHOOK = ['--set', 'parts.webhook=false'] as const;
/** Half of all objects; the controller worked under them before. */
const NO_POLICIES = ['--set', 'parts.webhook=false,parts.policies=false'] as const;
/** Every kind that the chart has, but Secrets. */
const KINDS =
  'deployments,daemonsets,cronjobs,serviceaccounts,configmaps,services,poddisruptionbudgets,networkpolicies,clusterroles,clusterrolebindings,roles,rolebindings,validatingwebhookconfigurations,validatingadmissionpolicies,validatingadmissionpolicybindings';

let cluster: ChartCluster;
let controller: ControllerProcess;
let former: string;

before(async () => {
  if (skip !== false) return;
  cluster = await ChartCluster.start();
  former = await cluster.helm.package(await formerChart(), cluster.folder);
});
after(async () => await cluster?.[Symbol.asyncDispose]());

/** The chart as an earlier version had it: another schema, fewer rights, an image of its own, an object that went later. */
async function formerChart(): Promise<string> {
  const folder = join(cluster.folder, 'former');
  await cp(KILN_CHART, folder, { recursive: true });
  const edit = async (file: string, change: (text: string) => string): Promise<void> => {
    const path = join(folder, file);
    const text = await readFile(path, 'utf8');
    const changed = change(text);
    assert.notEqual(changed, text, file);
    await writeFile(path, changed);
  };
  await edit('Chart.yaml', (text) => text.replaceAll(/(ersion): \d+\.\d+\.\d+$/gm, '$1: 0.0.9'));
  await edit('templates/crds.yaml', (text) =>
    text.replaceAll('                bfdPort:\n', '                former:\n                  type: string\n                bfdPort:\n'),
  );
  await edit('templates/controller-rbac.yaml', (text) => text.replace('resources: [pods/eviction]', 'resources: [pods/former]'));
  await edit('templates/webhook.yaml', (text) => text.replace('timeoutSeconds: 3', 'timeoutSeconds: 4'));
  await writeFile(
    join(folder, 'templates/former.yaml'),
    'apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: kiln-former\n  namespace: kube-system\n',
  );
  return folder;
}

const helm = (...args: readonly string[]): Promise<string> => cluster.helm.run(...args);

/** Objects that belong to a release of Helm. */
async function released(): Promise<readonly string[]> {
  const all = await cluster.list(KINDS);
  return names(all.filter(({ metadata }) => metadata.annotations?.['meta.helm.sh/release-name'] !== undefined));
}

async function vpcSchema(): Promise<string> {
  return await cluster.kubectl([
    'get',
    'crd',
    'vpcs.kubeovn.io',
    '-o',
    'jsonpath={.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties}',
  ]);
}

const image = async (): Promise<string> =>
  await cluster.kubectl(['get', 'deployment', 'kiln-controller', '-n', 'kube-system', '-o', 'jsonpath={..containers[0].image}']);

const definitions = async (): Promise<number> =>
  (await cluster.list('customresourcedefinitions')).filter(({ metadata }) => metadata.name.endsWith('.kubeovn.io')).length;

test('an upgrade keeps what running programs filled in, and a part that is switched off goes', { skip }, async () => {
  // The parts with most objects have nothing that is filled in.
  const FEW = ['-n', 'kube-system', '--set', 'parts.crds=false,parts.policies=false,parts.agent=false'] as const;
  await helm('install', 'kiln', former, ...FEW);
  const filled = [
    ['validatingwebhookconfiguration', 'kiln', [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: 'aGVyZQ==' }]],
    ['secret', 'kiln-webhook-tls', [{ op: 'add', path: '/data', value: { 'tls.crt': 'Y2VydA==' } }]],
    ['configmap', 'kiln-ovn', [{ op: 'add', path: '/data', value: { nb: 'ssl:10.9.9.9:6641', sb: 'ssl:10.9.9.9:6642', founder: 'cp-1' } }]],
  ] as const;
  for (const [kind, name, patch] of filled)
    await cluster.kubectl(['patch', kind, name, '-n', 'kube-system', '--type=json', '-p', JSON.stringify(patch)]);
  await helm('upgrade', 'kiln', KILN_CHART, ...FEW);
  const webhooks = await cluster.kubectl([
    'get',
    'validatingwebhookconfiguration',
    'kiln',
    '-o',
    'jsonpath={.webhooks[0].clientConfig.caBundle} {.webhooks[*].timeoutSeconds}',
  ]);
  assert.equal(webhooks, 'aGVyZQ== 3 3 3 3');
  assert.match(await cluster.kubectl(['get', 'secret', 'kiln-webhook-tls', '-n', 'kube-system', '-o', 'jsonpath={.data}']), /Y2VydA==/);
  assert.match(await cluster.kubectl(['get', 'configmap', 'kiln-ovn', '-n', 'kube-system', '-o', 'jsonpath={.data}']), /cp-1/);
  await helm('upgrade', 'kiln', KILN_CHART, ...FEW, ...NO_WEBHOOK);
  assert.deepEqual(
    (await released()).filter((name) => /kiln-webhook$|^ValidatingWebhook/.test(name)),
    [],
  );
  await helm('uninstall', 'kiln', ...IN);
});

test('it is installed, and the controller works with the rights of the chart and no others', { skip }, async () => {
  await cluster.startNodes();
  await helm('install', 'kiln', former, ...IN, ...NO_WEBHOOK);
  assert.equal(await image(), 'kiln:0.0.9');
  assert.match(await vpcSchema(), /"former"/);
  controller = await cluster.startController();
  await cluster.apply(tenantYaml('shop', '10.61.0.0/24'));
  await eventually(
    'the Subnet is ready',
    async () => (await cluster.kiln(cluster.real.kubeconfig, 'wait', 'subnet/shop-net', '--for=Ready')).exit === 0,
  );
  await cluster.apply(podYaml('shop', 'web-0') + podYaml('shop', 'web-1'));
  await cluster.kubectl(['wait', 'pod', '--all', '-n', 'shop', '--for=condition=Ready', '--timeout=120s']);
  assert.deepEqual(Object.values(await cluster.addresses('shop')).toSorted(), ['10.61.0.2', '10.61.0.3']);
});

test('it is upgraded with its CRDs, and rolled back; pods keep their addresses', { skip }, async () => {
  const [pods, vpcs] = [await cluster.list('pods'), names(await cluster.list('vpcs,subnets,ips'))];
  const running = pods.filter(({ metadata }) => metadata.namespace === 'shop').map(({ metadata }) => metadata);
  await helm('upgrade', 'kiln', KILN_CHART, ...IN, ...NO_POLICIES);
  assert.doesNotMatch(await image(), /0\.0\.9/);
  assert.doesNotMatch(await vpcSchema(), /"former"/);
  assert.ok(!(await released()).includes('ConfigMap kiln-former'));
  await helm('rollback', 'kiln', '1', ...IN);
  assert.equal(await image(), 'kiln:0.0.9');
  assert.match(await vpcSchema(), /"former"/);
  assert.ok((await released()).includes('ConfigMap kiln-former'));
  await helm('upgrade', 'kiln', KILN_CHART, ...IN, ...NO_POLICIES);
  const after = (await cluster.list('pods')).filter(({ metadata }) => metadata.namespace === 'shop').map(({ metadata }) => metadata);
  assert.deepEqual(
    after.map(({ name, annotations }) => [name, annotations]),
    running.map(({ name, annotations }) => [name, annotations]),
  );
  assert.deepEqual(names(await cluster.list('vpcs,subnets,ips')), vpcs);
  assert.deepEqual(await cluster.forbidden(controller), []);
});

test(
  'it is uninstalled with everything in use: CRDs, objects, pods and rows stay, and a new installation continues',
  { skip },
  async () => {
    const [addresses, objects, rows] = [
      await cluster.addresses('shop'),
      names(await cluster.list('vpcs,subnets,ips')),
      await cluster.ovn.nbctl('show'),
    ];
    await helm('uninstall', 'kiln', ...IN);
    await controller.stop();
    assert.deepEqual(await released(), []);
    assert.equal(await definitions(), 25);
    assert.deepEqual(names(await cluster.list('vpcs,subnets,ips')), objects);
    assert.equal(await cluster.ovn.nbctl('show'), rows);

    // Nothing of it is installed, and an audit can be.
    await helm('install', 'kiln', KILN_CHART, ...IN, '--set', `mode=audit,ovn.nb=tcp:10.0.0.1:6641`);
    const versions = async (): Promise<readonly unknown[]> => (await cluster.list('vpcs,subnets,ips,pods')).map(({ metadata }) => metadata);
    const before = JSON.stringify(await versions());
    const audit = await cluster.kiln(await cluster.account('kiln-audit'), 'audit', '-o', 'json');
    assert.ok(audit.exit <= 1, audit.text);
    assert.doesNotMatch(audit.text, /forbidden/i);
    assert.equal(JSON.stringify(await versions()), before);

    await helm('upgrade', 'kiln', KILN_CHART, ...IN, '--reset-values', ...NO_POLICIES);
    assert.ok(!(await released()).some((name) => name.includes('audit')));
    controller = await cluster.startController();
    await cluster.apply(podYaml('shop', 'web-2'));
    await cluster.kubectl(['wait', 'pod', 'web-2', '-n', 'shop', '--for=condition=Ready', '--timeout=120s']);
    const { 'web-2': last, ...others } = await cluster.addresses('shop');
    assert.equal(last, '10.61.0.4');
    assert.deepEqual(others, addresses);
  },
);

test('kiln uninstall and then Helm leave nothing, and nothing hangs', { skip }, async () => {
  await cluster.apply(namespaceYaml('left'));
  await controller.stop();
  const { exit, text } = await cluster.kiln(cluster.real.kubeconfig, 'uninstall', '--yes');
  assert.equal(exit, 0, text);
  await helm('uninstall', 'kiln', ...IN);
  await cluster.kubectl(['delete', 'namespace', 'shop', 'left', '--timeout=120s']);
  assert.equal(await definitions(), 0);
  assert.deepEqual(await released(), []);
  const owned = [...(await cluster.list(KINDS)), ...(await cluster.list('secrets,leases'))].filter(({ metadata }) =>
    /kiln|ovn/.test(metadata.name),
  );
  assert.deepEqual(names(owned), []);
  assert.equal((await cluster.ovn.nbctl('show')).trim(), '');
  assert.deepEqual(await cluster.forbidden(controller), []);
});

test('every command of docs/charts.md works, in the order of the page', { skip }, async () => {
  const sections = await commandsOf('docs/charts.md');
  const reader = await Reader.at(join(cluster.folder, 'reader'), {
    KUBECONFIG: cluster.real.kubeconfig,
    KILN_OVN_NB: cluster.ovn.nbEndpoint,
  });
  assert.deepEqual([...sections.keys()], ['Install', 'Values', 'Upgrade and back', 'Networks and pods in one chart', 'Uninstall']);
  for (const [heading, lines] of sections) {
    if (heading === 'Networks and pods in one chart') {
      // Where it runs in a pod, the webhook answers.
      await helm('upgrade', 'kiln', KILN_CHART, '-n', 'kube-system', '--reset-then-reuse-values', ...NO_POLICIES);
      controller = await cluster.startController();
    }
    if (heading === 'Uninstall') await controller.stop();
    for (const line of lines) {
      if (line.endsWith('--take-ownership')) {
        await helm('uninstall', 'kiln', ...IN);
        await cluster.apply(await readFile(join(KILN_CHART, '../../deploy/rbac.yaml'), 'utf8'));
      }
      const printed = await reader.types(line);
      if (line.startsWith('kubectl -n shop get pods')) assert.match(printed, /^web-\S+ +1\/1 +Running .* 10\.60\.0\.\d/m);
    }
  }
  assert.deepEqual(await released(), []);
  assert.equal(await definitions(), 0);
});
