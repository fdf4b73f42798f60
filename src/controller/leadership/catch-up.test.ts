/** A leader with an old first list of IP objects or pods, as from an API server whose cache is behind etcd. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { after, before, test } from 'node:test';
import { CONTROLLER_LEASE, kilnAnnotation } from '../../api/well-known.ts';
import type { ListOptions, ListPage, WatchOptions, WriteOptions } from '../../kube/client/client.ts';
import { KubeClient } from '../../kube/client/client.ts';
import { microTime } from '../../kube/leader/lease.ts';
import type { KubeObject, ObjectName, Resource } from '../../kube/resource.ts';
import { LEASES, PODS } from '../../kube/resource.ts';
import type { OpenWatch } from '../../kube/transport/transport.ts';
import { KubeTransport } from '../../kube/transport/transport.ts';
import { until } from '../../testing/until.ts';
import { InProcessCluster } from '../../testing/in-process-cluster.ts';
import { traitsOf } from '../../world/resources.ts';

const IPS = traitsOf('ips');
const NODES = traitsOf('nodes');

interface Annotated extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}
interface Ip extends Annotated {
  readonly spec: { readonly ipAddress: string };
}

let cluster: InProcessCluster;
before(async () => {
  cluster = await InProcessCluster.start();
});
after(async () => {
  await cluster.stop();
});

/** Answers lists of one kind with an old state, and delivers no newer event before a write of this client, or `deliver`. */
class BehindClient extends KubeClient {
  readonly #of: Resource;
  readonly #objects: readonly KubeObject[];
  readonly #version: string;
  /** Names of written objects. */
  readonly touched: string[] = [];
  cachedReads = 0;
  pages = 0;
  readonly #written = Promise.withResolvers<void>();
  /** Runs after a write, before its reply and its event. */
  meanwhile: () => Promise<void> = () => Promise.resolve();

  constructor(transport: KubeTransport, of: Resource, objects: readonly KubeObject[], version: string) {
    super(transport);
    this.#of = of;
    this.#objects = objects;
    this.#version = version;
  }

  deliver(): void {
    this.#written.resolve();
  }

  override readCached(...[resource, options, take]: Parameters<KubeClient['readCached']>): Promise<string> {
    if (resource.plural !== this.#of.plural) return super.readCached(resource, options, take);
    this.cachedReads++;
    take(this.#objects);
    return Promise.resolve(this.#version);
  }

  override list<T extends KubeObject>(resource: Resource, options?: ListOptions): Promise<ListPage<T>> {
    if (resource.plural === this.#of.plural) this.pages++;
    return super.list(resource, options);
  }

  override async watch(resource: Resource, options: WatchOptions): Promise<OpenWatch> {
    if (resource.plural === this.#of.plural) await Promise.race([this.#written.promise, once(options.signal, 'abort')]);
    return super.watch(resource, options);
  }

  override async mergePatch<T extends KubeObject>(resource: Resource, name: ObjectName, patch: object, options?: WriteOptions): Promise<T> {
    const written = await super.mergePatch<T>(resource, name, patch, options);
    if (resource.plural === this.#of.plural) {
      this.touched.push(name.name);
      // The reply arrives before the event: a leader that relied on the reply would write now.
      await new Promise((done) => setTimeout(done, 50));
      await this.meanwhile();
      this.#written.resolve();
    }
    return written;
  }
}

const pod = (name: string): KubeObject & { readonly spec: unknown } => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox' }] },
});
const addressOf = async (name: string): Promise<string | undefined> =>
  (await cluster.client.get<Annotated>(PODS, { namespace: 'default', name })).metadata.annotations?.['ovn.kubernetes.io/ip_address'];
const bound = (name: string): Promise<boolean> => until(`${name} is bound`, async () => (await addressOf(name)) !== undefined);

test('writes nothing before it has observed the addresses that the earlier leader allocated, and allocates none of them', async () => {
  const { client } = cluster;
  await client.create(NODES, { metadata: { name: 'n1' } });
  let old: Awaited<ReturnType<typeof client.list<Ip>>>;
  let given: Ip;
  await cluster.withController({}, async (controller) => {
    for (const name of ['a', 'b', 'gone']) await client.create(PODS, pod(name));
    for (const name of ['a', 'b', 'gone']) await bound(name);
    await controller.untilQuiet();
    old = await client.list<Ip>(IPS);
    await client.delete(PODS, { namespace: 'default', name: 'gone' }, { gracePeriodSeconds: 0 });
    await controller.untilQuiet();
    await client.create(PODS, pod('given'));
    await bound('given');
    await controller.untilQuiet();
    given = await client.get<Ip>(IPS, { name: 'given.default' });
  });
  await client.create(PODS, pod('late'));
  const portsBefore = await cluster.ovn.nbctl('--columns=_uuid,name,addresses', 'list', 'Logical_Switch_Port');

  const behind = new BehindClient(new KubeTransport(cluster.connection), IPS, old!.items, old!.resourceVersion);
  const looked = Promise.withResolvers<void>();
  await cluster.withController({ client: behind, cachedAbove: 1 }, async (controller) => {
    behind.meanwhile = async () => {
      behind.meanwhile = () => Promise.resolve();
      try {
        assert.equal(controller.status.rowsWritten + controller.status.objectsWritten, 0, 'nothing else was written before');
        assert.equal(await cluster.ovn.nbctl('--columns=_uuid,name,addresses', 'list', 'Logical_Switch_Port'), portsBefore);
        looked.resolve();
      } catch (error) {
        looked.reject(error);
      }
    };
    await until('an IP object is touched', () => behind.touched.length > 0);
    await looked.promise;
    await bound('late');
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
  await behind.close();

  const now = await client.get<Ip>(IPS, { name: 'given.default' });
  assert.equal(now.metadata.uid, given!.metadata.uid);
  assert.equal(now.metadata.resourceVersion, given!.metadata.resourceVersion);
  assert.equal(await addressOf('given'), given!.spec.ipAddress);
  assert.notEqual(await addressOf('late'), given!.spec.ipAddress);
  const portsAfter = await cluster.ovn.nbctl('--columns=_uuid,name,addresses', 'list', 'Logical_Switch_Port');
  for (const row of portsBefore.split('\n\n')) assert.ok(portsAfter.includes(row.trim()), `untouched: ${row}`);
  const touched = await client.get<Annotated>(IPS, { name: behind.touched[0] ?? '' });
  assert.match(touched.metadata.annotations?.[kilnAnnotation.seen] ?? '', /^\d{4}-/);
});

test('writes to no IP object if nothing is to be written', async () => {
  const old = await cluster.client.list<Ip>(IPS);
  // A write of another kind increases the resourceVersion: the list of IP objects may now be old.
  await cluster.client.create(traitsOf('namespaces'), { metadata: { name: 'unrelated' } });
  await cluster.withController({}, (controller) => controller.untilQuiet());
  const behind = new BehindClient(new KubeTransport(cluster.connection), IPS, old.items, old.resourceVersion);
  await cluster.withController({ client: behind, cachedAbove: 1 }, async (controller) => {
    await controller.untilQuiet();
    assert.equal(controller.status.phase, 'leading');
    assert.equal(controller.status.rowsWritten + controller.status.objectsWritten, 0);
  });
  assert.deepEqual(behind.touched, []);
  await behind.close();
});

test('relists from etcd if all objects in the cache are gone', async () => {
  const { client } = cluster;
  const old = await client.list<Ip>(IPS);
  await cluster.withController({}, async (controller) => {
    for (const { metadata } of (await client.list(PODS)).items)
      await client.delete(PODS, { namespace: 'default', name: metadata.name }, { gracePeriodSeconds: 0 });
    for (const { metadata } of (await client.list(NODES)).items) await client.delete(NODES, { name: metadata.name });
    await until('no IP object is left', async () => (await client.list(IPS)).items.length === 0);
    // The same number of pods as before: by the count the cache may be right.
    await client.create(NODES, { metadata: { name: 'n1' } });
    const others = old.items.slice(1).map((_, at) => `other-${at}`);
    for (const name of others) await client.create(PODS, pod(name));
    for (const name of others) await bound(name);
    await until('as many are there', async () => (await client.list(IPS)).items.length === old.items.length);
    await controller.untilQuiet();
  });
  await client.create(PODS, pod('first'));
  const behind = new BehindClient(new KubeTransport(cluster.connection), IPS, old.items, old.resourceVersion);
  await cluster.withController({ client: behind, cachedAbove: 1 }, async (controller) => {
    await bound('first');
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
  assert.equal(behind.cachedReads, 1);
  assert.deepEqual(behind.touched, []);
  await behind.close();
  const given = (await client.list<Ip>(IPS)).items.map(({ spec }) => spec.ipAddress);
  assert.equal(new Set(given).size, old.items.length + 1);
});

/** The state of an earlier controller, and an old list with as many other pods: by the count it may be current. */
async function anotherPodSince(came: string): Promise<{ readonly old: ListPage<KubeObject>; readonly given: Ip; readonly ports: string }> {
  const { client } = cluster;
  await cluster.withController({}, async (controller) => {
    await client.create(PODS, pod('went'));
    await bound('went');
    await controller.untilQuiet();
  });
  const old = await client.list(PODS);
  await cluster.withController({}, async (controller) => {
    await client.delete(PODS, { namespace: 'default', name: 'went' }, { gracePeriodSeconds: 0 });
    await client.create(PODS, pod(came));
    await bound(came);
    await controller.untilQuiet();
  });
  const given = await client.get<Ip>(IPS, { name: `${came}.default` });
  return { old, given, ports: await cluster.ovn.nbctl('--columns=_uuid,name,addresses', 'list', 'Logical_Switch_Port') };
}

async function stillHas(name: string, given: Ip): Promise<void> {
  const now = await cluster.client.get<Ip>(IPS, { name: `${name}.default` });
  assert.deepEqual(now.metadata, given.metadata, 'its IP object was not written');
  assert.equal(await addressOf(name), given.spec.ipAddress);
}

test('treats no pod as gone because the cache is behind: pods are listed from etcd before the first write', async () => {
  const { old, given, ports } = await anotherPodSince('came');
  const behind = new BehindClient(new KubeTransport(cluster.connection), PODS, old.items, old.resourceVersion);
  await cluster.withController({ client: behind, cachedAbove: 1 }, async (controller) => {
    await until('all is listed', () => controller.complete);
    assert.ok(controller.world.pods.peek('default/came') === undefined && controller.world.pods.peek('default/went') !== undefined);
    // The row of the missing pod names it: the controller requests it by name, and the API server has it.
    await until('pods are listed anew', () => controller.world.pods.peek('default/came') !== undefined);
    assert.equal(controller.status.rowsWritten + controller.status.objectsWritten, 0, 'nothing was written before');
    behind.deliver();
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
    assert.equal(controller.status.rowsWritten, 0);
  });
  assert.deepEqual(behind.touched, []);
  await behind.close();
  await stillHas('came', given);
  assert.equal(await cluster.ovn.nbctl('--columns=_uuid,name,addresses', 'list', 'Logical_Switch_Port'), ports);
});

test('relists pods only once, also if an event shows meanwhile that the watch has caught up', async () => {
  const { client } = cluster;
  const { old, given } = await anotherPodSince('another');
  const behind = new BehindClient(new KubeTransport(cluster.connection), PODS, old.items, old.resourceVersion);
  const lease = (spec: object): Promise<unknown> =>
    client.mergePatch(LEASES, { namespace: 'kube-system', name: CONTROLLER_LEASE }, { spec });
  // A process that becomes leader before the event arrives lists again.
  await lease({ holderIdentity: 'another', leaseDurationSeconds: 3_600, renewTime: microTime(Date.now()) });
  await cluster.withController({ client: behind, cachedAbove: 1 }, async (controller) => {
    await until('all is listed', () => controller.complete);
    // The row of the pod named it, and the first list lacked it.
    await until('pods are listed anew', () => controller.world.pods.peek('default/another') !== undefined);
    await client.create(PODS, pod('newest'));
    behind.deliver();
    await until('the event has come', () => controller.world.pods.peek('default/newest') !== undefined);
    await lease({ holderIdentity: '' });
    await bound('newest');
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
  assert.equal(behind.pages, 2);
  await behind.close();
  await stillHas('another', given);
  assert.notEqual(await addressOf('newest'), given.spec.ipAddress);
});
