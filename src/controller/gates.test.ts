/**
 * Every gate that can hold a turn back, one after the other: it closes, a change meets it, nothing else happens any more, it opens, and the
 * change is carried out. A gate without a case here fails the last test.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { after, before, test } from 'node:test';
import { CONTROLLER_LEASE, KUBE_OVN_LEASE } from '../api/well-known.ts';
import type { Journal } from '../journal/journal.ts';
import { NO_JOURNAL } from '../journal/journal.ts';
import type { ListPage } from '../kube/client/client.ts';
import { KubeClient } from '../kube/client/client.ts';
import { KubeError } from '../kube/errors.ts';
import { microTime } from '../kube/leader/lease.ts';
import type { KubeObject } from '../kube/resource.ts';
import { LEASES, PODS } from '../kube/resource.ts';
import type { WatchReader } from '../kube/transport/transport.ts';
import { KubeTransport } from '../kube/transport/transport.ts';
import { monitoredColumns } from '../nb/tables.ts';
import type { TransactOutcome } from '../ovsdb/index.ts';
import { OvsdbError, OvsdbSession } from '../ovsdb/index.ts';
import type { Log } from '../runtime/log.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';
import { until } from '../testing/until.ts';
import { traitsOf } from '../world/resources.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import type { ControllerOptions } from './controller-options.ts';

let cluster: InProcessCluster;
before(async () => {
  cluster = await InProcessCluster.start();
  await cluster.client.create(traitsOf('nodes'), { metadata: { name: 'n1' } });
});
after(async () => {
  await cluster.stop();
});

const sleep = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));
/** Longer than anything that a change still causes where nothing holds it back. */
const SETTLED_MS = 500;

/** Something that is held until it is let go. */
class Hold {
  #held: PromiseWithResolvers<void> | undefined;

  begin(): void {
    this.#held = Promise.withResolvers();
  }

  end(): void {
    this.#held?.resolve();
    this.#held = undefined;
  }

  async here(signal?: AbortSignal): Promise<void> {
    const aborted = new Promise<void>((done) => signal?.addEventListener('abort', () => done(), { once: true }));
    if (this.#held !== undefined) await Promise.race([this.#held.promise, aborted]);
  }
}

class HeldClient extends KubeClient {
  readonly updates = new Hold();
  readonly watches = new Hold();
  readonly lists = new Hold();
  /** The server answers with this version. */
  served: string | undefined;
  readonly #readers = new Set<WatchReader>();
  /** Kind of held watches. */
  watched = '';
  /** The name that no request by name finds an answer for. */
  unanswered = '';
  oldList: { readonly plural: string; readonly items: readonly KubeObject[]; readonly version: string } | undefined;
  /** When the last update that succeeded began. */
  updatedAt = 0;

  constructor() {
    super(new KubeTransport(cluster.connection));
  }

  override async update<T extends KubeObject>(...[resource, object, options]: Parameters<KubeClient['update']>): Promise<T> {
    const began = performance.now();
    await this.updates.here(options?.signal);
    const updated = await super.update<T>(resource, object as T, options);
    this.updatedAt = began;
    return updated;
  }

  override async get<T extends KubeObject>(...[resource, name, signal]: Parameters<KubeClient['get']>): Promise<T> {
    if (name.name === this.unanswered) throw new KubeError('KUBE_TIMEOUT', { verb: 'get', resource: resource.plural }, 'no answer');
    return super.get<T>(resource, name, signal);
  }

  override readCached(...[resource, options, take]: Parameters<KubeClient['readCached']>): Promise<string> {
    if (resource.plural !== this.oldList?.plural) return super.readCached(resource, options, take);
    take(this.oldList.items);
    return Promise.resolve(this.oldList.version);
  }

  override async watch(...[resource, options]: Parameters<KubeClient['watch']>): ReturnType<KubeClient['watch']> {
    if (resource.plural === this.watched) await this.watches.here(options.signal);
    const open = await super.watch(resource, options);
    const read = (reader: WatchReader): void => {
      this.#readers.add(reader);
      // A watch from a version that the server has not reached is silent.
      const isSilent = this.served !== undefined && resource.plural !== 'pods';
      open.read(isSilent ? { take: () => undefined, ended: () => reader.ended(), failed: (error) => reader.failed(error) } : reader);
    };
    return { close: () => open.close(), read };
  }

  failWatches(): void {
    const error = new KubeError('KUBE_DISCONNECTED', { verb: 'watch', resource: 'all' }, 'the server is restarted');
    for (const reader of this.#readers) reader.failed(error);
    this.#readers.clear();
  }

  override async list<T extends KubeObject>(...[resource, options]: Parameters<KubeClient['list']>): Promise<ListPage<T>> {
    const asks = options?.limit === 1;
    if (!asks) await this.lists.here(options?.signal);
    const page = await super.list<T>(resource, options);
    return asks && this.served !== undefined ? { ...page, resourceVersion: this.served } : page;
  }
}

class HeldSession extends OvsdbSession {
  readonly transactions = new Hold();
  /** Outcomes of the next transactions, which are not sent. */
  readonly answers: TransactOutcome[] = [];

  constructor() {
    super({ endpoints: [cluster.ovn.unix], database: 'OVN_Northbound', tables: monitoredColumns() });
  }

  override async transact(...[operations, options]: Parameters<OvsdbSession['transact']>): Promise<TransactOutcome> {
    await this.transactions.here();
    return this.answers.shift() ?? super.transact(operations, options);
  }
}

class Scene {
  readonly client = new HeldClient();
  readonly leaseClient = new HeldClient();
  readonly session = new HeldSession();
  readonly logged: string[] = [];
  journalFailure: string | undefined;
  #journalListener: (() => void) | undefined;
  readonly journal: Journal;

  constructor() {
    const failure = (): string | undefined => this.journalFailure;
    this.journal = {
      ...NO_JOURNAL,
      isOn: true,
      get failure() {
        return failure();
      },
      onState: (changed) => {
        const before = this.#journalListener;
        this.#journalListener = () => [before, changed].forEach((one) => one?.());
      },
    };
  }

  journalIs(failure: string | undefined): void {
    this.journalFailure = failure;
    this.#journalListener?.();
  }

  get log(): Log {
    const note = (message: string): void => void this.logged.push(message);
    return { debug: () => undefined, info: note, warn: note, error: note };
  }
}

const pod = (name: string): KubeObject & { readonly spec: unknown } => ({
  metadata: { name, namespace: 'default' },
  spec: { nodeName: 'n1', terminationGracePeriodSeconds: 0, containers: [{ name: 'main', image: 'busybox' }] },
});
interface Annotated extends KubeObject {
  readonly metadata: KubeObject['metadata'] & { readonly annotations?: Readonly<Record<string, string>> };
}
async function isBound(name: string): Promise<boolean> {
  const { metadata } = await cluster.client.get<Annotated>(PODS, { namespace: 'default', name });
  return metadata.annotations?.['ovn.kubernetes.io/ip_address'] !== undefined;
}
const names = (): Promise<string> => cluster.ovn.nbctl('--bare', '--columns=name', 'list', 'Logical_Switch_Port');
const lease = (name: string, spec: object | null): Promise<unknown> =>
  spec === null
    ? cluster.client.delete(LEASES, { namespace: 'kube-system', name })
    : cluster.client.create(LEASES, { metadata: { namespace: 'kube-system', name }, spec } as KubeObject);

interface Case {
  readonly options?: (scene: Scene) => Partial<ControllerOptions>;
  /** Closed already when the process starts. */
  readonly fromTheStart?: true;
  readonly close: (scene: Scene) => Promise<void> | void;
  /** What meets the closed gate; default: a new pod. @returns whether it was carried out */
  readonly change?: (name: string) => Promise<() => Promise<boolean>>;
  /** Undefined: time alone opens it. */
  readonly open?: (scene: Scene) => Promise<unknown> | void;
  readonly afterwards?: (scene: Scene) => void | Promise<void>;
}

async function newPod(name: string): Promise<() => Promise<boolean>> {
  await cluster.client.create(PODS, pod(name));
  return () => isBound(name);
}

async function oldPodGoes(): Promise<() => Promise<boolean>> {
  await cluster.client.delete(PODS, { namespace: 'default', name: 'old' }, { gracePeriodSeconds: 0 });
  return async () => !(await names()).includes('old.default');
}

const CASES: Readonly<Record<string, Case>> = {
  lease: {
    // The second attempt is under way when the right to lead ends, and it succeeds: no loss, and no gain.
    options: ({ leaseClient }) => ({ leaseClient, lease: { durationMs: 6_000, renewMs: 4_000, retryMs: 600 } }),
    close: async ({ leaseClient }) => {
      await until('a renewal', () => leaseClient.updatedAt > 0);
      leaseClient.updates.begin();
      await sleep(leaseClient.updatedAt + 4_050 - performance.now());
    },
    open: ({ leaseClient }) => leaseClient.updates.end(),
    afterwards: ({ logged }) => assert.ok(!logged.includes('no longer leading'), 'it was never lost'),
  },
  'other-lease': {
    close: async () => {
      const now = microTime(Date.now());
      await lease(KUBE_OVN_LEASE, { holderIdentity: 'kube-ovn', leaseDurationSeconds: 60, renewTime: now, acquireTime: now });
      await sleep(SETTLED_MS);
    },
    open: () => lease(KUBE_OVN_LEASE, null),
  },
  'newest-term': {
    options: ({ leaseClient }) => ({ leaseClient }),
    close: async ({ leaseClient, logged }) => {
      leaseClient.updates.begin();
      await cluster.ovn.nbctl('set', 'NB_Global', '.', 'external_ids:kiln.io/term=900');
      await until('it is deposed', () => logged.some((line) => line.startsWith('deposed')));
    },
    open: ({ leaseClient }) => leaseClient.updates.end(),
  },
  northbound: {
    close: () => cluster.ovn.kill(),
    open: () => cluster.ovn.restart(),
  },
  term: {
    fromTheStart: true,
    close: ({ session }) => session.transactions.begin(),
    open: ({ session }) => session.transactions.end(),
  },
  lists: {
    options: ({ client }) => ({ client }),
    fromTheStart: true,
    close: async ({ client }) => {
      client.unanswered = 'absent';
      const ids = 'external_ids={vendor=kube-ovn,"kiln.io/owner"="subnet//absent","kiln.io/uid"="u"}';
      await cluster.ovn.nbctl('create', 'Logical_Switch', 'name=absent', ids);
    },
    open: ({ client }) => void (client.unanswered = ''),
  },
  'catch-up': {
    options: ({ client }) => ({ client, cachedAbove: 1 }),
    fromTheStart: true,
    close: async ({ client }) => {
      const { items, resourceVersion } = await cluster.client.list(traitsOf('ips'));
      // A write of any kind: the list is old now.
      await cluster.client.create(traitsOf('namespaces'), { metadata: { name: 'unrelated' } });
      client.oldList = { plural: 'ips', items, version: resourceVersion };
      client.watched = 'ips';
      client.watches.begin();
    },
    open: ({ client }) => client.watches.end(),
  },
  'restored-lists': {
    options: ({ client }) => ({ client }),
    close: async ({ client, logged }) => {
      client.lists.begin();
      client.served = '1';
      client.failWatches();
      await until(
        'a watch finds older data',
        () => logged.some((line) => line.includes('its data was restored')),
        30_000,
        () => logged.join('; '),
      );
    },
    open: ({ client }) => client.lists.end(),
  },
  answer: {
    close: async ({ session }) => {
      session.transactions.begin();
      await newPod('first');
      await sleep(SETTLED_MS);
    },
    open: ({ session }) => session.transactions.end(),
  },
  pause: {
    close: async ({ session }) => {
      session.answers.push({ ok: false, error: new OvsdbError('OVSDB_DISCONNECTED', 'no answer', { outcome: 'unknown' }) });
      await newPod('unlucky');
      await until('its transaction has no answer', () => session.answers.length === 0);
    },
  },
  journal: {
    options: ({ journal }) => ({ journal }),
    close: (scene) => scene.journalIs('the disk is full'),
    change: oldPodGoes,
    open: (scene) => scene.journalIs(undefined),
  },
  collection: {
    close: async () => {
      const vpc = { name: 'ovn-cluster' };
      await cluster.client.mergePatch(traitsOf('vpcs'), vpc, { metadata: { annotations: { 'kiln.io/gc-pause': 'maintenance' } } });
      await sleep(SETTLED_MS);
    },
    change: async (name) => {
      const ids = `external_ids={vendor=kube-ovn,"kiln.io/owner"="subnet//${name}","kiln.io/uid"="u"}`;
      await cluster.ovn.nbctl('create', 'Port_Group', `name=${name}`, ids);
      return async () => !(await cluster.ovn.nbctl('--bare', '--columns=name', 'list', 'Port_Group')).includes(name);
    },
    open: () =>
      cluster.client.mergePatch(traitsOf('vpcs'), { name: 'ovn-cluster' }, { metadata: { annotations: { 'kiln.io/gc-pause': null } } }),
  },
  // The last one: the cluster is of another default Vpc afterwards.
  'default-vpc': {
    options: () => ({ settings: { ...DEFAULT_SETTINGS, defaultVpc: 'other' } }),
    fromTheStart: true,
    // The cluster is complete, with its own default Vpc.
    close: () => cluster.withController({}, (controller) => controller.untilQuiet()),
    change: async (name) => {
      await cluster.client.create(traitsOf('vpcs'), { metadata: { name } });
      const policies = await cluster.ovn.nbctl('--bare', '--columns=match', 'list', 'Logical_Router_Policy');
      assert.notEqual(policies, '', 'what the nodes need of the default Vpc stays meanwhile');
      return async () => {
        const held = (await cluster.ovn.nbctl('--bare', '--columns=match', 'list', 'Logical_Router_Policy')) === policies;
        const made = (await cluster.ovn.nbctl('--bare', '--columns=name', 'list', 'Logical_Router')).includes(name);
        assert.ok(made || held);
        return made;
      };
    },
    open: async () => {
      for (const name of ['ovn-default', 'join'])
        await cluster.client.mergePatch(traitsOf('subnets'), { name }, { spec: { vpc: 'other' } });
    },
  },
};

for (const [gate, { options, fromTheStart, close, change = newPod, open, afterwards }] of Object.entries(CASES))
  test(`what a closed gate held back goes on when it opens: ${gate}`, async () => {
    const scene = new Scene();
    const { session, log } = scene;
    const closed = fromTheStart === true;
    if (closed) await close(scene);
    await cluster.withController({ session, log, ...options?.(scene) }, async (controller) => {
      if (!closed) {
        await cluster.client.create(PODS, pod('old')).catch(() => undefined);
        await until('the old pod is bound', () => isBound('old'));
        await controller.untilQuiet();
        await close(scene);
      } else await until('all is listed', () => controller.complete);
      const carriedOut = await change(`of-${gate}`);
      await sleep(SETTLED_MS);
      assert.equal(await carriedOut(), false, 'it is held back');
      await open?.(scene);
      await until(`it is carried out (${scene.logged.slice(-3).join('; ')})`, carriedOut, 10_000);
      await afterwards?.(scene);
    });
    for (const client of [scene.client, scene.leaseClient]) await client.close();
    const { spec } = await cluster.client.get<KubeObject & { readonly spec: { readonly holderIdentity: string } }>(LEASES, {
      namespace: 'kube-system',
      name: CONTROLLER_LEASE,
    });
    assert.equal(spec.holderIdentity, '', 'the next case need not wait');
  });

test('each gate of the controller has a case', () => {
  const root = new URL('../', import.meta.url);
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const found = files.flatMap((file) => [
    ...readFileSync(new URL(file, root), 'utf8')
      .matchAll(/new GateKeeper\('([^']*)'/g)
      .map(([, name = '']) => name),
  ]);
  // A process that only observes never writes: its gate never opens.
  const opening = new Set(found.filter((name) => name !== 'read-only'));
  assert.deepEqual(
    [...opening].toSorted(),
    Object.keys(CASES)
      .filter((name) => name !== 'collection')
      .toSorted(),
  );
});
