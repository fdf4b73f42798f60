import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AttachedNetwork } from './annotation-keys.ts';
import { keysForTemplate, mayHaveUnreadKeys, unreadKeys } from './annotation-keys.ts';
import { AGENT_ANNOTATIONS, POD_ANNOTATIONS } from '../annotations.ts';
import { annotationKey } from '../well-known.ts';

const ATTACHED: readonly AttachedNetwork[] = [
  { network: 'nb.z2', providers: ['nb.z2.ovn'], interfaces: [] },
  { network: 'twice.z2', providers: ['twice.z2.ovn.net1', 'twice.z2.ovn.net2'], interfaces: ['net1', 'net2'] },
  { network: 'mac.z2', providers: ['mac.z2'], interfaces: [] },
  { network: 'other.z2', providers: [], interfaces: [] },
];

function rules(kind: string, keys: readonly string[], networks: readonly AttachedNetwork[] = []): string[] {
  const annotations = Object.fromEntries(keys.map((key) => [key, 'x']));
  const found = unreadKeys(kind, annotations, networks);
  if (found.length > 0) assert.ok(mayHaveUnreadKeys(kind, annotations), 'the cheap test misses none');
  return found.map(({ key, rule }) => `${key}: ${rule}`);
}

test('every key of the contract is read on a pod, for its own interface and for those of its networks', () => {
  const own = [...Object.keys(POD_ANNOTATIONS), ...Object.keys(AGENT_ANNOTATIONS)].map((suffix) => `ovn.kubernetes.io/${suffix}`);
  assert.deepEqual(rules('Pod', [...own, ...Object.values(annotationKey)]), []);
  const ofNetworks = ['nb.z2.ovn', 'twice.z2.ovn.net2', 'mac.z2'].flatMap((provider) =>
    Object.keys(POD_ANNOTATIONS).map((suffix) => `${provider}.kubernetes.io/${suffix}`),
  );
  assert.deepEqual(
    rules('Pod', [...ofNetworks, 'twice.z2.kubernetes.io/ip_address.net1', 'twice.z2.kubernetes.io/mac_address.net2'], ATTACHED),
    [],
  );
});

test('keys of other groups do not belong to Kiln', () => {
  const others = [
    ...['app.kubernetes.io/name', 'kubectl.kubernetes.io/restartedAt', 'pod-security.kubernetes.io/enforce', 'kubernetes.io/config.seen'],
    ...['container.apparmor.security.beta.kubernetes.io/web', 'nginx.ingress.kubernetes.io/limit', 'k8s.v1.cni.cncf.io/network-status'],
    ...['k8s.ovn.org/pod-networks', 'a.provider-network.kubernetes.io/err_mesg', 'kubevirt.io/domain', 'plain'],
  ];
  for (const kind of ['Pod', 'Node', 'Namespace', 'Subnet']) assert.deepEqual(rules(kind, others, ATTACHED), []);
});

test('a key that no program reads is reported with the nearest one that is read', () => {
  assert.deepEqual(rules('Pod', ['ovn.kubernetes.io/ip_adress', 'ovn.kubernetes.io/logical-switch', 'kubeovn.io/ip_pool', 'kiln.io/aap']), [
    'kiln.io/aap: the nearest key that is read is ovn.kubernetes.io/aaps',
    'kubeovn.io/ip_pool: the nearest key that is read is ovn.kubernetes.io/ip_pool',
    'ovn.kubernetes.io/ip_adress: the nearest key that is read is ovn.kubernetes.io/ip_address',
    'ovn.kubernetes.io/logical-switch: the nearest key that is read is ovn.kubernetes.io/logical_switch',
  ]);
  assert.deepEqual(rules('Namespace', ['kiln.io/misboud', 'kiln.io/lease', 'kiln.io/misbound', 'ovn.kubernetes.io/exlude_ips']), [
    'kiln.io/lease: it is read on IP, Vip, OvnEip, IptablesEIP',
    'kiln.io/misboud: the nearest key that is read is kiln.io/misbound',
    'ovn.kubernetes.io/exlude_ips: no key that is read is near to it: docs/reference.md lists them all',
  ]);
  assert.deepEqual(rules('Pod', ['ovn.kubernetes.io/whatever']), [
    'ovn.kubernetes.io/whatever: no key that is read is near to it: docs/reference.md lists them all',
  ]);
});

test('the hint names only keys that a user may write on the kind: what Kiln writes there is none', () => {
  const near = (kind: string, name: string): string =>
    rules(kind, [`ovn.kubernetes.io/${name}`])[0]?.replace(`ovn.kubernetes.io/${name}: `, '') ?? '';
  const onPods = 'it is read on pods: write it on the pod, or into the template of its workload';
  assert.equal(near('Namespace', 'ip_pol'), `the nearest key is ovn.kubernetes.io/ip_pool: ${onPods}`);
  assert.equal(near('Namespace', 'logical-switch'), `the nearest key is ovn.kubernetes.io/logical_switch: ${onPods}`);
  assert.equal(near('Node', 'ip_adress'), `the nearest key is ovn.kubernetes.io/ip_address: ${onPods}`);
  assert.equal(near('Subnet', 'vpc_bl'), 'the nearest key is ovn.kubernetes.io/vpc_lb: it is read on a Vpc');
  assert.equal(near('Vpc', 'vpc_bl'), 'the nearest key that is read is ovn.kubernetes.io/vpc_lb');
  assert.equal(near('Subnet', 'bpg'), 'the nearest key that is read is ovn.kubernetes.io/bgp');
  assert.equal(near('Node', 'tunnel_interfac'), 'no key that is read is near to it: docs/reference.md lists them all');
  assert.equal(near('Pod', 'alocated'), 'no key that is read is near to it: docs/reference.md lists them all');
  assert.equal(near('Pod', 'ip_pol'), 'the nearest key that is read is ovn.kubernetes.io/ip_pool');
});

test('a key of another kind is reported with the kind that reads it; what Kube-OVN or Kiln writes on a kind is read there', () => {
  const ofPods = ['ovn.kubernetes.io/ip_pool', 'ovn.kubernetes.io/vip', 'nb.z2.ovn.kubernetes.io/ip_address'];
  for (const kind of ['Vpc', 'Subnet', 'Node', 'IPPool', 'Vip', 'OvnEip', 'IP'])
    assert.deepEqual(
      rules(kind, ofPods),
      ofPods.toSorted().map((key) => `${key}: it is read on pods: write it on the pod, or into the template of its workload`),
      kind,
    );
  assert.deepEqual(rules('Namespace', ['ovn.kubernetes.io/vpc', 'ovn.kubernetes.io/vpc_lb']), [
    'ovn.kubernetes.io/vpc: it is read on a Service',
    'ovn.kubernetes.io/vpc_lb: it is read on a Vpc',
  ]);
  const written = (kind: string, suffixes: readonly string[]): void =>
    assert.deepEqual(
      rules(
        kind,
        suffixes.map((suffix) => `ovn.kubernetes.io/${suffix}`),
      ),
      [],
      kind,
    );
  written('Node', [
    'allocated',
    'cidr',
    'gateway',
    'ip_address',
    'logical_switch',
    'mac_address',
    'port_name',
    'chassis',
    'tunnel_interface',
  ]);
  written('Namespace', ['logical_switch', 'cidr', 'exclude_ips', 'ip_pool']);
  written('Subnet', ['bgp']);
  written('Vpc', ['vpc_lb']);
  written('OvnEip', ['vpc_nat']);
});

test('of a key for another network: the network and the plugin decide what is read', () => {
  assert.deepEqual(
    rules(
      'Pod',
      [
        ...['nb.z2.kubernetes.io/ip_address', 'nb.z2.ovn.kubernetes.io/ip_adress', 'bn.z2.ovn.kubernetes.io/ip_address'],
        ...['mac.z2.ovn.kubernetes.io/ip_address', 'other.z2.ovn.kubernetes.io/ip_address', 'twice.z2.kubernetes.io/ip_address.net3'],
        'elsewhere.far.ovn.kubernetes.io/mac_address',
      ],
      ATTACHED,
    ),
    [
      'bn.z2.ovn.kubernetes.io/ip_address: the nearest key that is read is nb.z2.ovn.kubernetes.io/ip_address',
      'elsewhere.far.ovn.kubernetes.io/mac_address: the pod attaches no such network, but nb.z2, twice.z2, mac.z2, other.z2',
      'mac.z2.ovn.kubernetes.io/ip_address: the nearest key that is read is mac.z2.kubernetes.io/ip_address',
      'nb.z2.kubernetes.io/ip_address: the nearest key that is read is nb.z2.ovn.kubernetes.io/ip_address',
      'nb.z2.ovn.kubernetes.io/ip_adress: the nearest key that is read is nb.z2.ovn.kubernetes.io/ip_address',
      'other.z2.ovn.kubernetes.io/ip_address: another plugin provides network other.z2',
      'twice.z2.kubernetes.io/ip_address.net3: the nearest key that is read is twice.z2.kubernetes.io/ip_address.net1',
    ],
  );
  assert.deepEqual(rules('Pod', ['nb.z2.kubernetes.io/ip_address']), [
    'nb.z2.kubernetes.io/ip_address: the pod attaches no network; its own interface reads ovn.kubernetes.io/ip_address',
  ]);
});

test('a NetworkAttachmentDefinition has no annotation that is read; a workload has those of its template alone', () => {
  const own = {
    'ovn.kubernetes.io/ip_pool': 'p',
    'nb.z2.ovn.kubernetes.io/ip_pool': 'p',
    'ovn.kubernetes.io/vpc_nat_gw': 'g',
    'ovn.kubernetes.io/routed': 'true',
  };
  assert.equal(rules('NetworkAttachmentDefinition', ['ovn.kubernetes.io/logical_switch', 'kiln.io/conditions']).length, 1);
  assert.deepEqual(
    keysForTemplate(own).map(({ key }) => key),
    ['nb.z2.ovn.kubernetes.io/ip_pool', 'ovn.kubernetes.io/ip_pool'],
  );
  assert.deepEqual(keysForTemplate(own, own), []);
});

test('of thousands of keys ten are checked', () => {
  const keys = Array.from({ length: 5_000 }, (_, i) => `ovn.kubernetes.io/key-${String(i).padStart(4, '0')}-${'x'.repeat(40)}`);
  const began = process.cpuUsage().user;
  assert.equal(rules('Pod', keys).length, 10);
  assert.ok(process.cpuUsage().user - began < 500_000);
});
