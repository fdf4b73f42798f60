/** `kiln plan` with an API server, the Northbound database and the controller: what it says is what then happens. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { stringify } from 'yaml';
import type { KubeObject } from '../../kube/resource.ts';
import type { ResourceName } from '../../world/resources.ts';
import { traitsOf } from '../../world/resources.ts';
import type { CommandScene } from '../testing/command-scene.ts';
import { sceneOfThisFile } from '../testing/command-scene.ts';

interface PlanJson {
  readonly manifests: readonly {
    readonly action: string;
    readonly kind: string;
    readonly name: string;
    readonly denials: readonly string[];
  }[];
  readonly addresses: readonly { readonly object: string; readonly addresses: readonly string[] }[];
  readonly networks: readonly {
    readonly object: string;
    readonly what: string;
    readonly before: readonly string[];
    readonly message: string;
  }[];
  readonly waits: readonly { readonly object: string; readonly message: string }[];
  readonly faults: readonly { readonly object: string; readonly message: string }[];
  readonly rows: readonly { readonly table: string; readonly name: string; readonly kind: string; readonly change: string }[];
}

let scene: CommandScene;
const skip = sceneOfThisFile((opened) => {
  scene = opened;
});
const directory = mkdtempSync(join(tmpdir(), 'kiln-plan-'));
after(() => rmSync(directory, { recursive: true }));

const CONTAINERS = { containers: [{ name: 'main', image: 'busybox' }], terminationGracePeriodSeconds: 0 };

function file(name: string, ...objects: readonly object[]): string {
  const path = join(directory, name);
  writeFileSync(path, objects.map((object) => `---\n${stringify(object)}`).join(''));
  return path;
}

function manifest(resource: ResourceName, metadata: object, spec?: object): object {
  const { group, version, kind } = traitsOf(resource);
  return { apiVersion: group === '' ? version : `${group}/${version}`, kind, metadata, ...(spec === undefined ? {} : { spec }) };
}

async function planned(...args: readonly string[]): Promise<PlanJson> {
  const { exit, out, err } = await scene.kiln('plan', '-o', 'json', ...args);
  assert.equal(exit, 1, err);
  return JSON.parse(out) as PlanJson;
}

const tenant = [
  manifest('namespaces', { name: 'shop' }),
  manifest('vpcs', { name: 'shop' }),
  manifest('subnets', { name: 'shop-net' }, { vpc: 'shop', cidrBlock: '10.97.0.0/24', namespaces: ['shop'] }),
  manifest('pods', { name: 'web', namespace: 'shop' }, CONTAINERS),
];

test('what is planned is what then happens: addresses and rows; nothing is written before', { skip }, async () => {
  const path = file('tenant.yaml', ...tenant);
  const rowsBefore = new Set(scene.controller.world.rows.owned);
  const plan = await planned('-f', path);
  assert.deepEqual(
    plan.manifests.map(({ action, kind, name }) => `${action} ${kind} ${name}`),
    ['create Namespace shop', 'create Vpc shop', 'create Subnet shop-net', 'create Pod web'],
  );
  assert.deepEqual([plan.networks, plan.waits, plan.faults], [[], [], []]);
  for (const resource of ['vpcs', 'subnets'] as const)
    assert.equal(
      scene.controller.world.tables[resource]?.peek(resource === 'vpcs' ? 'shop' : 'shop-net'),
      undefined,
      'nothing was written',
    );
  assert.deepEqual([...scene.controller.world.rows.owned].toSorted(), [...rowsBefore].toSorted());

  for (const [at, object] of tenant.entries()) {
    await scene.make((['namespaces', 'vpcs', 'subnets', 'pods'] as const)[at] as ResourceName, object);
    await scene.controller.untilQuiet();
  }
  assert.equal((await scene.kiln('wait', 'pod/shop/web', '--for=Bound')).exit, 0);
  await scene.controller.untilQuiet();
  const pod = await scene.client.get(traitsOf('pods'), { name: 'web', namespace: 'shop' });
  const { annotations = {} } = pod.metadata as KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
  assert.deepEqual(plan.addresses, [{ object: 'Pod shop/web', addresses: [annotations['ovn.kubernetes.io/ip_address']] }]);
  const came = [...scene.controller.world.rows.owned].filter((id) => !rowsBefore.has(id)).map((id) => id.replace('/', ' '));
  const inserted = plan.rows.filter(({ change }) => change === 'insert').map(({ table, name }) => `${table} ${name}`);
  assert.deepEqual(inserted.toSorted(), came.toSorted());
});

test('what exists as the manifest has it: nothing changes, exit 0', { skip }, async () => {
  const { exit, out, err } = await scene.kiln('plan', '-f', file('same.yaml', ...tenant.slice(0, 3)));
  assert.equal(exit, 0, out);
  assert.match(err, /^nothing changes$/m);
  assert.match(out, /^ {2}unchanged {2}Subnet shop-net$/m);
});

test('an address that a port of another program has is not planned for a pod', { skip }, async () => {
  await scene.nbctl('lsp-add', 'shop-net', 'theirs', '--', 'lsp-set-addresses', 'theirs', '0a:00:00:00:00:01 10.97.0.3');
  try {
    const { addresses } = await planned('-f', file('next.yaml', manifest('pods', { name: 'next', namespace: 'shop' }, CONTAINERS)));
    assert.deepEqual(addresses, [{ object: 'Pod shop/next', addresses: ['10.97.0.4'] }]);
  } finally {
    await scene.nbctl('lsp-del', 'theirs');
    await scene.controller.untilQuiet();
  }
});

test('refused by the rules of the webhook, and not in effect although stored: each with why', { skip }, async () => {
  const path = file(
    'faults.yaml',
    manifest('subnets', { name: 'second' }, { vpc: 'shop', cidrBlock: '10.97.0.0/25' }),
    manifest('subnets', { name: 'third' }, { vpc: 'shop', cidrBlock: 97 }),
    manifest('pods', { name: 'twin', namespace: 'shop', annotations: { 'ovn.kubernetes.io/logical_switch': 'nowhere' } }, CONTAINERS),
    manifest('pods', { name: 'lost', namespace: 'none' }, CONTAINERS),
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'other' } },
  );
  const { manifests: objects, faults } = await planned('-f', path);
  assert.deepEqual(
    objects.map(({ action }) => action),
    ['refused', 'refused', 'create', 'refused', 'not read'],
  );
  assert.match(objects[0]?.denials.join() ?? '', /overlaps 10\.97\.0\.0\/24 of Subnet shop-net/);
  assert.match(objects[1]?.denials.join() ?? '', /another type/);
  assert.deepEqual(objects[3]?.denials, ['namespace none does not exist']);
  assert.equal(faults.length, 1);
  assert.match(faults[0]?.message ?? '', /nowhere/);
  const { out } = await scene.kiln('plan', '-f', path);
  assert.match(out, /^not in effect\n {2}Pod shop\/twin: /m);
});

test('a deletion that would wait, and for what; a namespace takes its pods with it', { skip }, async () => {
  const { waits, networks } = await planned('-f', file('same.yaml', ...tenant.slice(1, 3)), '--delete');
  assert.deepEqual(
    waits.map(({ object, message }) => [object, message.split('. ')[0]]),
    [
      ['Vpc shop', 'Vpc shop cannot be deleted: one object still uses it: Subnet shop-net'],
      ['Subnet shop-net', 'Subnet shop-net cannot be deleted: one object still uses it: IP web.shop'],
    ],
  );
  assert.deepEqual(networks, []);
  const whole = await planned('-f', file('whole.yaml', ...tenant.slice(0, 3)), '--delete');
  assert.deepEqual(whole.waits, []);
  assert.deepEqual(
    whole.networks.map(({ object, what }) => [object, what]),
    [['Pod shop/web', 'deleted']],
  );
  assert.ok(whole.rows.some(({ table, name, change }) => table === 'Logical_Router' && name === 'shop' && change === 'delete'));
  assert.notEqual(await scene.client.find(traitsOf('vpcs'), { name: 'shop' }), undefined);
});

test('the pods of a new workload, from standard input or a directory; wrong usage', { skip }, async () => {
  const template = { metadata: { labels: { app: 'db' } }, spec: CONTAINERS };
  const selector = { matchLabels: { app: 'db' } };
  file('db.yaml', {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: { name: 'db', namespace: 'shop' },
    spec: { replicas: 2, selector, template },
  });
  const { addresses } = await planned('-f', join(directory, 'db.yaml'));
  assert.deepEqual(
    addresses.map(({ object }) => object),
    ['Pod shop/db-0', 'Pod shop/db-1'],
  );
  writeFileSync(join(directory, 'broken.txt'), 'a: [');
  for (const [args, why] of [
    [['-f', join(directory, 'none.yaml')], /none\.yaml cannot be read/],
    [['-f', join(directory, 'broken.txt')], /broken\.txt is not YAML/],
    [[], /required option '-f, --filename <path>'|-f is missing/],
  ] as const) {
    const { exit, err } = await scene.kiln('plan', ...args);
    assert.equal(exit, 2, err);
    assert.match(err, why);
  }
});
