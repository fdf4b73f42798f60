/** What `src/kube` relies on in an API server, tested in the same way on every server. */

import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { after, before, beforeEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { setTimeout as sleep } from 'node:timers/promises';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { systemClock } from '../../src/timing/clock.ts';
import { DefinitionWatch, DEFINITIONS as CRDS } from '../../src/kube/cache/definition-watch.ts';
import type { Delta } from '../../src/kube/cache/delta.ts';
import { Discovery } from '../../src/kube/client/discovery.ts';
import { isKubeError, type KubeErrorCode } from '../../src/kube/errors.ts';
import { EventRecorder } from '../../src/kube/events/event-recorder.ts';
import { ForeignLeaseWatch } from '../../src/kube/leader/foreign-lease-watch.ts';
import { asStoredInteger } from '../../src/kube/json.ts';
import { KubeWriter } from '../../src/kube/write/kube-writer.ts';
import { LeaderElection } from '../../src/kube/leader/leader-election.ts';
import { ListWatchCache, type ListWatchOptions } from '../../src/kube/cache/list-watch-cache.ts';
import { EVENTS, type KubeObject, LEASES, PODS, type Resource } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import { PATIENCE_MS } from '../../src/testing/patience.ts';
import { UnreliableProxy } from '../../src/testing/unreliable-proxy.ts';

export interface ConformanceServer {
  /** Path of an administrator's kubeconfig. */
  readonly kubeconfig: string;
  stop(): Promise<void>;
}

/** A server that keeps its data after a crash. */
export interface DurableServer extends ConformanceServer {
  /** Kills the API server. */
  crash(): Promise<void>;
  /** Starts the API server again with the same data. */
  recover(): Promise<void>;
}

interface Thing extends KubeObject {
  readonly spec?: Readonly<Record<string, unknown>>;
  readonly status?: Readonly<Record<string, unknown>>;
}

const THINGS: Resource = { group: 'conformance.test', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
const LATER: Resource = { ...THINGS, plural: 'laters', kind: 'Later', namespaced: false };
const NEWER: Resource = { ...THINGS, plural: 'newers', kind: 'Newer', namespaced: false };
const NAMESPACES: Resource = { group: '', version: 'v1', plural: 'namespaces', kind: 'Namespace', namespaced: false };
const CONFIG_MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const NS = 'conformance';

const byName = (a: KubeObject, b: KubeObject): number => (a.metadata.name < b.metadata.name ? -1 : 1);

const definition = (resource: Resource): KubeObject & { spec: object } => ({
  metadata: { name: `${resource.plural}.${resource.group}` },
  spec: {
    group: resource.group,
    scope: resource.namespaced ? 'Namespaced' : 'Cluster',
    names: { plural: resource.plural, kind: resource.kind },
    versions: [
      {
        name: resource.version,
        served: true,
        storage: true,
        subresources: { status: {} },
        schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
      },
    ],
  },
});

const thing = (name: string, spec: Readonly<Record<string, unknown>> = {}): Thing => ({ metadata: { name, namespace: NS }, spec });
const named = (name: string): { namespace: string; name: string } => ({ namespace: NS, name });

export function listWatchSuite<S extends ConformanceServer>(
  name: string,
  startServer: () => Promise<S>,
  more: (suite: Suite<S>) => void = () => {},
): void {
  describe(`Kubernetes edge on ${name}`, () => {
    let server: S;
    let client: KubeClient;
    const open: { close(): Promise<void> }[] = [];

    const cacheOf = (options: Partial<ListWatchOptions<Thing>> = {}): ListWatchCache<Thing> => {
      const cache = new ListWatchCache<Thing>({ client, resource: THINGS, namespace: NS, backoffMs: [50, 500], ...options }).start();
      open.push(cache);
      return cache;
    };
    const fails = async (code: KubeErrorCode, promise: Promise<unknown>): Promise<void> => {
      await assert.rejects(
        promise,
        (error) =>
          isKubeError(error, code) || assert.fail(`${code} was expected: ${String(error)} (${isKubeError(error) ? error.code : ''})`),
      );
    };
    const established = async (resource: Resource): Promise<void> => {
      const deadline = Date.now() + PATIENCE_MS;
      for (;;) {
        try {
          await client.list(resource);
          return;
        } catch (error) {
          if (Date.now() > deadline) throw error;
          await new Promise((resolve) => setTimeout(resolve, 100));
        }
      }
    };

    /** Creates an object of a new kind. A server accepts objects a moment after it lists their kind. */
    const createdOnceServed = async (resource: Resource, objectName: string): Promise<void> => {
      const deadline = performance.now() + PATIENCE_MS;
      for (;;) {
        try {
          await client.create(resource, { metadata: { name: objectName, ...(resource.namespaced && { namespace: NS }) } });
          return;
        } catch (error) {
          // Before that, a server of 1.20 answers with an internal error.
          const isEarly = isKubeError(error, 'KUBE_NOT_SERVED') || isKubeError(error, 'KUBE_INTERNAL');
          if (!isEarly || performance.now() > deadline) throw error;
          await sleep(100);
        }
      }
    };

    /** Deletes what a failed test left, so that it does not fail the next one. */
    beforeEach(async () => {
      for (const left of await client.listAll<Thing>(THINGS, { namespace: NS })) {
        await client.mergePatch(THINGS, left.metadata, { metadata: { finalizers: null } });
        if (left.metadata.deletionTimestamp === undefined) await client.delete(THINGS, left.metadata);
      }
    });
    before(async () => {
      server = await startServer();
      client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: server.kubeconfig })));
      await client.create(NAMESPACES, { metadata: { name: NS } });
      await client.create(CRDS, definition(THINGS));
      await established(THINGS);
      await createdOnceServed(THINGS, 'first');
      await client.delete(THINGS, named('first'));
    });
    after(async () => {
      for (const one of open) await one.close();
      await client.close();
      await server.stop();
    });

    test('a cache reads pages, follows the watch, and has exactly what happened', async () => {
      for (let i = 0; i < 25; i++) await client.create(THINGS, thing(`page-${i}`, { i }));
      const deltas: string[] = [];
      const cache = cacheOf({ pageSize: 10 });
      cache.onDelta((batch: readonly Delta<Thing>[]) => {
        for (const delta of batch)
          deltas.push(
            `${delta.type}${delta.type === 'upsert' && delta.before !== undefined ? ' again' : ''} ${delta.object.metadata.name}`,
          );
      });
      await cache.untilSynced();
      assert.equal(cache.size, 25);
      assert.equal(cache.get(`${NS}/page-7`)?.spec?.['i'], 7);
      deltas.length = 0;
      await client.create(THINGS, thing('live'));
      await client.mergePatch(THINGS, named('live'), { spec: { x: 1 } });
      await client.mergePatch(THINGS, named('live'), { status: { y: 2 } }, { subresource: 'status' });
      await client.delete(THINGS, named('live'));
      await until('the deletion', () => deltas.at(-1) === 'delete live');
      assert.deepEqual(deltas, ['upsert live', 'upsert again live', 'upsert again live', 'delete live']);
      for (let i = 0; i < 25; i++) await client.delete(THINGS, named(`page-${i}`));
      await until('the deletions', () => cache.size === 0);
    });

    test("a long first list is read from the server's cache, and followed from there", async () => {
      for (let i = 0; i < 12; i++) await client.create(THINGS, thing(`cached-${i}`, { i }));
      const cache = cacheOf({ pageSize: 5, cachedAbove: 5 });
      await cache.untilSynced();
      const shown = await client.listAll<Thing>(THINGS);
      // The watch cache of a server may be a moment behind its database.
      await until('as many as in its database', () => cache.size === shown.length);
      assert.deepEqual(
        [...cache.values()].toSorted(byName),
        shown.toSorted(byName),
        'the same objects, types and versions as from its database',
      );
      await client.create(THINGS, thing('cached-live'));
      await client.delete(THINGS, named('cached-3'));
      await until(
        'what changed since is seen',
        () => cache.get(`${NS}/cached-live`) !== undefined && cache.get(`${NS}/cached-3`) === undefined,
      );
      assert.equal(cache.counters.lists.first, 1);
      assert.equal(cache.counters.failures, 0);
      for (const { metadata } of shown)
        if (metadata.name.startsWith('cached-'))
          await client.delete(THINGS, metadata as { name: string; namespace: string }).catch(() => undefined);
      await client.delete(THINGS, named('cached-live'));
    });

    test('an object of a built-in kind looks the same from list, watch and reply', async () => {
      const map = (mapName: string): KubeObject => ({ metadata: { name: mapName, namespace: NS, ...{ labels: { same: 'yes' } } } });
      await client.create(CONFIG_MAPS, map('listed'));
      const cache = new ListWatchCache<KubeObject>({ client, resource: CONFIG_MAPS, namespace: NS, labelSelector: 'same=yes' }).start();
      open.push(cache);
      await cache.untilSynced();
      const reply = await client.create(CONFIG_MAPS, map('watched'));
      await until('the second', () => cache.size === 2);
      assert.deepEqual(cache.get(`${NS}/watched`), reply);
      for (const object of cache.values()) assert.deepEqual([object.apiVersion, object.kind], ['v1', 'ConfigMap']);
      for (const one of ['listed', 'watched']) await client.delete(CONFIG_MAPS, named(one));
    });

    test('a cache has only its namespace and what its selector matches', async () => {
      const labelled: Thing = { metadata: { name: 'labelled', namespace: NS, ...{ labels: { pick: 'me' } } } };
      await client.create(THINGS, labelled);
      await client.create(THINGS, thing('plain'));
      const byLabel = cacheOf({ labelSelector: 'pick=me' });
      const byName = cacheOf({ fieldSelector: 'metadata.name=plain' });
      await Promise.all([byLabel.untilSynced(), byName.untilSynced()]);
      assert.deepEqual([...byLabel.keys()], [`${NS}/labelled`]);
      assert.deepEqual([...byName.keys()], [`${NS}/plain`]);
      await client.mergePatch(THINGS, named('labelled'), { metadata: { labels: { pick: null } } });
      await until('the object to leave the selection', () => byLabel.size === 0);
      await client.delete(THINGS, named('labelled'));
      await client.delete(THINGS, named('plain'));
    });

    test('a watch that the server ends is resumed without a list', async () => {
      const cache = cacheOf({ watchSeconds: [1, 1] });
      await cache.untilSynced();
      await until('several watches', () => cache.counters.watches >= 3);
      await client.create(THINGS, thing('between'));
      await until('the object', () => cache.get(`${NS}/between`) !== undefined);
      assert.equal(
        Object.values(cache.counters.lists).reduce((sum, count) => sum + count),
        1,
      );
      assert.equal(cache.counters.failures, 0);
      await client.delete(THINGS, named('between'));
    });

    test('the cache has replies to own writes at once, and the watch adds no change', async () => {
      const cache = cacheOf();
      await cache.untilSynced();
      const deltas: string[] = [];
      cache.onDelta((batch: readonly Delta<Thing>[]) => deltas.push(...batch.map((delta) => delta.type)));
      const made = await client.create(THINGS, thing('own'));
      cache.applyOwn(made);
      assert.equal(cache.get(`${NS}/own`)?.metadata.uid, made.metadata.uid);
      const patched = await client.mergePatch<Thing>(THINGS, named('own'), { spec: { x: 1 } });
      cache.applyOwn(patched);
      await client.create(THINGS, thing('own-mark'));
      await until('the mark', () => cache.get(`${NS}/own-mark`) !== undefined);
      assert.deepEqual(deltas, ['upsert', 'upsert', 'upsert']);
      for (const one of ['own', 'own-mark']) await client.delete(THINGS, named(one));
      await until('the end', () => cache.size === 0);
      cache.applyOwn(patched);
      assert.equal(cache.size, 0, 'a late reply undid a deletion');
    });

    test('the write that removes the last finalizer of a deleted object removes the object from the cache', async () => {
      const cache = cacheOf();
      await cache.untilSynced();
      await client.create<Thing>(THINGS, { metadata: { name: 'bound', namespace: NS, finalizers: ['conformance.test/hold'] } });
      const held = await client.delete<Thing>(THINGS, named('bound'));
      assert.equal(typeof held?.metadata.deletionTimestamp, 'string');
      await until('the deletion mark', () => cache.get(`${NS}/bound`)?.metadata.deletionTimestamp !== undefined);
      const reply = await client.mergePatch<Thing>(THINGS, named('bound'), { metadata: { finalizers: null } });
      cache.applyOwn(reply);
      assert.equal(cache.get(`${NS}/bound`), undefined);
      assert.equal(await client.find(THINGS, named('bound')), undefined);
    });

    test('integers come back as the server stores them', async () => {
      for (const value of [9007199254740993n, 9223372036854775807n, 18446744073709551614n, 2n ** 100n]) {
        await client.create<Thing>(THINGS, thing('number', { value }));
        const read = await client.get<Thing>(THINGS, named('number'));
        assert.equal(read.spec?.['value'], asStoredInteger(value), `${value}`);
        await client.delete(THINGS, named('number'));
      }
    });

    test('errors have their codes', async () => {
      await fails('KUBE_NOT_FOUND', client.get(THINGS, named('none')));
      await fails('KUBE_NOT_SERVED', client.list(LATER));
      await fails('KUBE_NOT_FOUND', client.create(THINGS, { metadata: { name: 'x', namespace: 'no-such-namespace' } }));
      await fails('KUBE_INVALID', client.create(THINGS, thing('Not_A_Name')));
      const made = await client.create(THINGS, thing('codes'));
      await fails('KUBE_ALREADY_EXISTS', client.create(THINGS, thing('codes')));
      await client.mergePatch(THINGS, named('codes'), { spec: { x: 1 } });
      await fails('KUBE_CONFLICT', client.update(THINGS, made));
      await fails(
        'KUBE_CONFLICT',
        client.mergePatch(THINGS, named('codes'), { metadata: { resourceVersion: made.metadata.resourceVersion }, spec: { x: 2 } }),
      );
      await client.delete(THINGS, named('codes'));
      await fails('KUBE_NOT_FOUND', client.delete(THINGS, named('codes')));
      await fails('KUBE_NOT_FOUND', client.mergePatch(THINGS, named('codes'), {}));
    });

    test('a write with a uid fails for a recreated object', async () => {
      const writer = new KubeWriter({ client });
      await client.create(THINGS, thing('again', { x: 0 }));
      const intent = { resource: THINGS, ...named('again'), lane: 'object', uid: '00000000-0000-0000-0000-000000000000' };
      const codes: Record<string, string> = {};
      const attempt = async (what: string, operation: Parameters<KubeWriter['submit']>[0]['operation']): Promise<void> => {
        const result = await writer.submit({ ...intent, operation });
        codes[what] = result.ok ? 'ok' : result.error.code;
      };
      await attempt('merge-patch', { kind: 'merge-patch', patch: { spec: { x: 1 } } });
      await attempt('json-patch', { kind: 'json-patch', patch: [{ op: 'replace', path: '/spec/x', value: 1 }] });
      await attempt('status json-patch', { kind: 'json-patch', patch: [{ op: 'add', path: '/status', value: {} }], subresource: 'status' });
      await attempt('status merge-patch', { kind: 'merge-patch', patch: { status: { x: 1 } }, subresource: 'status' });
      await attempt('update', { kind: 'update', object: thing('again', { x: 1 }) });
      await attempt('delete', { kind: 'delete' });
      assert.deepEqual([...new Set(Object.values(codes))], ['KUBE_PRECONDITION'], JSON.stringify(codes));
      assert.deepEqual((await client.get<Thing>(THINGS, named('again'))).spec, { x: 0 });
      await client.delete(THINGS, named('again'));
      await writer.close();
    });

    test('a write with a resourceVersion conflicts when the object has changed', async () => {
      const writer = new KubeWriter({ client });
      const made = await client.create<Thing>(THINGS, thing('moved', { x: 0 }));
      await client.mergePatch(THINGS, named('moved'), { spec: { x: 1 } });
      const intent = {
        resource: THINGS,
        ...named('moved'),
        lane: 'object',
        uid: made.metadata.uid,
        resourceVersion: made.metadata.resourceVersion,
      };
      for (const operation of [
        { kind: 'merge-patch', patch: { spec: { x: 2 } } },
        { kind: 'json-patch', patch: [{ op: 'replace', path: '/spec/x', value: 2 }] },
        { kind: 'merge-patch', patch: { status: { x: 1 } }, subresource: 'status' },
        { kind: 'delete' },
      ] as const) {
        const result = await writer.submit({ ...intent, operation });
        assert.equal(result.ok ? 'ok' : result.error.code, 'KUBE_CONFLICT', JSON.stringify(operation));
      }
      const current = await client.get<Thing>(THINGS, named('moved'));
      const result = await writer.submit({ ...intent, resourceVersion: current.metadata.resourceVersion, operation: { kind: 'delete' } });
      assert.equal(result.ok, true);
      await writer.close();
    });

    test('behind a slow, breaking and silent network a cache loses no event and a writer writes nothing twice', async () => {
      const connection = await connectionFromKubeconfig({ path: server.kubeconfig });
      const { hostname, port, protocol } = new URL(connection.server);
      const proxy = await UnreliableProxy.start(`tcp:${hostname}:${port}`, { delayMs: 4, lifeBytes: 40_000 }, Math.random);
      const unsteady = new KubeClient(
        new KubeTransport({ ...connection, server: `${protocol}//${hostname}:${proxy.port}` }, { timeoutMs: 1_000, connections: 8 }),
      );
      const selector = { labelSelector: 'case=unsteady' };
      const cache = new ListWatchCache<Thing>({
        client: unsteady,
        resource: THINGS,
        ...selector,
        pageSize: 10,
        watchSeconds: [1, 2],
        graceMs: 500,
        backoffMs: [10, 100],
      });
      const writer = new KubeWriter({ client: unsteady, attempts: 600, backoffMs: [10, 100] });
      try {
        cache.start();
        const count = 60;
        const made = Array.from({ length: count }, (_, i) => {
          const plain = thing(`unsteady-${i}`, { x: 0 });
          return { ...plain, metadata: { ...plain.metadata, labels: { case: 'unsteady' } } };
        });
        const all = (operation: (i: number) => Parameters<KubeWriter['submit']>[0]['operation'], from = 0): Promise<void[]> =>
          Promise.all(
            made.slice(from).map(async ({ metadata: { name } }, at) => {
              const result = await writer.submit({ resource: THINGS, ...named(name), lane: 'object', operation: operation(from + at) });
              assert.ok(result.ok, `${name}: ${result.ok ? '' : result.error.message}`);
            }),
          );
        await all((i) => ({ kind: 'create', object: made[i] as Thing }));
        // The lifetime of a connection is random: writes go on until some connections have broken in the middle of one.
        for (let round = 0; round < 2 || proxy.broken.closed + proxy.broken.silent < 3; round++) {
          assert.ok(round < 100, `the network was hardly unsteady: ${JSON.stringify(proxy.broken)}`);
          await all((i) => ({ kind: 'merge-patch', patch: { spec: { x: i + round } } }));
        }
        await all((i) => ({ kind: 'merge-patch', patch: { spec: { x: i } } }));
        await all(() => ({ kind: 'delete' }), 40);
        proxy.calm();
        const shown = await client.listAll<Thing>(THINGS, selector);
        assert.deepEqual(
          shown.map(({ metadata: { name }, spec }) => `${name} ${String(spec?.['x'])}`).toSorted(),
          Array.from({ length: 40 }, (_, i) => `unsteady-${i} ${i}`).toSorted(),
        );
        const versions = (things: Iterable<Thing>): string[] =>
          Array.from(things, ({ metadata }) => `${metadata.name} ${metadata.uid ?? ''} ${metadata.resourceVersion ?? ''}`).toSorted();
        await until('the cache shows the same', () => versions(cache.values()).join() === versions(shown).join());
      } finally {
        await Promise.all([writer.close(), cache.close()]);
        await unsteady.close();
        await proxy.stop();
      }
    });

    test("many writers' results reach the cache", async () => {
      const cache = cacheOf();
      await cache.untilSynced();
      const writer = new KubeWriter({ client });
      const results = await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          writer.submit({
            resource: THINGS,
            ...named(`bulk-${i}`),
            lane: 'object',
            operation: { kind: 'create', object: thing(`bulk-${i}`) },
          }),
        ),
      );
      assert.ok(results.every((result) => result.ok));
      await until('all objects', () => cache.size === 200);
      await Promise.all(
        Array.from({ length: 200 }, (_, i) =>
          writer.submit({ resource: THINGS, ...named(`bulk-${i}`), lane: 'object', operation: { kind: 'delete' } }),
        ),
      );
      await until('no object', () => cache.size === 0);
      await writer.close();
    });

    test('an optional resource is served and removed again', async () => {
      const cache = new ListWatchCache<Thing>({
        client,
        resource: LATER,
        optional: true,
        notServedRetryMs: 100,
        notServedGraceMs: 1_000,
        backoffMs: [50, 200],
        watchSeconds: [1, 1],
      }).start();
      open.push(cache);
      await cache.untilSynced();
      assert.equal(cache.state, 'not-served');
      await client.create(CRDS, definition(LATER));
      await until('the resource', () => cache.state === 'synced');
      await createdOnceServed(LATER, 'one');
      await until('the object', () => cache.size === 1);
      await client.delete(CRDS, { name: `${LATER.plural}.${LATER.group}` });
      await until('its end', () => cache.state === 'not-served' && cache.size === 0);
    });

    test('an optional resource is found when its definition comes, without requests before', async () => {
      const lists: string[] = [];
      const counted = (message: unknown): void => {
        const { path } = (message as { readonly request: { readonly path: string } }).request;
        if (path.includes(`/${NEWER.plural}`) && !path.includes('watch=true')) lists.push(path);
      };
      subscribe('undici:request:create', counted);
      const definitions = new DefinitionWatch({ client });
      try {
        definitions.start();
        const cache = new ListWatchCache<Thing>({
          client,
          resource: NEWER,
          optional: true,
          notServedRetryMs: 3_600_000,
          definitions,
        }).start();
        open.push(cache);
        await cache.untilSynced();
        await until('the definitions', () => definitions.followed);
        await client.create(CRDS, definition({ ...NEWER, plural: 'others', kind: 'Other' }));
        assert.equal(lists.length, 1);
        await client.create(CRDS, definition(NEWER));
        await until('the resource', () => cache.state === 'synced');
        await createdOnceServed(NEWER, 'one');
        await until('the object', () => cache.size === 1);
      } finally {
        unsubscribe('undici:request:create', counted);
        await definitions.close();
      }
    });

    test('discovery lists what is served', async () => {
      const discovery = new Discovery(client);
      assert.equal(await discovery.serves(PODS), true);
      assert.equal(await discovery.serves(THINGS, 'status'), true);
      assert.equal(await discovery.serves({ ...THINGS, version: 'v9' }), false);
      assert.match((await discovery.serverVersion()).gitVersion, /^v\d+\.\d+/);
    });

    test('Events are shown by kubectl, once with a count', async () => {
      const map = await client.create<KubeObject>(CONFIG_MAPS, { metadata: { name: 'subject', namespace: NS } });
      // The clock stands still, so that both repetitions fall into the interval, however long the first Event took to be written.
      const clock = { ...systemClock, now: () => 0 };
      const recorder = new EventRecorder({ client, component: 'conformance', bumpIntervalMs: 50, clock });
      const target = { resource: CONFIG_MAPS, ...named('subject'), uid: map.metadata.uid };
      const record = (): void =>
        recorder.record({ target, type: 'Warning', reason: 'Tested', message: 'the subject was tested', action: 'Test' });
      record();
      await recorder.idle();
      record();
      record();
      await recorder.idle();
      recorder.record({ target: { resource: NAMESPACES, name: NS }, type: 'Normal', reason: 'ClusterScoped', message: 'kept in default' });
      await recorder.idle();
      assert.deepEqual(recorder.counters, { created: 2, bumped: 1, coalesced: 2, dropped: 0 });
      const kubectl = async (...args: string[]): Promise<string> =>
        (await promisify(execFile)('kubectl', [`--kubeconfig=${server.kubeconfig}`, ...args], { timeout: PATIENCE_MS })).stdout;
      const events = await kubectl('get', 'events', '-n', NS, '--no-headers', '--field-selector', 'involvedObject.name=subject');
      assert.match(events, /^\S+ +Warning +Tested +configmap\/subject +the subject was tested\n$/);
      const described = await kubectl('describe', 'configmap', 'subject', '-n', NS);
      assert.match(described, /Warning +Tested +\S+ \(x3 over \S+\) +conformance +the subject was tested/);
      const inDefault = await client.list(EVENTS, { namespace: 'default', fieldSelector: `involvedObject.name=${NS}` });
      assert.equal(inDefault.items.length, 1);
      await recorder.close();
    });

    test('one candidate leads, shows it in the Lease, and hands over', async () => {
      // These durations exceed any stall of the machine, so that leadership changes by a handover and never by an expired Lease.
      const lease = { client, namespace: NS, name: 'leader', retryPeriodMs: 100, renewDeadlineMs: 60_000, leaseDurationMs: 90_000 };
      const watching = new ForeignLeaseWatch({ client, namespace: NS, name: 'leader' }).start();
      open.push(watching);
      await watching.untilSynced();
      assert.equal(watching.state.kind, 'free');
      const first = new LeaderElection({ ...lease, identity: 'first' }).start();
      await until('the first to lead', () => first.isLeader());
      const second = new LeaderElection({ ...lease, identity: 'second' }).start();
      await until('the watch to see it', () => watching.state.kind === 'held');
      await until('the second to see it', () => second.holder === 'first');
      assert.equal(second.isLeader(), false);
      await first.stop();
      await until('the second to lead', () => second.isLeader());
      assert.equal(
        (await client.get<KubeObject & { spec: { leaseTransitions: number } }>(LEASES, named('leader'))).spec.leaseTransitions,
        1,
      );
      await second.stop();
      await until('the watch to see it free', () => watching.state.kind === 'free');
    });

    more({ server: () => server, client: () => client, cacheOf });
  });
}

/** What the suite offers to further tests; valid once a test runs. */
export interface Suite<S extends ConformanceServer> {
  readonly server: () => S;
  readonly client: () => KubeClient;
  readonly cacheOf: (options?: Partial<ListWatchOptions<Thing>>) => ListWatchCache<Thing>;
}

/** Tests for servers that keep their data after a crash. */
export function crashTests({ server, client, cacheOf }: Suite<DurableServer>): void {
  test('a crash of the API server costs only time', { timeout: 2_400_000 }, async () => {
    await client().create(THINGS, thing('stays'));
    await client().create(THINGS, thing('goes'));
    const deltas: string[] = [];
    const cache = cacheOf({ backoffMs: [50, 500] });
    await cache.untilSynced();
    cache.onDelta((batch: readonly Delta<Thing>[]) => deltas.push(...batch.map((delta) => `${delta.type} ${delta.object.metadata.name}`)));
    const writer = new KubeWriter({ client: client(), attempts: 600, backoffMs: [50, 1_000] });
    await server().crash();
    await until('the loss to be noticed', () => cache.state === 'stale');
    assert.equal(cache.size, 2);
    // A restarted server answers before it serves its custom kinds: such a write is retried, as a controller does.
    const submitted = async (intent: Parameters<typeof writer.submit>[0]): ReturnType<typeof writer.submit> => {
      for (;;) {
        const result = await writer.submit(intent);
        if (result.ok || result.error.code !== 'KUBE_NOT_SERVED') return result;
        await sleep(100);
      }
    };
    const writes = Promise.all([
      submitted({ resource: THINGS, ...named('goes'), lane: 'object', operation: { kind: 'delete' } }),
      submitted({ resource: THINGS, ...named('comes'), lane: 'object', operation: { kind: 'create', object: thing('comes') } }),
    ]);
    await server().recover();
    assert.deepEqual(
      (await writes).map((result) => (result.ok ? 'ok' : result.error.code)),
      ['ok', 'ok'],
    );
    await until('both changes', () => deltas.length === 2);
    assert.deepEqual(deltas.toSorted(), ['delete goes', 'upsert comes']);
    await until('a current cache', () => cache.state === 'synced');
    assert.deepEqual([...cache.keys()].toSorted(), [`${NS}/comes`, `${NS}/stays`]);
    await writer.close();
  });
}
