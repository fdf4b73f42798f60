/** The faults that the lab can inject, and that our own client recovers from each of them. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { KubeClient } from '../../src/kube/client/client.ts';
import { connectionFromKubeconfig } from '../../src/kube/transport/connection.ts';
import { isKubeError } from '../../src/kube/errors.ts';
import { KubeWriter } from '../../src/kube/write/kube-writer.ts';
import { LeaderElection } from '../../src/kube/leader/leader-election.ts';
import { ListWatchCache, type ListWatchOptions } from '../../src/kube/cache/list-watch-cache.ts';
import type { KubeObject, Resource } from '../../src/kube/resource.ts';
import { until } from '../../src/testing/until.ts';
import { KubeTransport } from '../../src/kube/transport/transport.ts';
import type { Fault, FaultRule } from '../../lab/apiserver/faults/fault.ts';
import type { SetFault } from '../../lab/apiserver/faults/faults.ts';
import { LabApiServer } from '../../lab/apiserver/server.ts';
import { HttpsClient } from './https-client.ts';
import { Kubectl } from './kubectl.ts';

interface ConfigMap extends KubeObject {
  readonly data?: Readonly<Record<string, string>>;
}

/** Excludes the ConfigMap that the control plane adds to every namespace. */
const isOwn = ({ metadata }: ConfigMap): boolean => metadata.name !== 'kube-root-ca.crt';
const MAPS: Resource = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true };
const NS = 'default';
const map = (name: string, value = '0'): ConfigMap => ({ metadata: { name, namespace: NS }, data: { value } });

describe('faults on demand', () => {
  let directory: string;
  let server: LabApiServer;
  let client: KubeClient;
  let http: HttpsClient;
  const open: { close(): Promise<void> }[] = [];

  const strike = async (rule: FaultRule): Promise<SetFault> => {
    const reply = await http.send('POST', '/lab/faults', rule);
    assert.equal(reply.status, 201, reply.text);
    return reply.body as unknown as SetFault;
  };
  const onWatches = (kind: Fault['kind'], times = 1): Promise<SetFault> =>
    strike({ match: { verbs: ['watch'], resources: ['configmaps'] }, times, fault: { kind } as Fault });
  const cacheOf = async (options: Partial<ListWatchOptions<ConfigMap>> = {}): Promise<ListWatchCache<ConfigMap>> => {
    const cache = new ListWatchCache<ConfigMap>({ client, resource: MAPS, namespace: NS, backoffMs: [50, 200], ...options }).start();
    open.push(cache);
    await cache.untilSynced();
    return cache;
  };
  const value = (cache: ListWatchCache<ConfigMap>, name: string): string | undefined => cache.get(`${NS}/${name}`)?.data?.['value'];
  const set = (name: string, data: string): Promise<ConfigMap> =>
    client.mergePatch<ConfigMap>(MAPS, map(name).metadata, { data: { value: data } });

  before(async () => {
    directory = await mkdtemp(join(tmpdir(), 'kiln-faults-'));
    server = new LabApiServer({ dataDir: directory, bookmarkIntervalMs: 200 });
    await server.start();
    const kubeconfig = join(directory, 'kubeconfig');
    client = new KubeClient(new KubeTransport(await connectionFromKubeconfig({ path: kubeconfig })));
    http = await HttpsClient.fromKubeconfig(kubeconfig);
  });
  afterEach(async () => {
    await http.send('DELETE', '/lab/faults');
    for (const one of open.splice(0)) await one.close();
    await client
      .listAll<ConfigMap>(MAPS, { namespace: NS })
      .then((all) => Promise.all(all.filter(isOwn).map(({ metadata }) => client.delete(MAPS, metadata))));
  });
  after(async () => {
    http.close();
    await client.close();
    await server.stop();
    await rm(directory, { recursive: true });
  });

  test('faults are set, shown and removed, also with kubectl; the error of an invalid one names its fields', async () => {
    const kubectl = new Kubectl(join(directory, 'kubeconfig'), join(directory, 'cache'));
    await kubectl.ok(
      ['create', '--raw', '/lab/faults', '-f', '-'],
      JSON.stringify({ match: { verbs: ['get'], userAgent: 'kubectl', name: 'm' }, times: 1, fault: { kind: 'error', code: 503 } }),
    );
    await client.create(MAPS, map('m'));
    assert.equal((await client.get<ConfigMap>(MAPS, map('m').metadata)).metadata.name, 'm');
    assert.match(await kubectl.fails(['get', 'cm', 'm']), /ServiceUnavailable.*a fault of the laboratory/);
    assert.deepEqual(JSON.parse(await kubectl.ok(['get', '--raw', '/lab/faults'])), { items: [] });
    await kubectl.ok(['get', 'cm', 'm']);
    const { id } = await strike({ fault: { kind: 'delay', milliseconds: 1 } });
    assert.equal((await http.send('DELETE', `/lab/faults/${id}`)).status, 200);
    assert.equal((await http.send('DELETE', `/lab/faults/${id}`)).status, 404);
    const wrong = await http.send('POST', '/lab/faults', { match: { verbs: ['read'] }, tines: 2, fault: { kind: 'error' } });
    assert.equal(wrong.status, 422);
    for (const named of [
      /fault\.code: Required value/,
      /match\.verbs: Unsupported value: "read"/,
      /tines: Invalid value: 2: no such field/,
    ])
      assert.match(String(wrong.body['message']), named);
    const endless = await http.send('POST', '/lab/faults', { fault: { kind: 'delay', milliseconds: 1e12 } });
    assert.equal(endless.status, 422);
    assert.match(
      String(endless.body['message']),
      /fault\.milliseconds: Invalid value: 1000000000000: must be a whole number from 0 to 2147483647/,
    );
  });

  test('every n-th request, and only so often', async () => {
    await strike({ match: { verbs: ['get'] }, every: 3, times: 2, fault: { kind: 'error', code: 500 } });
    const codes: number[] = [];
    for (let index = 0; index < 9; index++) codes.push((await http.get('/api/v1/namespaces/default')).status);
    assert.deepEqual(codes, [200, 200, 500, 200, 200, 500, 200, 200, 200]);
  });

  test('delays: a late answer is an answer, one that is too late is a coded error', async () => {
    await strike({ match: { verbs: ['list'] }, times: 1, fault: { kind: 'delay', milliseconds: 300 } });
    const began = performance.now();
    await cacheOf();
    assert.ok(performance.now() - began >= 290, 'it is late: a timer may be a moment early');
    const impatient = new KubeClient(
      new KubeTransport(await connectionFromKubeconfig({ path: join(directory, 'kubeconfig') }), { timeoutMs: 2_000 }),
    );
    open.push(impatient);
    await strike({ match: { verbs: ['get'] }, times: 1, fault: { kind: 'delay', milliseconds: 20_000 } });
    await assert.rejects(impatient.get(MAPS, map('m').metadata), (error) => isKubeError(error, 'KUBE_TIMEOUT'));
  });

  test('errors: lists, watches and writes are retried, writes not before Retry-After', async () => {
    await strike({ match: { verbs: ['list'] }, times: 2, fault: { kind: 'error', code: 500 } });
    await strike({ match: { verbs: ['watch'] }, times: 2, fault: { kind: 'error', code: 503 } });
    const cache = await cacheOf();
    assert.ok(cache.counters.failures >= 2);
    const writer = new KubeWriter({ client, backoffMs: [10, 50] });
    open.push(writer);
    await strike({ match: { verbs: ['create'] }, times: 2, fault: { kind: 'error', code: 500 } });
    await strike({ match: { verbs: ['patch'] }, times: 1, fault: { kind: 'error', code: 429, retryAfterSeconds: 1 } });
    const created = await writer.submit({
      ...{ resource: MAPS, namespace: NS, name: 'w', lane: 'object' },
      operation: { kind: 'create', object: map('w') },
    });
    assert.ok(created.ok);
    const began = performance.now();
    const patched = await writer.submit({
      ...{ resource: MAPS, namespace: NS, name: 'w', lane: 'object' },
      operation: { kind: 'merge-patch', patch: { data: { value: '1' } } },
    });
    assert.ok(patched.ok);
    assert.ok(performance.now() - began >= 990, 'Retry-After was kept: a timer may be a moment early');
    await until('the cache to follow', () => value(cache, 'w') === '1');
  });

  test('broken connections: a request without effect is repeated, one that took effect is not', async () => {
    const writer = new KubeWriter({ client, backoffMs: [10, 50] });
    open.push(writer);
    for (const when of ['before', 'after'] as const) {
      await strike({ match: { verbs: ['create'] }, times: 1, fault: { kind: 'cut', when } });
      const result = await writer.submit({
        ...{ resource: MAPS, namespace: NS, name: when, lane: 'object' },
        operation: { kind: 'create', object: map(when, when) },
      });
      assert.ok(result.ok, `${when}: ${result.ok ? '' : result.error.message}`);
      assert.equal((await client.get<ConfigMap>(MAPS, map(when).metadata)).data?.['value'], when);
    }
    await strike({ match: { verbs: ['delete'] }, times: 1, fault: { kind: 'cut', when: 'after' } });
    const gone = await writer.submit({
      ...{ resource: MAPS, namespace: NS, name: 'after', lane: 'object' },
      operation: { kind: 'delete' },
    });
    assert.ok(gone.ok);
    await assert.rejects(client.get(MAPS, map('after').metadata), (error) => isKubeError(error, 'KUBE_NOT_FOUND'));
  });

  test('the next full list repairs a lost event', async () => {
    await client.create(MAPS, map('m'));
    const cache = await cacheOf({ relistIntervalMs: 500 });
    await onWatches('drop-event');
    await set('m', 'lost');
    await until('the list to heal it', () => value(cache, 'm') === 'lost');
    assert.equal(cache.counters.healed, 1);
  });

  test('an event that comes twice counts once', async () => {
    await client.create(MAPS, map('m'));
    const cache = await cacheOf();
    let deltas = 0;
    cache.onDelta((batch) => (deltas += batch.length));
    await onWatches('repeat-event');
    await set('m', '1');
    await set('m', '2');
    await until('both', () => value(cache, 'm') === '2');
    assert.equal(deltas, 2);
    assert.equal(cache.counters.events, 3);
    assert.equal(cache.counters.outdated, 1);
  });

  test('a broken line is followed by a full list', async () => {
    await client.create(MAPS, map('m'));
    const cache = await cacheOf();
    await onWatches('garble-event');
    await set('m', 'broken');
    await until('it to come all the same', () => value(cache, 'm') === 'broken');
    assert.deepEqual([cache.counters.undecodable, cache.counters.lists.undecodable], [1, 1]);
  });

  test('a watch that ends is resumed without a list; an expired one begins with a list', async () => {
    await client.create(MAPS, map('m'));
    const cache = await cacheOf();
    const lists = (): number => Object.values(cache.counters.lists).reduce((sum, count) => sum + count, 0);
    await onWatches('close-watch', 3);
    for (const data of ['1', '2', '3']) {
      await set('m', data);
      await until('it to come', () => value(cache, 'm') === data);
    }
    assert.equal(lists(), 1);
    await onWatches('expire-watch');
    await set('m', 'expired');
    await until('it to come', () => value(cache, 'm') === 'expired');
    assert.equal(cache.counters.lists.gone, 1);
  });

  test('a silent watch is replaced', async () => {
    await client.create(MAPS, map('m'));
    const cache = await cacheOf({ bookmarkSilenceMs: 600, graceMs: 300 });
    await until('a bookmark', () => cache.counters.bookmarks > 0);
    await onWatches('stall-watch');
    await set('m', 'unheard');
    await until('it to come all the same', () => value(cache, 'm') === 'unheard');
    assert.ok(cache.counters.silences > 0);
  });

  test('a leader that cannot renew its Lease stops in time, and leads again when it can', async () => {
    const election = new LeaderElection({
      ...{ client, namespace: NS, name: 'l', retryPeriodMs: 50, renewDeadlineMs: 500, leaseDurationMs: 800 },
    }).start();
    await until('it to lead', () => election.isLeader());
    const { id } = await strike({ match: { resources: ['leases.coordination.k8s.io'] }, fault: { kind: 'error', code: 500 } });
    assert.ok(election.leaderForMs <= 500, 'it stops before another may lead');
    await until('it to stop', () => !election.isLeader());
    await http.send('DELETE', `/lab/faults/${id}`);
    await until('it to lead again', () => election.isLeader());
    await election.stop();
  });

  test('all faults together: in the end the cache equals the server', { timeout: 2_400_000 }, async () => {
    const cache = await cacheOf({ relistIntervalMs: 1_000, bookmarkSilenceMs: 600, graceMs: 300 });
    const faults: readonly (readonly [number, Fault, FaultRule['match']])[] = [
      [5, { kind: 'drop-event' }, {}],
      [7, { kind: 'repeat-event' }, {}],
      [11, { kind: 'garble-event' }, {}],
      [13, { kind: 'close-watch' }, {}],
      [29, { kind: 'expire-watch' }, {}],
      [61, { kind: 'stall-watch' }, {}],
      [6, { kind: 'error', code: 500 }, {}],
      [9, { kind: 'cut', when: 'after' }, {}],
      [10, { kind: 'cut', when: 'before' }, {}],
      [4, { kind: 'delay', milliseconds: 20 }, {}],
    ];
    for (const [every, fault, match] of faults) await strike({ match: { resources: ['configmaps'], ...match }, every, fault });
    const writer = new KubeWriter({ client, attempts: 500, backoffMs: [10, 100] });
    open.push(writer);
    const wanted = new Map<string, string>();
    for (let index = 0; index < 120; index++) {
      const name = `c${index % 12}`;
      const known = wanted.has(name);
      const target = { resource: MAPS, namespace: NS, name, lane: 'object' };
      const isDeletion = known && index % 5 === 0;
      const result = await writer.submit({
        ...target,
        operation: isDeletion
          ? { kind: 'delete' }
          : known
            ? { kind: 'merge-patch', patch: { data: { value: String(index) } } }
            : { kind: 'create', object: map(name, String(index)) },
      });
      assert.ok(result.ok, result.ok ? '' : `${name}: ${result.error.message}`);
      if (isDeletion) wanted.delete(name);
      else wanted.set(name, String(index));
    }
    await http.send('DELETE', '/lab/faults');
    const shown = (): Map<string, string | undefined> =>
      new Map([...cache.values()].filter(isOwn).map((each): [string, string | undefined] => [each.metadata.name, each.data?.['value']]));
    await until('the cache to agree', () => {
      const now = shown();
      return now.size === wanted.size && [...wanted].every(([name, data]) => now.get(name) === data);
    });
    const stored = await client.listAll<ConfigMap>(MAPS, { namespace: NS });
    assert.deepEqual(new Map(stored.filter(isOwn).map(({ metadata, data }) => [metadata.name, data?.['value']])), wanted);
  });
});
