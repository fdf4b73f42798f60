import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';
import type { NatSceneOptions } from '../../testing/nat-scene.ts';
import type { PlainRow } from '../../testing/rule-bench.ts';

const EIP = 'ovn.kubernetes.io/eip';
const SNAT = 'ovn.kubernetes.io/snat';

/** The default Vpc is connected to Subnet `external`. */
function scene(options: NatSceneOptions = {}): NatScene {
  const made = new NatScene(options);
  made.bench.put('configmaps', {
    metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' },
    spec: { 'external-gw-nodes': 'gw1' },
  });
  made.bench.converge();
  made.bench.delete('vpcs', 'blue');
  made.bench.delete('subnets', 'inside');
  made.pods.namespace('bank');
  made.bench.converge();
  return made;
}

function pod(made: NatScene, name: string, annotations: Readonly<Record<string, string>>, namespace = 'bank'): void {
  const before = made.bench.object('pods', `${namespace}/${name}`)?.metadata.annotations ?? {};
  const kept = Object.fromEntries(Object.entries(before).filter(([key]) => key !== EIP && key !== SNAT));
  made.pods.pod(name, { namespace, annotations: { ...kept, ...annotations } });
  made.bench.converge();
}

const nats = ({ bench }: NatScene): readonly string[] =>
  bench
    .rows('NAT')
    .map((row: PlainRow) =>
      [row['type'], row['external_ip'], row['logical_ip'], row['logical_port'] ?? '-', JSON.stringify(row['options'])].join(' '),
    )
    .toSorted();
const inner = ({ bench }: NatScene, key: string): string =>
  bench.object('pods', key)?.metadata.annotations?.['ovn.kubernetes.io/ip_address'] ?? '';
const said = ({ bench }: NatScene, key: string): string => {
  const { status, reason, message } = bench.condition('pods', key, 'kiln.io/Translated') ?? {};
  return [status, reason, message].join(' ');
};

test('C70 annotations eip and snat make the rows of Kube-OVN; an edit of the default Vpc leaves them, and they go with the pod', () => {
  const made = scene();
  const { bench } = made;
  pod(made, 'web', { [EIP]: '172.20.0.50' });
  pod(made, 'job', { [SNAT]: '172.20.0.60' });
  pod(made, 'job2', { [SNAT]: '172.20.0.60' });
  const [web, job, job2] = ['bank/web', 'bank/job', 'bank/job2'].map((key) => inner(made, key));
  assert.deepEqual(nats(made), [`dnat_and_snat 172.20.0.50 ${web} - {}`, `snat 172.20.0.60 ${job} - {}`, `snat 172.20.0.60 ${job2} - {}`]);
  const policies = (): readonly unknown[] =>
    bench
      .rows('Logical_Router_Policy')
      .filter(({ priority }) => priority === 29_250)
      .map(({ match, action, nexthops }) => [match, action, nexthops]);
  assert.deepEqual(
    policies(),
    [web, job, job2].map((address) => [`ip4.src == ${address}`, 'reroute', ['172.20.0.1']]),
  );
  assert.equal(said(made, 'bank/web'), 'True Translated ');
  assert.equal(bench.object('subnets', 'external')?.status?.['v4usingIPrange'], '172.20.0.3,172.20.0.50,172.20.0.60');
  assert.equal(bench.writesAfterRestart(), 0);
  bench.put('vpcs', { metadata: { name: 'ovn-cluster', annotations: { note: 'x' } } });
  const before = [nats(made), policies()];
  bench.edit('vpcs', 'ovn-cluster', { staticRoutes: [{ cidr: '10.99.0.0/16', nextHopIP: '10.16.0.9', policy: 'policyDst' }] });
  bench.converge();
  assert.deepEqual([nats(made), policies()], before);
  for (const name of ['web', 'job', 'job2']) bench.delete('pods', `bank/${name}`);
  bench.converge();
  assert.deepEqual([nats(made), policies()], [[], []]);
  assert.equal(bench.object('subnets', 'external')?.status?.['v4usingIPrange'], '172.20.0.3');
});

test('an edit moves the address; both annotations with one address need one row; without them nothing remains', () => {
  const made = scene();
  pod(made, 'web', { [EIP]: '172.20.0.50', [SNAT]: '172.20.0.50' });
  const web = inner(made, 'bank/web');
  assert.deepEqual(nats(made), [`dnat_and_snat 172.20.0.50 ${web} - {}`]);
  pod(made, 'web', { [EIP]: '172.20.0.51', [SNAT]: '172.20.0.60' });
  assert.deepEqual(nats(made), [`dnat_and_snat 172.20.0.51 ${web} - {}`, `snat 172.20.0.60 ${web} - {}`]);
  pod(made, 'web', {});
  assert.deepEqual(nats(made), []);
  assert.equal(made.bench.condition('pods', 'bank/web', 'kiln.io/Translated'), undefined);
  assert.equal(made.bench.object('subnets', 'external')?.status?.['v4usingIPrange'], '172.20.0.3');
});

test('type distributed gives the row the port and the MAC of the pod', () => {
  const made = scene();
  made.bench.put('configmaps', { metadata: { name: 'ovn-external-gw-config', namespace: 'kube-system' }, spec: { type: 'distributed' } });
  pod(made, 'web', { [EIP]: '172.20.0.50' });
  assert.deepEqual(nats(made), [`dnat_and_snat 172.20.0.50 ${inner(made, 'bank/web')} web.bank {"stateless":"true"}`]);
  assert.equal(
    made.bench.rows('NAT')[0]?.['external_mac'],
    made.bench.object('pods', 'bank/web')?.metadata.annotations?.['ovn.kubernetes.io/mac_address'],
  );
});

test('a tenant takes no address that another one has: of an OvnEip, of a pod, of the router, of the gateway', () => {
  const made = scene();
  const { bench } = made;
  made.eip('victim', { v4Ip: '172.20.0.70' });
  pod(made, 'owner', { [EIP]: '172.20.0.50' });
  const rows = nats(made);
  for (const key of [EIP, SNAT]) {
    for (const [address, why] of [
      ['172.20.0.70', /AddressConflict .*OvnEip victim/],
      ['172.20.0.50', /AddressConflict/],
      ['172.20.0.3', /AddressConflict .*ovn-cluster-external/],
      ['172.20.0.1', /gateway/],
      ['172.21.0.1', /AddressOutOfRange .* is in no external network of Vpc ovn-cluster/],
      ['nonsense', /PodNatInvalid/],
    ] as const) {
      pod(made, 'thief', { [key]: address }, 'shop');
      assert.match(said(made, 'shop/thief'), /^False /);
      assert.match(said(made, 'shop/thief'), why);
      assert.deepEqual(nats(made), rows);
    }
  }
  // As soon as the cause is gone.
  pod(made, 'thief', { [EIP]: '172.20.0.70' }, 'shop');
  bench.delete('ovn-eips', 'victim');
  bench.converge();
  assert.equal(said(made, 'shop/thief'), 'True Translated ');
  // An OvnEip that comes later does not get it, and a restart changes nothing.
  made.eip('late', { v4Ip: '172.20.0.70' });
  assert.equal(bench.condition('ovn-eips', 'late', 'Accepted')?.reason, 'AddressConflict');
  const after = bench.restarted();
  assert.deepEqual(after.rowIds('NAT'), bench.rowIds('NAT'));
  assert.equal(bench.writesAfterRestart(), 0);
});

test('with tenancy namespaced an administrator admits the namespace to the external Subnet', () => {
  const made = scene({ settings: { tenancy: 'namespaced' } });
  pod(made, 'web', { [EIP]: '172.20.0.50' });
  assert.match(said(made, 'bank/web'), /^False NamespaceNotAdmitted .*Subnet external does not admit Namespace bank/);
  assert.deepEqual(nats(made), []);
  made.bench.put('subnets', { metadata: { name: 'external', annotations: { 'kiln.io/admit-namespaces': 'bank' } } });
  made.bench.converge();
  assert.equal(said(made, 'bank/web'), 'True Translated ');
  pod(made, 'web', { [SNAT]: '172.20.0.60' });
  made.bench.put('subnets', { metadata: { name: 'external', annotations: { 'kiln.io/admit-namespaces': 'bank,shop' } } });
  pod(made, 'other', { [SNAT]: '172.20.0.60' }, 'shop');
  assert.match(said(made, 'shop/other'), /^False AddressConflict/);
});

test('an OvnFip and the annotation of a pod: the rule has precedence, also if it is younger, and the pod says so', () => {
  const made = scene();
  const { bench } = made;
  pod(made, 'web', { [SNAT]: '172.20.0.60' });
  pod(made, 'api', {});
  made.eip('out', { v4Ip: '172.20.0.80' });
  made.put('ovn-snat-rules', 'rule', { ovnEip: 'out', vpc: 'ovn-cluster', v4IpCidr: inner(made, 'bank/web') });
  assert.match(said(made, 'bank/web'), /^False NatConflict .*OvnSnatRule rule translates the same/);
  assert.deepEqual(nats(made), [`snat 172.20.0.80 ${inner(made, 'bank/web')} - {}`]);
  assert.match(
    bench.condition('ovn-snat-rules', 'rule', 'NatConflict')?.message ?? '',
    /Pod bank\/web \(annotation ovn\.kubernetes\.io\/snat\)/,
  );
  bench.delete('ovn-snat-rules', 'rule');
  bench.converge();
  assert.deepEqual(nats(made), [`snat 172.20.0.60 ${inner(made, 'bank/web')} - {}`]);
});

test('without a gateway, in another Vpc, and with --enable-eip-snat=false there are no rows, and the pod says why', () => {
  const made = scene();
  const { bench } = made;
  bench.put('vpcs', { metadata: { name: 'blue' }, spec: {} });
  made.pods.subnet('inside', { cidrBlock: '10.5.0.0/24', vpc: 'blue', namespaces: ['shop'] });
  bench.converge();
  pod(made, 'there', { [EIP]: '172.20.0.50' }, 'shop');
  assert.match(said(made, 'shop/there'), /^False NatVpcInvalid .*is on a pod of Vpc blue/);
  pod(made, 'web', { [EIP]: '172.20.0.51' });
  bench.delete('configmaps', 'kube-system/ovn-external-gw-config');
  bench.converge();
  assert.match(said(made, 'bank/web'), /^False VpcNotConnected/);
  // The port's address waits for the ConfigMap to come back.
  assert.deepEqual([nats(made), bench.object('subnets', 'external')?.status?.['v4usingIPrange']], [[], '172.20.0.3']);
  bench.passTo(Date.parse('2026-02-01T00:00:00Z'));
  assert.equal(bench.object('subnets', 'external')?.status?.['v4usingIPrange'], '');
  const off = scene({ settings: { enableEipSnat: false } });
  off.bench.edit('vpcs', 'ovn-cluster', { enableExternal: true });
  pod(off, 'web', { [EIP]: '172.20.0.51' });
  assert.deepEqual(nats(off), []);
  assert.match(said(off, 'bank/web'), /^False EipSnatOff/);
  pod(off, 'web', { [EIP]: 'nonsense' });
  assert.deepEqual(nats(off), []);
  pod(made, 'web', { [EIP]: 'nonsense' });
  assert.match(said(made, 'bank/web'), /^False PodNatInvalid/);
});

test('the address of an annotation that a row of another program translates is a conflict, also for a pod that has it', () => {
  const made = scene();
  const { bench } = made;
  const [router] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'ovn-cluster') ?? assert.fail();
  const uuid = 'a0000000-0000-4000-8000-0000000000f1';
  const add = (): void => {
    const columns = {
      type: 'dnat_and_snat',
      external_ip: '172.20.0.50',
      logical_ip: '10.16.0.66',
      external_ids: new Map([['owner', 'me']]),
    };
    bench.foreignRow('NAT', uuid, columns, { table: 'Logical_Router', uuid: router, column: 'nat' });
    bench.converge();
  };
  add();
  pod(made, 'web', { [EIP]: '172.20.0.50' });
  pod(made, 'job', { [SNAT]: '172.20.0.50' });
  for (const key of ['bank/web', 'bank/job']) assert.match(said(made, key), /^False (RowConflict|AddressConflict) /);
  assert.match(said(made, 'bank/web'), /NAT row dnat_and_snat 172\.20\.0\.50 .* belongs to another program/);
  assert.equal(nats(made).length, 1);
  bench.removeForeignRow('NAT', uuid);
  bench.converge();
  assert.match(said(made, 'bank/web'), /^True/);
  add();
  assert.match(said(made, 'bank/web'), /^False RowConflict/);
  assert.equal(nats(made).length, 2);
  assert.equal(bench.writesAfterRestart(), 0);
});
