import assert from 'node:assert/strict';
import { test } from 'node:test';
import { PodScene } from '../../testing/pod-scene.ts';

const BOUND = 'kiln.io/NetworkBound';
const DENIED = 'admission webhook "policy.example.com" denied the request: no IP objects on Fridays';

function small(): PodScene {
  const scene = new PodScene();
  scene.subnet('s1', { cidrBlock: '10.90.0.0/29', namespaces: ['shop'], excludeIps: ['10.90.0.4..10.90.0.6'] });
  scene.bench.converge();
  return scene;
}

function boundText(scene: PodScene, pod = 'shop/web'): string {
  const { status, reason, message } = scene.bench.condition('pods', pod, BOUND) ?? {};
  return `${status} ${reason} ${message}`;
}

function counts(scene: PodScene): readonly unknown[] {
  const { status } = scene.bench.object('subnets', 's1') ?? {};
  return [Number(status?.['v4usingIPs']), Number(status?.['v4availableIPs'])];
}

test('the address of a rejected IP object is released and reported; another pod gets it; the pod binds when the policy is gone', () => {
  const scene = small();
  scene.bench.rejectsIp = (name) => (name === 'web.shop' ? DENIED : undefined);
  scene.pod('web');
  scene.bench.converge();
  assert.match(
    boundText(scene),
    /^False IPRefused Pod shop\/web: IP web\.shop cannot be created, the API server says: admission webhook "policy/,
  );
  assert.match(boundText(scene), /; it has no address, and .*; kubectl get validatingwebhookconfigurations/);
  assert.deepEqual(counts(scene), [0, 2]);
  assert.equal(scene.portAddresses('web.shop'), undefined);
  const { events } = scene.bench;
  assert.equal(events.filter(({ object, reason }) => object === 'pods/shop/web' && reason === 'IPRefused').length, 1);

  scene.pod('one');
  scene.pod('two');
  scene.bench.converge();
  assert.deepEqual([scene.addressOf('shop/one'), scene.addressOf('shop/two')], ['10.90.0.3', '10.90.0.2'], 'given back last in the queue');
  scene.bench.removeByForce('pods', 'shop/two');
  scene.bench.rejectsIp = () => undefined;
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/web'), undefined, 'it is in backoff');
  scene.bench.passTo(7_000);
  assert.equal(scene.addressOf('shop/web'), '10.90.0.2');
  assert.match(boundText(scene), /^True Bound/);
  assert.deepEqual(counts(scene), [2, 0]);
  assert.equal(scene.bench.world.rejectedWrites.size, 0);
});

test('missing rights are reported with the command that checks them', () => {
  const scene = small();
  const user = 'system:serviceaccount:kube-system:kiln-controller';
  scene.bench.rejectsIp = () => `ips.kubeovn.io is forbidden: User "${user}" cannot create resource "ips" in API group "kubeovn.io"`;
  scene.pod('web');
  scene.bench.converge();
  assert.match(boundText(scene), new RegExp(`; kubectl auth can-i create ips\\.kubeovn\\.io --as ${user}$`));
});

test('a fresh controller finds no reservation, tries once, and reports the same without another write', () => {
  const scene = small();
  scene.bench.rejectsIp = () => DENIED;
  scene.pod('web', { annotations: { 'ovn.kubernetes.io/ip_address': '10.90.0.3' } });
  scene.bench.converge();
  const before = boundText(scene);
  const fresh = scene.bench.restarted();
  let asked = 0;
  fresh.rejectsIp = () => {
    asked++;
    return DENIED;
  };
  fresh.converge();
  assert.equal(asked, 1);
  assert.equal(fresh.condition('pods', 'shop/web', BOUND)?.message, before.slice('False IPRefused '.length));
  assert.deepEqual([...fresh.world.reservations.keys()], ['node-n1']);
  assert.equal(Number(fresh.object('subnets', 's1')?.status?.['v4usingIPs']), 0);
});

test("a policy that keeps denying is tried a few times a minute, and the pod's message does not change", () => {
  const scene = small();
  const asked: number[] = [];
  let now = 0;
  scene.bench.rejectsIp = () => {
    asked.push(now);
    return DENIED;
  };
  scene.pod('web');
  scene.bench.converge();
  const first = boundText(scene);
  for (now = 1_000; now <= 600_000; now += 1_000) {
    scene.bench.passTo(now);
    assert.equal(boundText(scene), first);
  }
  for (const moment of asked) assert.ok(asked.filter((other) => other >= moment && other < moment + 60_000).length <= 5, asked.join());
  assert.ok(asked.length >= 10, `${asked.length} times in ten minutes`);
  assert.equal(scene.bench.events.filter(({ reason }) => reason === 'IPRefused').length, 1);
  assert.deepEqual([...scene.bench.world.reservations.keys()], ['node-n1']);
});

test('a pod of the same name with another uid is tried at once, as is the next pod of a StatefulSet', () => {
  const scene = small();
  scene.statefulSet('db', 1);
  scene.bench.rejectsIp = () => DENIED;
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.match(boundText(scene, 'shop/db-0'), /IPRefused/);
  scene.bench.rejectsIp = () => undefined;
  scene.bench.removeByForce('pods', 'shop/db-0');
  scene.pod('db-0', { statefulSet: 'db' });
  scene.bench.converge();
  assert.equal(scene.addressOf('shop/db-0'), '10.90.0.3', 'what was given back comes last');
});

test('while the IP object of one interface is rejected, no annotation of the other is written, and both come together', () => {
  const scene = small();
  scene.subnet('net1', { cidrBlock: '10.91.0.0/24', provider: 'net1.shop.ovn' });
  scene.attachment('shop/net1', 'kube-ovn');
  scene.bench.rejectsIp = (name) => (name === 'web.shop.net1.shop.ovn' ? DENIED : undefined);
  scene.pod('web', { annotations: { 'k8s.v1.cni.cncf.io/networks': 'net1' } });
  scene.bench.converge();
  assert.match(boundText(scene), /IPRefused .*IP web\.shop\.net1\.shop\.ovn cannot be created/);
  assert.equal(scene.addressOf('shop/web'), undefined);
  assert.equal(Number(scene.bench.object('subnets', 'net1')?.status?.['v4usingIPs']), 0);
  scene.bench.rejectsIp = () => undefined;
  scene.bench.passTo(7_000);
  assert.equal(scene.addressOf('shop/web'), '10.90.0.2');
  assert.equal(scene.annotations('shop/web')['net1.shop.ovn.kubernetes.io/ip_address'], '10.91.0.3');
});

test('a virtual machine with a rejected IP object binds when the policy is gone', () => {
  const scene = small();
  scene.machine('vm');
  scene.bench.rejectsIp = () => DENIED;
  scene.pod('virt-launcher-vm-1', { machine: 'vm' });
  scene.bench.converge();
  assert.match(boundText(scene, 'shop/virt-launcher-vm-1'), /IPRefused .*IP vm\.shop cannot be created/);
  assert.deepEqual(counts(scene), [0, 2]);
  scene.bench.rejectsIp = () => undefined;
  scene.bench.passTo(7_000);
  assert.equal(scene.addressOf('shop/virt-launcher-vm-1'), '10.90.0.3');
});

test('a running pod keeps address and port when its IP object was removed by force and is rejected; it reports that', () => {
  const scene = small();
  scene.pod('web');
  scene.bench.converge();
  const portAddresses = scene.portAddresses('web.shop');
  scene.bench.rejectsIp = () => DENIED;
  scene.bench.removeByForce('ips', 'web.shop');
  scene.bench.converge();
  assert.deepEqual(scene.portAddresses('web.shop'), portAddresses);
  assert.deepEqual(counts(scene), [1, 1]);
  const [event] = scene.bench.events.filter(({ reason }) => reason === 'IPRefused');
  assert.match(event?.message ?? '', /Pod shop\/web: IP web\.shop cannot be created.*it keeps its address/);
  scene.bench.rejectsIp = () => undefined;
  scene.bench.passTo(7_000);
  assert.equal(scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress'], '10.90.0.2');
});

test('a node with a rejected IP object reports it, holds nothing, and joins when the policy is gone', () => {
  const scene = new PodScene();
  scene.bench.rejectsIp = () => DENIED;
  scene.bench.put('nodes', { metadata: { name: 'n2' }, spec: {}, status: { addresses: [] } });
  scene.bench.converge();
  const using = (): number => Number(scene.bench.object('subnets', 'join')?.status?.['v4usingIPs']);
  assert.equal(using(), 1);
  const [event] = scene.bench.events.filter(({ object }) => object === 'nodes/n2');
  assert.match(event?.message ?? '', /^Node n2: IP node-n2 cannot be created, the API server says: admission webhook/);
  scene.bench.rejectsIp = () => undefined;
  scene.bench.passTo(7_000);
  assert.equal(scene.bench.object('nodes', 'n2')?.metadata.annotations?.['ovn.kubernetes.io/allocated'], 'true');
  assert.equal(using(), 2);
});

test("a user's IP object that a policy does not let Kiln complete: the pod reports it, the address is free; both bind when the policy is gone", () => {
  const scene = small();
  scene.bench.rejects = ({ verb, resource, name }) => (verb === 'patch' && resource === 'ips' && name === 'web.shop' ? DENIED : undefined);
  scene.bench.put('ips', { metadata: { name: 'web.shop' }, spec: { subnet: 's1', podName: 'web', namespace: 'shop' } });
  scene.pod('web');
  scene.bench.converge();
  assert.match(
    boundText(scene),
    /^False IPRefused Pod shop\/web: IP web\.shop cannot be written, the API server says: admission webhook "policy/,
  );
  assert.deepEqual(counts(scene), [0, 2]);
  const { events } = scene.bench;
  const [event] = events.filter(({ object }) => object === 'ips/web.shop');
  assert.match(
    `${event?.reason} ${event?.message}`,
    /^WriteRefused IP web\.shop cannot be written, the API server says: admission webhook "policy/,
  );
  for (let now = 1_000; now <= 120_000; now += 1_000) scene.bench.passTo(now);
  assert.deepEqual(counts(scene), [0, 2]);
  assert.equal(events.filter(({ object }) => object === 'ips/web.shop').length, 1);
  scene.bench.rejects = () => undefined;
  scene.bench.passTo(150_000);
  assert.equal(scene.addressOf('shop/web'), scene.bench.object('ips', 'web.shop')?.spec['v4IpAddress']);
  assert.match(boundText(scene), /^True Bound/);
});

test('a pod with rejected annotations has a condition, which is not True between two attempts', () => {
  const scene = small();
  let asked = 0;
  scene.bench.rejects = ({ verb, resource, ...write }) => {
    if (verb !== 'patch' || resource !== 'pods' || !('subresource' in write) || write.subresource === 'status') return undefined;
    asked++;
    return 'pods "web" is forbidden: User "kiln" cannot patch resource "pods" in API group "" in the namespace "shop"';
  };
  scene.pod('web');
  scene.bench.converge();
  assert.match(
    boundText(scene),
    /^False WriteRefused Pod shop\/web cannot get its addresses, the API server says: .*; kubectl auth can-i patch pods --as kiln$/,
  );
  const events = (): readonly string[] => scene.bench.events.filter(({ object }) => object === 'pods/shop/web').map(({ reason }) => reason);
  assert.deepEqual(events(), ['PodNetworkAllocationFailed']);
  for (let now = 1_000; now <= 120_000; now += 1_000) {
    scene.bench.passTo(now);
    assert.match(boundText(scene), /^False WriteRefused/);
  }
  assert.ok(asked >= 5 && asked <= 8, `${asked} times in two minutes`);
  scene.bench.rejects = () => undefined;
  scene.bench.passTo(150_000);
  assert.equal(scene.addressOf('shop/web'), '10.90.0.2');
  assert.match(boundText(scene), /^True Bound/);
});
