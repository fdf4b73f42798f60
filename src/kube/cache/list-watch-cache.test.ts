import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import type { Delta } from './delta.ts';
import { type CacheEvent, ListWatchCache, type ListWatchOptions } from './list-watch-cache.ts';
import { type KubeObject, PODS } from '../resource.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { type Exchange, ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../../testing/until.ts';

interface Pod extends KubeObject {
  readonly spec?: { readonly big?: string; readonly nodeName?: string };
}

const pod = (name: string, version: number, more: object = {}): Pod => ({
  metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: String(version) },
  ...more,
});

describe('ListWatchCache', () => {
  let api: ScriptedApi;
  let clock: ManualClock;
  let cache: ListWatchCache<Pod>;
  let batches: string[][];
  let events: CacheEvent[];

  const open = (options: Partial<ListWatchOptions<Pod>> = {}): void => {
    cache = new ListWatchCache<Pod>({
      client: api.client(),
      resource: PODS,
      clock,
      random: () => 0.5,
      onCacheEvent: (event) => events.push(event),
      ...options,
    });
    cache.onDelta((deltas: readonly Delta<Pod>[]) => {
      batches.push(deltas.map((delta) => `${delta.type} ${delta.object.metadata.name}@${delta.object.metadata.resourceVersion}`));
    });
    cache.start();
  };
  const nextList = async (): Promise<Exchange> => {
    const exchange = await api.next();
    assert.equal(exchange.isWatch, false, `a list was expected, not ?${exchange.query.toString()}`);
    return exchange;
  };
  /** The cache requests an object, missing in a list, by name, and the server does not have it. */
  const denies = async (...names: string[]): Promise<void> => {
    for (const name of names) {
      const exchange = await api.next();
      assert.equal(exchange.path, `/api/v1/namespaces/ns/pods/${name}`);
      exchange.status(404, 'NotFound', `pods "${name}" not found`);
    }
  };
  const nextWatch = async (version: string): Promise<Exchange> => {
    const exchange = await api.next();
    assert.equal(exchange.isWatch, true, 'a watch was expected');
    assert.equal(exchange.query.get('resourceVersion'), version);
    assert.equal(exchange.query.get('allowWatchBookmarks'), 'true');
    return exchange.open();
  };
  /** The cache asks for the server's version, since its watch brought nothing. */
  const asks = async (): Promise<Exchange> => {
    const exchange = await nextList();
    assert.equal(exchange.query.get('limit'), '1');
    return exchange;
  };
  /** A first list of pods a and b at version 10, and its watch. */
  const synced = async (options: Partial<ListWatchOptions<Pod>> = {}): Promise<Exchange> => {
    open(options);
    (await nextList()).list([pod('a', 1), pod('b', 2)], '10');
    const watch = await nextWatch('10');
    await until('the open watch', () => cache.counters.watches === 1);
    batches = [];
    return watch;
  };
  /** Waits for the cache to sleep in a backoff, then ends the sleep. */
  const passBackoff = async (ms = 60_000): Promise<void> => {
    await until('the backoff', () => clock.timers > 0);
    clock.advance(ms);
  };

  beforeEach(async () => {
    api = await ScriptedApi.start();
    clock = new ManualClock();
    batches = [];
    events = [];
  });
  afterEach(async () => {
    await cache.close();
    await api.close();
  });

  it('opens no watch before `watchAfterMs`, and then continues from its list', async () => {
    open({ watchAfterMs: 1_000 });
    (await nextList()).list([pod('a', 1)], '10');
    await until('the wait', () => cache.ready && clock.timers > 0);
    // The next request is the one of this test.
    const other = api.client().list(PODS, { limit: 1 });
    (await nextList()).list([], '10');
    await other;
    clock.advance(1_000);
    (await nextWatch('10')).event('ADDED', pod('b', 11));
    await until('the event', () => cache.get('ns/b') !== undefined);
  });

  it('lists in pages, trims what enters, and is ready only when complete', async () => {
    open({ pageSize: 2, trim: (object) => ({ metadata: object.metadata, spec: { nodeName: 'kept' } }) });
    const first = await nextList();
    assert.equal(first.query.get('limit'), '2');
    first.list([pod('a', 1, { spec: { big: 'x' } }), pod('b', 2)], '10', 'next-page');
    const second = await nextList();
    assert.equal(second.query.get('continue'), 'next-page');
    assert.equal(cache.ready, false);
    assert.equal(cache.state, 'listing');
    second.list([pod('c', 3)], '10');
    await cache.untilSynced();
    assert.deepEqual(batches, [['upsert a@1', 'upsert b@2'], ['upsert c@3']]);
    assert.deepEqual(cache.get('ns/a')?.spec, { nodeName: 'kept' });
    assert.equal(cache.size, 3);
    await nextWatch('10');
  });

  for (const { title, cached, used } of [
    { title: "takes a long list from the server's cache", cached: '11', used: true },
    { title: "takes a long list from the server's cache and is marked as maybe behind", cached: '9', used: true },
    { title: "continues with pages if the server's cache is behind", cached: 'less', used: false },
    { title: "goes on with pages where the server's cache cannot be read", cached: undefined, used: false },
  ]) {
    it(title, async () => {
      open({ pageSize: 2, cachedAbove: 2 });
      (await nextList()).list([pod('a', 1), pod('b', 2)], '10', 'next-page', 1);
      const fromCache = await nextList();
      assert.equal(fromCache.query.get('resourceVersion'), '0');
      assert.equal(fromCache.query.get('limit'), null);
      if (cached === undefined) fromCache.status(504, 'Timeout', 'not now');
      else if (cached === 'less') fromCache.list([pod('a', 1), pod('gone', 3)], '9');
      else fromCache.list([pod('a', 1), pod('b', 2), pod('gone', 3)], cached);
      if (!used) {
        const second = await nextList();
        assert.equal(second.query.get('continue'), 'next-page');
        second.list([pod('c', 4)], '10');
      }
      await cache.untilSynced();
      assert.deepEqual([...cache.keys()], used ? ['ns/a', 'ns/b', 'ns/gone'] : ['ns/a', 'ns/b', 'ns/c']);
      assert.equal(cache.counters.failures, 0);
      assert.equal(cache.mayBeBehind, cached === '9');
      const watch = await nextWatch(used ? (cached ?? '') : '10');
      if (cached !== '9') return;
      watch.event('ADDED', pod('c', 11));
      await until('the event', () => cache.version === '11');
      assert.equal(cache.reached('12'), false);
      assert.equal(cache.mayBeBehind, true);
      watch.event('MODIFIED', pod('c', 12));
      await until('the event', () => cache.version === '12');
      assert.equal(cache.reached('12'), true);
      assert.equal(cache.mayBeBehind, false);
    });
  }

  for (const { title, versions, end } of [
    { title: 'reads a long list in parts, and takes each in as it arrives', versions: ['11', '11'], end: { watch: '11', behind: false } },
    {
      title: 'watches from the oldest version of parts with different versions',
      versions: ['13', '12'],
      end: { watch: '12', behind: true },
    },
    { title: 'continues with pages if the parts lack objects', versions: ['9', 'less'], end: { watch: '10', behind: false } },
    { title: 'continues with pages if a part cannot be read', versions: ['11', 'none'], end: { watch: '10', behind: false } },
  ]) {
    it(title, async () => {
      open({
        pageSize: 2,
        cachedAbove: 2,
        cachedParts: (objects) => Promise.resolve(objects === 4 ? ['on in (a)', 'on notin (a)'] : undefined),
      });
      (await nextList()).list([pod('a', 1), pod('b', 2)], '10', 'next-page', 2);
      const [one, other] = [await nextList(), await nextList()].toSorted((a, b) =>
        (a.query.get('labelSelector') ?? '').localeCompare(b.query.get('labelSelector') ?? ''),
      );
      assert.ok(one !== undefined && other !== undefined);
      assert.deepEqual(
        [one, other].map(({ query }) => [query.get('resourceVersion'), query.get('labelSelector')]),
        [
          ['0', 'on in (a)'],
          ['0', 'on notin (a)'],
        ],
      );
      const [first = '', second = ''] = versions;
      one.list([pod('a', 1), pod('gone', 3)], first);
      await until('the first part', () => cache.size === 2);
      assert.equal(cache.ready, false);
      if (second === 'none') other.status(504, 'Timeout', 'not now');
      else if (second === 'less') other.list([pod('b', 2)], '9');
      else other.list([pod('b', 2), pod('c', 4)], second);
      const paged = second === 'none' || second === 'less';
      if (paged) (await nextList()).list([pod('c', 4), pod('d', 5)], '10');
      if (paged) await denies('gone');
      await cache.untilSynced();
      assert.deepEqual([...cache.keys()].toSorted(), paged ? ['ns/a', 'ns/b', 'ns/c', 'ns/d'] : ['ns/a', 'ns/b', 'ns/c', 'ns/gone']);
      assert.equal(cache.mayBeBehind, end.behind);
      const watch = await nextWatch(end.watch);
      if (!end.behind) return;
      assert.equal(cache.reachedList(), false);
      watch.event('MODIFIED', pod('c', 13));
      await until('the event', () => cache.version === '13');
      assert.equal(cache.reachedList(), true);
      assert.equal(cache.mayBeBehind, false);
    });
  }

  it('requests a small first page if the rest may come from the cache', async () => {
    open({ pageSize: 250, cachedAbove: 200 });
    const first = await nextList();
    assert.equal(first.query.get('limit'), '100');
    first.list([pod('a', 1)], '10', 'next-page', 50);
    const second = await nextList();
    assert.equal(second.query.get('limit'), '250');
    second.list([pod('b', 2)], '10');
    await cache.untilSynced();
    assert.deepEqual([...cache.keys()], ['ns/a', 'ns/b']);
  });

  it('follows a watch chunk by chunk, however lines are cut', async () => {
    const watch = await synced();
    const lines = [
      { type: 'ADDED', object: pod('ü', 11) },
      { type: 'MODIFIED', object: pod('a', 12) },
      { type: 'DELETED', object: pod('b', 13) },
    ]
      .map((line) => `${JSON.stringify(line)}\n`)
      .join('');
    const bytes = Buffer.from(lines, 'utf8');
    const middle = bytes.indexOf('ü') + 1;
    watch.write(bytes.subarray(0, middle));
    await until('the half line', () => cache.lastReceivedAt !== undefined);
    await new Promise((resolve) => setTimeout(resolve, 20));
    assert.deepEqual(batches, []);
    watch.write(bytes.subarray(middle));
    await until('the rest', () => batches.length > 0);
    assert.deepEqual(batches, [['upsert ü@11', 'upsert a@12', 'delete b@2']]);
  });

  it('passes the object before with each delta', async () => {
    const watch = await synced();
    const before = cache.get('ns/a');
    let delta: Delta<Pod> | undefined;
    cache.onDelta((deltas) => {
      delta = deltas[0];
    });
    watch.event('MODIFIED', pod('a', 11));
    await until('the event', () => delta !== undefined);
    assert.equal(delta?.type === 'upsert' && delta.before, before);
  });

  it('resumes from the newest bookmark when the server ends the watch', async () => {
    const watch = await synced();
    watch.event('ADDED', pod('c', 11)).bookmark('40');
    await until('the bookmark', () => cache.counters.bookmarks === 1);
    clock.advance(5_000);
    watch.end();
    await nextWatch('40');
    assert.equal(cache.state, 'synced');
    assert.deepEqual(
      events.filter((event) => event.kind === 'failure'),
      [],
    );
  });

  it('relists after 410 during a watch and reports missed changes, deletions included', async () => {
    const watch = await synced();
    watch.event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'too old resource version' });
    (await nextList()).list([pod('a', 1), pod('c', 15)], '20');
    await denies('b');
    await nextWatch('20');
    assert.deepEqual(batches, [['upsert c@15'], ['delete b@2']]);
    assert.equal(cache.counters.lists.gone, 1);
  });

  it('relists after 410 in answer to a watch', async () => {
    const watch = await synced();
    clock.advance(5_000);
    watch.end();
    (await api.next()).status(410, 'Expired', 'too old');
    (await nextList()).list([pod('a', 1), pod('b', 2)], '30');
    await nextWatch('30');
    assert.deepEqual(batches, []);
  });

  it('reads the list in one answer when its continue token expired', async () => {
    open({ pageSize: 1 });
    (await nextList()).list([pod('a', 1)], '10', 'token');
    (await nextList()).status(410, 'Expired', 'The provided continue parameter is too old');
    const whole = await nextList();
    assert.equal(whole.query.get('limit'), null);
    whole.list([pod('b', 12)], '20');
    await denies('a');
    await nextWatch('20');
    assert.deepEqual(batches, [['upsert a@1'], ['upsert b@12'], ['delete a@1']]);
  });

  it('does not lose a deletion after repeated 410s, and does not retry in a tight loop', async () => {
    const watch = await synced();
    watch.event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'x' });
    (await nextList()).list([pod('a', 1)], '20');
    await denies('b');
    (await nextWatch('20')).event('ERROR', { kind: 'Status', code: 410, reason: 'Expired', message: 'x' });
    await new Promise((resolve) => setTimeout(resolve, 50));
    assert.equal(api.untaken, 0, 'it waits before the next list');
    await passBackoff();
    (await nextList()).list([pod('a', 1)], '21');
    await nextWatch('21');
    assert.deepEqual(batches, [['delete b@2']]);
  });

  it('counts a line that is no event and relists', async () => {
    const watch = await synced();
    watch.event('MODIFIED', pod('a', 11)).write('{"type":"MODIFIED","object":{"metad\n');
    await until('the bad line', () => cache.counters.undecodable === 1);
    await passBackoff();
    (await nextList()).list([pod('a', 11), pod('b', 14)], '20');
    await nextWatch('20');
    assert.deepEqual(batches.flat(), ['upsert a@11', 'upsert b@14']);
    assert.equal(events.filter((event) => event.kind === 'undecodable').length, 1);
  });

  for (const [what, line] of [
    ['an unknown type', { type: 'RENAMED', object: pod('a', 11) }],
    ['no name', { type: 'ADDED', object: { metadata: { resourceVersion: '11' } } }],
    ['no version', { type: 'ADDED', object: { metadata: { name: 'x' } } }],
    ['null', null],
  ] as const) {
    it(`relists after an event with ${what}`, async () => {
      const watch = await synced();
      watch.write(`${JSON.stringify(line)}\n`);
      await until('the bad event', () => cache.counters.undecodable === 1);
      await passBackoff();
      (await nextList()).list([pod('a', 1), pod('b', 2)], '20');
      await nextWatch('20');
    });
  }

  it('ignores repeated and old events', async () => {
    const watch = await synced();
    watch
      .event('MODIFIED', pod('a', 12))
      .event('MODIFIED', pod('a', 12))
      .event('MODIFIED', pod('a', 11))
      .event('DELETED', pod('b', 13))
      .event('ADDED', pod('b', 2))
      .event('ADDED', pod('c', 14));
    await until('the last event', () => cache.get('ns/c') !== undefined);
    assert.deepEqual(batches.flat(), ['upsert a@12', 'delete b@2', 'upsert c@14']);
    assert.equal(cache.counters.outdated, 3);
  });

  it("cuts a watch that is silent beyond the server's own timeout, which is short until bookmarks were seen", async () => {
    const watch = await synced({ watchSeconds: [300, 600], graceMs: 30_000 });
    assert.equal(watch.query.get('timeoutSeconds'), '65');
    clock.advance(94_000);
    (await asks()).list([], '10');
    assert.equal(cache.counters.silences, 0);
    clock.advance(2_000);
    await until('the cut', () => cache.counters.silences === 1 && cache.state === 'stale');
    await until('the connection to be closed', () => watch.closed);
    await passBackoff();
    await nextWatch('10');
    await until('the new watch', () => cache.state === 'synced');
  });

  it('cuts sooner once the server has sent bookmarks', async () => {
    const watch = await synced({ bookmarkSilenceMs: 80_000 });
    watch.bookmark('11');
    await until('the bookmark', () => cache.counters.bookmarks === 1);
    clock.advance(79_000);
    assert.equal(cache.counters.silences, 0);
    watch.bookmark('12');
    await until('the bookmark', () => cache.counters.bookmarks === 2);
    clock.advance(79_000);
    assert.equal(cache.counters.silences, 0);
    clock.advance(2_000);
    await until('the cut', () => cache.counters.silences === 1);
  });

  it('cuts later watches as soon, until the server was silent: one silence alone is no failure', async () => {
    const first = await synced({ bookmarkSilenceMs: 100_000, watchSeconds: [300, 600], graceMs: 30_000 });
    first.bookmark('11');
    await until('the bookmark', () => cache.counters.bookmarks === 1);
    clock.advance(2_000);
    first.end();
    assert.equal((await nextWatch('11')).query.get('timeoutSeconds'), '450');
    await until('the second watch', () => cache.counters.watches === 2);
    clock.advance(99_000);
    assert.equal(cache.counters.silences, 0);
    (await asks()).list([], '11');
    clock.advance(2_000);
    await until('the cut', () => cache.counters.silences === 1);
    // At once, with no delay.
    await nextWatch('11');
    await until('the third watch', () => cache.counters.watches === 3);
    assert.deepEqual([cache.state, cache.counters.failures], ['synced', 0]);
    clock.advance(94_000);
    assert.equal(cache.counters.silences, 1);
    clock.advance(2_000);
    await until('the second cut', () => cache.counters.silences === 2 && cache.state === 'stale');
    assert.equal(cache.counters.failures, 1);
  });

  it('reads the reply to a write before trimming it: an object is deleted with the last finalizer, a Namespace with that of its spec', async () => {
    await synced({ trim: ({ metadata }) => ({ metadata }) });
    const leaving = (version: number, metadata: object, finalizers: readonly string[]): Pod => {
      const before = pod('a', version, { spec: { finalizers } });
      return { ...before, metadata: { ...before.metadata, deletionTimestamp: '2030-01-01T00:00:00Z', ...metadata } };
    };
    const version = (): string | undefined => cache.get('ns/a')?.metadata.resourceVersion;
    cache.applyOwn(leaving(11, {}, ['kubernetes']));
    assert.equal(version(), '11');
    cache.applyOwn(leaving(12, { deletionGracePeriodSeconds: 30 }, []));
    assert.equal(version(), '12');
    cache.applyOwn(leaving(13, { finalizers: ['theirs'] }, []));
    assert.equal(version(), '13');
    cache.applyOwn(leaving(14, {}, []));
    assert.equal(version(), undefined);
  });

  it('reopens a watch that is silent after an own write was answered', async () => {
    const watch = await synced({ ownSilenceMs: 15_000 });
    cache.applyOwn(pod('c', 12));
    clock.advance(14_900);
    assert.equal(cache.counters.silences, 0);
    clock.advance(200);
    await until('the cut', () => cache.counters.silences === 1);
    await until('the connection to be closed', () => watch.closed);
    await passBackoff();
    (await nextWatch('10')).event('ADDED', pod('c', 12)).event('ADDED', pod('d', 13));
    await until('what it had missed', () => cache.get('ns/d') !== undefined);
    assert.match(events.map((event) => (event.kind === 'failure' ? event.error.message : '')).join(' '), /nothing received for 15 s/);
  });

  it('keeps a watch that is late and not silent, and one that delivered the event before the reply', async () => {
    const watch = await synced({ ownSilenceMs: 15_000 });
    cache.applyOwn(pod('c', 20));
    clock.advance(10_000);
    watch.event('ADDED', pod('d', 12));
    await until('an older event', () => cache.get('ns/d') !== undefined);
    clock.advance(10_000);
    watch.event('ADDED', pod('c', 20));
    await until('its own event', () => cache.counters.events === 2);
    cache.applyOwn(pod('c', 20));
    clock.advance(60_000);
    assert.deepEqual([cache.counters.silences, cache.counters.watches, cache.state], [0, 1, 'synced']);
  });

  it('retries soon after a failure when the server has answered another request, but not before its Retry-After', async () => {
    const watch = await synced({ backoffMs: [30_000, 30_000] });
    cache.retrySoon();
    watch.reset();
    await until('the backoff', () => cache.state === 'stale' && clock.timers > 0);
    cache.retrySoon();
    clock.advance(6_400);
    assert.equal(api.untaken, 0);
    clock.advance(200);
    (await api.next()).status(429, 'TooManyRequests', 'slow down', {}, { 'retry-after': '20' });
    await until('the wait', () => cache.counters.failures === 2 && clock.timers > 0);
    cache.retrySoon();
    clock.advance(19_000);
    assert.equal(api.untaken, 0);
    clock.advance(20_000);
    await nextWatch('10');
    await until('the new watch', () => cache.state === 'synced');
  });

  it('is stale while it cannot follow, resumes, and after some failures lists', async () => {
    const watch = await synced();
    watch.reset();
    await until('stale', () => cache.state === 'stale');
    assert.equal(cache.ready, true);
    for (let i = 0; i < 3; i++) {
      await passBackoff();
      (await api.next()).status(500, 'InternalError', 'etcdserver: leader changed');
    }
    await until('four failures', () => cache.counters.failures === 4);
    await passBackoff();
    (await nextList()).list([pod('a', 1), pod('b', 2)], '50');
    await nextWatch('50');
    assert.equal(cache.state, 'synced');
    assert.deepEqual(batches, []);
  });

  it('waits for the time in Retry-After', async () => {
    open();
    (await nextList()).status(429, 'TooManyRequests', 'slow down', { retryAfterSeconds: 7 }, { 'retry-after': '7' });
    await until('the failure', () => cache.counters.failures === 1);
    const failure = events.find((event) => event.kind === 'failure');
    assert.equal(failure?.kind === 'failure' && failure.retryInMs, 7_000);
  });

  it('does not pause for ever nor loop when a server ends each watch at once', async () => {
    const watch = await synced();
    watch.end();
    await new Promise((resolve) => setTimeout(resolve, 30));
    assert.equal(api.untaken, 0);
    await passBackoff();
    await nextWatch('10');
  });

  it('reports that an optional resource is not served, is ready without it, and reads it when it appears', async () => {
    open({ optional: true });
    (await nextList()).text('404 page not found\n', 404);
    await cache.untilSynced();
    assert.equal(cache.state, 'not-served');
    clock.advance(40_000);
    (await nextList()).list([pod('a', 1)], '10');
    await nextWatch('10');
    assert.equal(cache.state, 'synced');
    assert.deepEqual(batches, [['upsert a@1']]);
  });

  it('does not call a required resource ready while it is not served', async () => {
    open();
    (await nextList()).text('404 page not found\n', 404);
    await until('not-served', () => cache.state === 'not-served');
    assert.equal(cache.ready, false);
  });

  it('removes objects only when their resource stays unknown', async () => {
    const watch = await synced({ notServedGraceMs: 120_000 });
    clock.advance(5_000);
    watch.end();
    (await api.next()).text('404 page not found\n', 404);
    await until('not-served', () => cache.state === 'not-served');
    assert.equal(cache.size, 2, 'an API server that starts does not know its CRDs yet');
    for (let i = 0; i < 4; i++) {
      clock.advance(40_000);
      (await nextList()).text('404 page not found\n', 404);
      await until('the failure', () => events.filter((event) => event.kind === 'failure').length === i + 2);
    }
    assert.deepEqual(batches, [['delete a@1', 'delete b@2']]);
    assert.equal(cache.size, 0);
  });

  it('never removes the objects of a required resource because it is not served', async () => {
    const watch = await synced();
    clock.advance(5_000);
    watch.end();
    (await api.next()).text('404 page not found\n', 404);
    for (let i = 0; i < 10; i++) {
      await until('the failure', () => events.filter((event) => event.kind === 'failure').length === i + 1);
      clock.advance(40_000);
      (await nextList()).text('404 page not found\n', 404);
    }
    assert.equal(cache.size, 2);
    assert.deepEqual(batches, []);
  });

  it('heals a lost event with its periodic list', async () => {
    const watch = await synced({ relistIntervalMs: 1_800_000, graceMs: 3_000_000 });
    clock.advance(1_799_000);
    (await asks()).list([], '10');
    assert.equal(api.untaken, 0);
    clock.advance(2_000);
    (await nextList()).list([pod('a', 1)], '20');
    await denies('b');
    await nextWatch('20');
    assert.deepEqual(batches, [['delete b@2']]);
    assert.equal(cache.counters.healed, 1);
    assert.equal(cache.state, 'synced');
    await until('the end of the old watch', () => watch.closed);
  });

  it('by default lists again after 24 to 36 minutes, which bounds how long a lost event is unseen', async () => {
    await synced({ graceMs: 3_000_000 });
    clock.advance(23 * 60_000);
    (await asks()).list([], '10');
    assert.equal(api.untaken, 0);
    clock.advance(13 * 60_000 + 1_000);
    (await nextList()).list([pod('a', 1), pod('b', 2), pod('late', 9)], '20');
    await nextWatch('20');
    assert.deepEqual(batches, [['upsert late@9']]);
    assert.equal(cache.counters.lists.periodic, 1);
  });

  it('applies replies to own writes at once, but does not undo a deletion already seen', async () => {
    const watch = await synced();
    cache.applyOwn(pod('c', 11));
    assert.deepEqual(batches, [['upsert c@11']]);
    watch.event('ADDED', pod('c', 11)).event('DELETED', pod('c', 12));
    await until('the deletion', () => cache.get('ns/c') === undefined);
    cache.applyOwn(pod('c', 11));
    assert.equal(cache.get('ns/c'), undefined);
    cache.applyOwnDelete('ns/a', 'uid-a');
    assert.deepEqual(batches.slice(1), [['delete c@11'], ['delete a@1']]);
  });

  it('finds after 75 s of silence that the data is older than what it has: stale, a full list, and objects go when a 404 confirms it', async () => {
    await synced();
    clock.advance(75_000);
    (await asks()).list([pod('a', 1)], '9');
    await until('the list that follows', () => cache.state === 'stale');
    assert.deepEqual(events.at(-1), { kind: 'restored', held: '10', served: '9' });
    const list = await nextList();
    assert.equal(list.query.get('limit'), '500');
    assert.deepEqual([cache.size, batches], [2, []], 'nothing is gone before');
    list.list([pod('a', 1), pod('was', 3)], '9');
    await denies('b');
    (await nextWatch('9')).event('ADDED', pod('c', 10));
    await until('the new event', () => cache.get('ns/c') !== undefined);
    assert.deepEqual(batches, [['upsert was@3'], ['delete b@2'], ['upsert c@10']]);
    assert.deepEqual([cache.state, cache.counters.lists.restored, api.untaken], ['synced', 1, 0]);
  });

  it('is not put off by a version that is as new or newer, nor by one without an order, nor by an error', async () => {
    const watch = await synced();
    for (const [at, version] of ['10', '11', 'opaque'].entries()) {
      clock.advance(75_000);
      (await asks()).list([], version);
      watch.bookmark('10');
      await until('the bookmark', () => cache.counters.bookmarks === at + 1);
    }
    clock.advance(75_000);
    (await asks()).status(500, 'InternalError', 'no');
    await new Promise((done) => setTimeout(done, 50));
    assert.equal(cache.state, 'synced');
    assert.equal(cache.counters.lists.restored, 0);
  });

  it('asks 5 s after a failure: whoever restores a backup stops the server', async () => {
    const watch = await synced();
    watch.reset();
    await until('the failure', () => cache.state === 'stale');
    await passBackoff();
    await nextWatch('10');
    await until('the new watch', () => cache.counters.watches === 2);
    clock.advance(5_000);
    (await asks()).list([], '7');
    (await nextList()).list([pod('a', 1), pod('b', 2)], '7');
    await nextWatch('7');
    assert.deepEqual(batches, []);
    clock.advance(6_000);
    assert.equal(api.untaken, 0, 'it does not ask again');
  });

  it('lists again for what another cache of the server found, once', async () => {
    const watch = await synced();
    assert.equal(cache.restored(), true);
    assert.equal(cache.state, 'stale');
    (await nextList()).list([pod('a', 1), pod('b', 2)], '7');
    await nextWatch('7');
    assert.deepEqual([cache.state, cache.counters.lists.restored], ['synced', 1]);
    await until('the end of the old watch', () => watch.closed);
  });

  it('keeps integers beyond 2^53', async () => {
    const watch = await synced();
    watch.write(
      '{"type":"ADDED","object":{"metadata":{"name":"big","namespace":"ns","uid":"u","resourceVersion":"11"},"status":{"n":18446744073709551614}}}\n',
    );
    await until('the event', () => cache.get('ns/big') !== undefined);
    assert.deepEqual((cache.get('ns/big') as { status?: unknown }).status, { n: 18446744073709551614n });
  });

  it('rejects waiters when it is closed', async () => {
    open();
    const waiting = assert.rejects(cache.untilSynced(), { code: 'KUBE_CLOSED' });
    await nextList();
    await cache.close();
    await waiting;
    assert.equal(cache.state, 'closed');
  });
});
