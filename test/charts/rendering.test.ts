/** What Helm makes of the chart without a cluster: by mode, against the schema, and beside `deploy`, of which it is no second version. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { chartSettings } from '../../scripts/charts/settings.ts';
import { VERSION } from '../../src/runtime/version.ts';
import { Helm, KILN_CHART, objectsOf, type Rendered, withoutHelm } from './helm.ts';

const skip = withoutHelm;
const KUBERNETES = ['--kube-version', '1.34.4'] as const;
const BESIDE = ['--set', 'mode=beside-kube-ovn,ovn.nb=ssl:10.0.0.1:6641'] as const;
let folder: string;
let helm: Helm;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'kiln-charts-'));
  helm = new Helm(folder);
});
after(async () => await rm(folder, { recursive: true }));

interface Container {
  readonly name: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value?: string }[];
}

/** The controller's settings by variable, whether they are flags or variables, and the container without them. */
function settled(container: Container): object {
  const flags = (container.args ?? []).flatMap((arg) => {
    const [, flag = '', value] = /^--([^=]+)=(.*)$/.exec(arg) ?? [];
    return flag === '' ? [] : [{ name: `KILN_${flag.replaceAll('-', '_').toUpperCase()}`, value }];
  });
  return {
    ...container,
    args: (container.args ?? []).filter((arg) => !/^--[^=]+=/.test(arg)),
    env: [...(container.env ?? []), ...flags].toSorted((a, b) => (a.name < b.name ? -1 : 1)),
  };
}

/** By kind and name; the controller's settings in one form. */
function byName(objects: readonly Rendered[]): ReadonlyMap<string, Rendered> {
  return new Map(
    objects.map((object) => {
      const copy = structuredClone(object) as Rendered & { spec?: { template?: { spec: { containers: Container[] } } } };
      if (object.kind === 'Deployment' && copy.spec?.template !== undefined)
        copy.spec.template.spec.containers = copy.spec.template.spec.containers.map(settled) as Container[];
      return [`${object.kind} ${object.metadata.name}`, copy];
    }),
  );
}

function deployed(...names: readonly string[]): readonly Rendered[] {
  return names.flatMap((name) => objectsOf(readFileSync(join(KILN_CHART, '../../deploy', `${name}.yaml`), 'utf8')));
}

test('the chart of mode alone is deploy/*.yaml, object by object, but that its CRDs are kept', { skip }, async () => {
  const rendered = byName(await helm.template(...KUBERNETES));
  const all = ['crds', 'rbac', 'controller', 'webhook', 'admission-policy', 'agent', 'agent-policy', 'ovn-central'];
  const wanted = byName(deployed(...all));
  assert.deepEqual([...rendered.keys()].toSorted(), [...wanted.keys()].toSorted());
  for (const [name, object] of wanted) {
    const found = rendered.get(name);
    const expected =
      object.kind === 'CustomResourceDefinition' ? { ...object, metadata: { ...object.metadata, annotations: KEEP } } : object;
    assert.deepEqual(found, expected, name);
  }
});

const KEEP = { 'helm.sh/resource-policy': 'keep' };

test('beside Kube-OVN it is the controller with tenancy open, its rights and webhook, and no CRD, agent or OVN', { skip }, async () => {
  const objects = await helm.template(...BESIDE, ...KUBERNETES);
  const rendered = byName(objects);
  const wanted = byName(deployed('rbac', 'webhook', 'admission-policy'));
  for (const [name, object] of wanted) assert.deepEqual(rendered.get(name), object, name);
  assert.deepEqual([...rendered.keys()].filter((name) => !wanted.has(name)).toSorted(), [
    'ConfigMap kiln-ovn',
    'Deployment kiln-controller',
    'PodDisruptionBudget kiln-controller',
  ]);
  assert.deepEqual(rendered.get('ConfigMap kiln-ovn')?.['data'], { nb: 'ssl:10.0.0.1:6641', sb: '' });
  assert.equal(variables(objects)['KILN_TENANCY'], 'open');
  assert.equal(
    variables(await helm.template(...BESIDE, '--set', 'config.tenancy=namespaced', ...KUBERNETES))['KILN_TENANCY'],
    'namespaced',
  );
});

/** The variables of the controller. */
function variables(objects: readonly Rendered[]): Readonly<Record<string, string | undefined>> {
  const deployment = objects.find(({ kind }) => kind === 'Deployment') as unknown as {
    readonly spec: { readonly template: { readonly spec: { readonly containers: readonly Container[] } } };
  };
  return Object.fromEntries((deployment.spec.template.spec.containers[0]?.env ?? []).map(({ name, value }) => [name, value]));
}

test('to audit only, it writes nothing: a CronJob, and rights to read', { skip }, async () => {
  const objects = await helm.template('--set', 'mode=audit,ovn.nb=tcp:10.0.0.1:6641', ...KUBERNETES);
  assert.deepEqual(
    objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted(),
    ['ClusterRole', 'ClusterRoleBinding', 'CronJob', 'NetworkPolicy', 'Role', 'RoleBinding', 'ServiceAccount']
      .map((kind) => `${kind} kiln-audit`)
      .concat('ConfigMap kiln-ovn')
      .toSorted(),
  );
  const rules = objects.flatMap(
    (one) => (one['rules'] ?? []) as readonly { readonly verbs: readonly string[]; readonly resources: readonly string[] }[],
  );
  assert.ok(rules.length > 4);
  for (const { verbs, resources } of rules) {
    assert.deepEqual(
      verbs.filter((verb) => !['get', 'list', 'watch'].includes(verb)),
      [],
      resources.join(),
    );
    assert.ok(!resources.includes('secrets') && !resources.includes('*'));
  }
});

test(
  'without TLS no pod waits for keys; before Kubernetes 1.31 there are no policies, and before 1.30 no AppArmor field',
  { skip },
  async () => {
    const plain = await helm.template('--set', 'mode=beside-kube-ovn,ovn.nb=tcp:10.0.0.1:6641', ...KUBERNETES);
    assert.doesNotMatch(JSON.stringify(plain), /kube-ovn-tls|KILN_OVN_KEY/);
    const old = await helm.template('--kube-version', '1.29.0');
    assert.deepEqual(
      old.filter(({ kind }) => kind.startsWith('ValidatingAdmissionPolicy')),
      [],
    );
    assert.doesNotMatch(JSON.stringify(old), /appArmorProfile/);
  },
);

test('every setting reaches the controller by its variable, as it is written', { skip }, async () => {
  const config = {
    defaultCidr: '10.16.0.0/16,fd00:10:16::/112',
    gcMaxRows: 100_000_000,
    gcMaxShare: 0.5,
    keepVmIp: false,
    defaultExcludeIps: ['10.16.0.1', '10.16.0.9..10.16.0.12'],
    gcRules: [{ mode: 'report', table: 'NAT' }],
    logLevel: 'debug',
    journal: 'off',
  };
  const set = variables(await helm.template(...BESIDE, '--set-json', `config=${JSON.stringify(config)}`, ...KUBERNETES));
  const expected = {
    ...config,
    gcMaxRows: '100000000',
    gcMaxShare: '0.5',
    keepVmIp: 'false',
    defaultExcludeIps: config.defaultExcludeIps.join(),
    gcRules: JSON.stringify(config.gcRules),
  };
  for (const [key, text] of Object.entries(expected)) {
    const { variable } = chartSettings().find((setting) => setting.key === key) ?? assert.fail(key);
    assert.equal(set[variable], text, key);
  }
  const bare = variables(await helm.template(...BESIDE, '--set', 'parts.webhook=false', ...KUBERNETES));
  assert.equal(bare['KILN_WEBHOOK_BIND_ADDRESS'], 'off');
});

test('another primary CNI plugin is told to the controller, the agent and the installation of ours alike', { skip }, async () => {
  const agentArgs = async (...values: readonly string[]): Promise<string> => {
    const objects = await helm.template(...values, ...KUBERNETES);
    return JSON.stringify(objects.find(({ metadata, kind }) => kind === 'DaemonSet' && metadata.name === 'kiln-agent'));
  };
  const mode = /"--non-primary-cni-mode"/g;
  assert.equal((await agentArgs('--set', 'config.nonPrimaryCniMode=true')).match(mode)?.length, 2);
  for (const values of [[], ['--set', 'config.nonPrimaryCniMode=false']]) assert.doesNotMatch(await agentArgs(...values), mode);
});

for (const [values, why] of [
  ['mode=both', /mode/],
  ['config.defaultCdir=10.0.0.0/16', /defaultCdir/],
  ['config.tenancy=closed', /tenancy/],
  ['config.keepVmIp=perhaps', /keepVmIp/],
  ['controller.replicas=two', /replicas/],
  ['controler.replicas=2', /controler/],
  ['ovn.nb=10.0.0.1:6641', /nb/],
  ['mode=beside-kube-ovn', /ovn\.nb, the endpoints/],
  ['ovn.nb=tcp:10.0.0.1:6641', /parts\.ovn=false/],
  ['parts.ovn=false,ovn.nb=tcp:10.0.0.1:6641', /ovn\.sb/],
  ['metrics.serviceMonitor.enabled=true', /tokenSecret/],
] as const)
  test(`value ${values} is refused, with the reason`, { skip }, async () => {
    assert.match(await helm.fails('template', 'kiln', KILN_CHART, '--set', values, ...KUBERNETES), why);
  });

test(
  'monitoring is the alerts of deploy with the address of the docs, a ServiceMonitor with the token, and the dashboard',
  { skip },
  async () => {
    const objects = await helm.template(
      '--set',
      'metrics.tokenSecret=kiln-metrics,metrics.serviceMonitor.enabled=true,metrics.prometheusRule.enabled=true,metrics.dashboards.enabled=true,metrics.prometheusRule.runbooks=https://docs.example/',
      ...KUBERNETES,
    );
    const find = (kind: string, name: string): Rendered =>
      objects.find((one) => one.kind === kind && one.metadata.name === name) ?? assert.fail(`${kind} ${name}`);
    const [wanted] = deployed('monitoring/alerts');
    const rule = JSON.stringify(find('PrometheusRule', 'kiln'));
    assert.equal(rule.replaceAll('https://docs.example/', ''), JSON.stringify(wanted));
    assert.match(rule, /"https:\/\/docs\.example\/docs\/troubleshoot\.md#kiln/);
    assert.match(JSON.stringify(find('ServiceMonitor', 'kiln')), /"credentials":\{"name":"kiln-metrics","key":"token"\}/);
    const [text = ''] = Object.values(find('ConfigMap', 'kiln-dashboard')['data'] as Readonly<Record<string, string>>);
    assert.deepEqual(JSON.parse(text), JSON.parse(readFileSync(join(KILN_CHART, '../../deploy/monitoring/dashboard.json'), 'utf8')));
    const set = variables(objects);
    assert.deepEqual([set['KILN_METRICS_BIND_ADDRESS'], set['KILN_METRICS_TOKEN_FILE']], [':10670', '/etc/kiln/metrics/token']);
  },
);

test('helm lint finds nothing, and the package has the version of kiln version', { skip }, async () => {
  for (const values of [[], BESIDE, ['--set', 'mode=audit,ovn.nb=tcp:10.0.0.1:6641']])
    assert.match(await helm.run('lint', KILN_CHART, '--strict', ...values), /1 chart\(s\) linted, 0 chart\(s\) failed/);
  assert.equal(await helm.package(KILN_CHART, folder), join(folder, `kiln-${VERSION}.tgz`));
});
