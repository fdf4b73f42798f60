/** Dangling references: reported once, then no write at all, counted at the API server; once the named object exists, they work. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { KubeObject } from '../../src/kube/resource.ts';
import { Ground, resourceOf } from './ground.ts';
import type { Manifest } from './manifests.ts';

/** Writes of the controller about one object at first, Events included: finalizer, defaults, status, an Event or two. */
const MOST_WRITES = 6;
/** How long there must be no write after that. */
const STILL_MS = 40_000;

let ground: Ground;
before(async () => {
  ground = await Ground.start();
});
after(() => ground.stop());

interface Dangling {
  readonly object: Manifest;
  /** What the object's conditions or Events report; undefined if nothing needs to be reported, as it works as it is. */
  readonly says: RegExp | undefined;
}

const kubeovn = (kind: string, name: string, spec: object, annotations = {}): Manifest => ({
  apiVersion: 'kubeovn.io/v1',
  kind,
  metadata: { name, annotations },
  spec,
});

const pod = (name: string, annotations: Readonly<Record<string, string>>, nodeName = 'n1'): Manifest => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'ground', annotations },
  spec: { nodeName, terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox' }] },
});

const networks = (name: string): Readonly<Record<string, string>> => ({ 'k8s.v1.cni.cncf.io/networks': name });

const DANGLING: readonly Dangling[] = [
  {
    object: kubeovn('Subnet', 'd-vpc', { vpc: 'd-none', cidrBlock: '10.230.0.0/24' }),
    says: /spec\.vpc "d-none" names a Vpc that does not exist/,
  },
  {
    object: kubeovn('Subnet', 'd-node', {
      vpc: 'ovn-cluster',
      cidrBlock: '10.231.0.0/24',
      gatewayType: 'centralized',
      gatewayNode: 'd-none',
    }),
    says: /gatewayNode "d-none" gives no gateway: d-none does not exist/,
  },
  {
    object: kubeovn('Subnet', 'd-ns', { vpc: 'ground', cidrBlock: '10.232.0.0/24', namespaces: ['d-none'] }),
    says: /namespaces\[0\] "d-none" does not exist/,
  },
  { object: kubeovn('IP', 'd-ip.ground', { subnet: 'd-net', podName: 'd-ip', namespace: 'ground' }), says: /Subnet|subnet.*"?d-net"?/ },
  { object: kubeovn('IPPool', 'd-pool', { subnet: 'd-net', ips: ['10.233.0.20..10.233.0.30'] }), says: /d-net/ },
  { object: kubeovn('Vip', 'd-vip', { subnet: 'd-net' }), says: /d-net/ },
  { object: kubeovn('OvnEip', 'd-eip', { externalSubnet: 'd-net', type: 'nat' }), says: /d-net/ },
  { object: kubeovn('IptablesEIP', 'd-ieip', { externalSubnet: 'd-net', natGwDp: 'd-none' }), says: /d-net/ },
  { object: kubeovn('Vpc', 'd-peer', { vpcPeerings: [{ remoteVpc: 'd-none', localConnectIP: '169.254.1.1/30' }] }), says: undefined },
  { object: pod('d-switch', { 'ovn.kubernetes.io/logical_switch': 'd-net' }), says: /d-net/ },
  { object: pod('d-pooled', { 'ovn.kubernetes.io/ip_pool': 'd-pool' }), says: /d-net/ },
  { object: pod('d-unpooled', { 'ovn.kubernetes.io/ip_pool': 'd-other' }), says: /d-other/ },
  { object: pod('d-nad', networks('d-none')), says: /ground\/d-none.*does not exist/ },
  { object: pod('d-broken', networks('d-json')), says: /ground\/d-json.*spec\.config/ },
  { object: pod('d-nowhere', {}, 'd-none'), says: undefined },
  { object: pod('d-unlabelled', {}, `${'long-'.repeat(13)}node`), says: undefined },
  {
    object: {
      apiVersion: 'v1',
      kind: 'Namespace',
      metadata: { name: 'd-space', annotations: { 'ovn.kubernetes.io/logical_switch': 'd-net', 'ovn.kubernetes.io/ip_pool': 'd-none' } },
    },
    says: undefined,
  },
  {
    object: {
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'd-json', namespace: 'ground' },
      spec: { config: '{"cniVersion":' },
    },
    says: /spec\.config "\{"cniVersion":" is not JSON/,
  },
];

interface Condition {
  readonly type: string;
  readonly status: string;
  readonly message?: string;
}

type Seen = KubeObject & {
  readonly metadata: { readonly annotations?: Readonly<Record<string, string>> };
  readonly status?: { readonly conditions?: readonly Condition[] };
};

/** For a kind without a status of its own, Kiln keeps the conditions in an annotation. */
async function conditions({ kind, metadata }: Manifest): Promise<readonly Condition[]> {
  const seen = await ground.client.get<Seen>(resourceOf(kind), metadata);
  const noted = JSON.parse(seen.metadata.annotations?.['kiln.io/conditions'] ?? '[]') as readonly Condition[];
  return [...(seen.status?.conditions ?? []), ...noted];
}

interface SeenEvent extends KubeObject {
  readonly involvedObject: { readonly kind: string; readonly namespace?: string; readonly name: string };
}

const nameOf = ({ kind, namespace = '', name }: { kind: string; namespace?: string; name: string }): string =>
  `${kind} ${namespace}/${name}`;

/** All writes of the controller since the last call, counted by the object they are about. */
async function writesByObject(knownEvents: Set<string>): Promise<ReadonlyMap<string, number>> {
  const counts = new Map<string, number>();
  const add = (object: string, writes: number): void => void counts.set(object, (counts.get(object) ?? 0) + writes);
  const events = await ground.client.listAll<SeenEvent>(resourceOf('Event'));
  const about = new Map(events.map(({ metadata, involvedObject }) => [metadata.name, nameOf(involvedObject)]));
  let [created, posted] = [0, 0];
  for (const [name, object] of about) {
    if (knownEvents.has(name)) continue;
    knownEvents.add(name);
    created++;
    add(object, 1);
  }
  for (const [path, writes] of ground.takeWrites()) {
    const [, namespace = '', plural = '', name = ''] =
      /(?:\/namespaces\/([^/]+))?\/([^/]+)\/([^/]+?)(?:\/status)?$/.exec(decodeURIComponent(path)) ?? [];
    if (path.endsWith('/events')) posted += writes;
    else if (KIND_OF.has(name)) add(`new ${name}`, writes);
    else if (plural === 'events') add(about.get(name) ?? path, writes);
    else add(nameOf({ kind: KIND_OF.get(plural) ?? path, namespace, name }), writes);
  }
  // An object whose creation was answered with an error may exist all the same.
  assert.ok(posted >= created && posted <= created + 2, `${posted} Events were sent, ${created} are there`);
  return counts;
}

const KIND_OF: ReadonlyMap<string, string> = new Map(
  ['Vpc', 'Subnet', 'IP', 'IPPool', 'Vip', 'OvnEip', 'IptablesEIP', 'Pod', 'Namespace', 'Node', 'NetworkAttachmentDefinition'].map(
    (kind) => [resourceOf(kind).plural, kind],
  ),
);

test('dangling references: a few writes for each object, then none, and all work once the referenced objects exist', async (t) => {
  const knownEvents = new Set((await ground.client.listAll(resourceOf('Event'))).map(({ metadata }) => metadata.name));
  ground.takeWrites();
  for (const { object } of DANGLING) await ground.create(object);
  await ground.quiet('the references to nothing came');
  await ground.writesNothing();
  const first = await writesByObject(knownEvents);
  for (const { object, says } of DANGLING) {
    const unmet = (await conditions(object))
      .filter(({ type, status }) => (status === 'True') === (type === 'WithoutEffect'))
      .map(({ message = '' }) => message);
    if (says !== undefined)
      assert.ok(
        unmet.some((message) => says.test(message)),
        `${object.kind} ${object.metadata.name} says: ${unmet.join(' | ')}`,
      );
  }
  for (const [object, writes] of first)
    assert.ok(object === 'new ips' ? writes === 2 : writes <= MOST_WRITES, `${writes} writes about ${object}`);
  t.diagnostic(
    `at most ${Math.max(...first.values())} writes about one object; ${[...first].map(([object, writes]) => `${object}: ${writes}`).join(', ')}`,
  );
  await sleep(STILL_MS);
  assert.deepEqual([...(await writesByObject(knownEvents))], [], 'it goes on writing');
  assert.deepEqual(ground.errors, []);

  await ground.serves('beside');
  const missing = [
    kubeovn('Vpc', 'd-none', {}),
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'd-none' } },
    kubeovn('Subnet', 'd-net', { vpc: 'ground', cidrBlock: '10.233.0.0/16' }),
    kubeovn('Subnet', 'd-attached', { vpc: 'ground', cidrBlock: '10.234.0.0/24', provider: 'd-none.ground.ovn' }),
    kubeovn('IPPool', 'd-other', { subnet: 'ground-net', ips: ['10.200.9.1..10.200.9.9'] }),
    {
      apiVersion: 'k8s.cni.cncf.io/v1',
      kind: 'NetworkAttachmentDefinition',
      metadata: { name: 'd-none', namespace: 'ground' },
      spec: { config: '{"cniVersion":"0.3.0","type":"kube-ovn","provider":"ground.ground.ovn"}' },
    },
  ];
  for (const object of missing) await ground.create(object);
  const config = '{"cniVersion":"0.3.0","type":"macvlan"}';
  await ground.client.mergePatch(resourceOf('NetworkAttachmentDefinition'), { name: 'd-json', namespace: 'ground' }, { spec: { config } });
  await ground.client.mergePatch(resourceOf('Subnet'), { name: 'd-node' }, { spec: { gatewayNode: 'n1' } });
  await ground.quiet('what was named is there');
  for (const { object, says } of DANGLING) {
    if (says === undefined) continue;
    const left = (await conditions(object)).map(({ message = '' }) => message).filter((message) => says.test(message));
    assert.deepEqual(left, [], `${object.kind} ${object.metadata.name}`);
  }
  for (const name of ['d-switch', 'd-pooled', 'd-unpooled', 'd-nad', 'd-broken', 'd-nowhere', 'd-unlabelled']) {
    const { metadata } = await ground.client.get<Seen>(resourceOf('Pod'), { name, namespace: 'ground' });
    assert.equal(metadata.annotations?.['ovn.kubernetes.io/allocated'], 'true', name);
  }
  await ground.clear([...DANGLING.map(({ object }) => object).toReversed(), ...missing]);
});
