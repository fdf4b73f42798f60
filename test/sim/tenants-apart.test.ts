import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kilnAnnotation, POD_CONDITION } from '../../src/api/well-known.ts';
import type { KubeObject } from '../../src/lab/apiserver/object.ts';
import { ObjectStore } from '../../src/lab/apiserver/store.ts';
import { draw } from './life.ts';
import { TenantsApart } from './tenants-apart.ts';

interface Given {
  readonly subnet?: object;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly vpc?: object;
  /** What the Subnet becomes before the rest. */
  readonly later?: object;
  readonly security?: string;
  readonly addresses?: readonly string[];
}

/** What is found of a pod of Namespace shop that has a port in Subnet net. */
function foundOf({
  subnet = {},
  annotations = {},
  vpc = {},
  later,
  security = '0a 10.0.0.2',
  addresses = ['0a 10.0.0.2'],
}: Given): readonly string[] {
  const store = new ObjectStore(100);
  const apart = new TenantsApart(store);
  const put = (table: string, name: string, object: object): void =>
    void store.put(table, name, {
      ...object,
      metadata: { name, uid: name, annotations: {}, ...(object as Partial<KubeObject>).metadata },
    } as KubeObject);
  put('namespaces', 'shop', {});
  put('vpcs.kubeovn.io', 'red', { spec: vpc });
  const metadata = { name: 'net', uid: 'net', annotations };
  put('subnets.kubeovn.io', 'net', { metadata, spec: { vpc: 'red', ...subnet } });
  if (later !== undefined) put('subnets.kubeovn.io', 'net', { metadata, spec: { vpc: 'red', ...later } });
  const row = {
    name: 'web.shop',
    addresses: new Set(addresses),
    port_security: new Set(security === '' ? [] : [security]),
    external_ids: new Map([
      ['kiln.io/owner', 'pod/shop/web'],
      ['ls', 'net'],
    ]),
  };
  return apart.judge([row]).map(({ message }) => message);
}

test('a port in a Subnet that never admitted the namespace is found, and one that it admitted once is not', () => {
  assert.deepEqual(foundOf({}), []);
  assert.deepEqual(foundOf({ subnet: { namespaces: ['shop'] } }), []);
  assert.deepEqual(foundOf({ subnet: { namespaces: ['other'] }, annotations: { [kilnAnnotation.admitNamespaces]: 'shop' } }), []);
  assert.deepEqual(foundOf({ subnet: { namespaces: ['shop'] }, later: { namespaces: ['other'] } }), []);
  for (const given of [
    { subnet: { namespaces: ['other'] } },
    { subnet: { namespaceSelectors: [{ matchLabels: { a: 'b' } }] } },
    { vpc: { namespaces: ['other'] } },
  ])
    assert.match(foundOf(given).join(), /never admitted Namespace shop/, JSON.stringify(given));
});

test('a port that sends from any address, or takes any frame, is found', () => {
  assert.match(foundOf({ security: '' }).join(), /sends from any address/);
  assert.match(foundOf({ addresses: ['0a 10.0.0.2', 'unknown'] }).join(), /takes any frame/);
});

test('a pod that is told of a Subnet which admits it is found', () => {
  const store = new ObjectStore(100);
  const apart = new TenantsApart(store);
  const message = 'Pod shop/web: Subnet net does not admit Namespace shop: it lists others';
  const conditions = [{ type: POD_CONDITION, status: 'False', reason: 'NamespaceNotAdmitted', message }];
  for (const [table, key, object] of [
    ['namespaces', 'shop', { metadata: { name: 'shop', uid: 'shop' } }],
    ['subnets.kubeovn.io', 'net', { metadata: { name: 'net', uid: 'net' }, spec: { namespaces: ['shop'] } }],
    ['pods', 'shop/web', { metadata: { name: 'web', namespace: 'shop', uid: 'web' }, status: { conditions } }],
  ] as const)
    store.put(table, key, object as unknown as KubeObject);
  assert.match(apart.judge([])[0]?.message ?? '', /and it does$/);
  assert.equal(apart.isRefused('shop/web'), true);
});

test('lives with the setting come to rest with tenants apart, and are done again to the same end', async () => {
  const [life, again] = [await draw(101, 150, { tenancy: 'namespaced' }), await draw(101, 150, { tenancy: 'namespaced' })];
  assert.deepEqual(
    life.findings.filter(({ kind }) => kind.startsWith('tenancy')),
    [],
  );
  assert.equal(life.history.tenancy, 'namespaced');
  assert.equal(again.hash, life.hash);
});
