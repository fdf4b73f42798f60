/** Answers with status 200 that do not fit the request, lists without an end, lists that lack existing objects. */
import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { AnswerLimit } from '../transport/answer-limit.ts';
import type { KubeClient } from '../client/client.ts';
import { isKubeError, type KubeErrorCode } from '../errors.ts';
import { type CacheEvent, ListWatchCache, type ListWatchOptions } from './list-watch-cache.ts';
import { type KubeObject, PODS, type Resource } from '../resource.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { type Exchange, ScriptedApi } from '../testing/scripted-api.ts';
import { until } from '../../testing/until.ts';

const THINGS: Resource = { group: 'example.com', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
const pod = (name: string): KubeObject => ({ metadata: { name, namespace: 'ns', uid: `uid-${name}`, resourceVersion: '1' } });
const NAMES = (count: number): string[] => Array.from({ length: count }, (_, at) => `p${at}`);

describe('answers that do not fit the request', () => {
  let api: ScriptedApi;
  let client: KubeClient;

  beforeEach(async () => {
    api = await ScriptedApi.start();
    client = api.client();
  });
  afterEach(() => api.close());

  const fails = async (code: KubeErrorCode, promise: Promise<unknown>, what: string): Promise<void> => {
    await assert.rejects(promise, (error) => isKubeError(error, code), what);
  };
  const metadata = { resourceVersion: '5' };
  const list = { kind: 'PodList', apiVersion: 'v1', metadata };

  it('are an error and never an empty list', async () => {
    const answers: Readonly<Record<string, unknown>> = {
      'no items': list,
      'items that are an object': { ...list, items: {} },
      'a Status': { kind: 'Status', apiVersion: 'v1', status: 'Success', metadata, items: [] },
      'another kind': { ...list, kind: 'NodeList', items: [] },
      'another version': { ...list, apiVersion: 'v2', items: [] },
      'no kind': { metadata, items: [] },
      'no version': { kind: 'PodList', apiVersion: 'v1', metadata: {}, items: [] },
      'an array': [],
      null: null,
      text: 'all is well',
      'items that are null': { ...list, items: [null] },
      'an item of another kind': { ...list, items: [{ ...pod('a'), kind: 'Node' }] },
      'an item of another version': { ...list, items: [{ ...pod('a'), apiVersion: 'v2' }] },
      'an item without a name': { ...list, items: [{ metadata: { uid: 'u', namespace: 'ns', resourceVersion: '1' } }] },
      'an item without a uid': { ...list, items: [{ metadata: { name: 'a', namespace: 'ns', resourceVersion: '1' } }] },
      'an item without a namespace': { ...list, items: [{ metadata: { name: 'a', uid: 'u', resourceVersion: '1' } }] },
    };
    for (const [what, answer] of Object.entries(answers)) {
      api.handler = (exchange) => exchange.json(answer);
      await fails('KUBE_PROTOCOL', client.list(PODS, { limit: 5 }), `${what}, a page`);
      await fails('KUBE_PROTOCOL', client.list(PODS), `${what}, at once`);
      await fails(
        'KUBE_PROTOCOL',
        client.readCached(PODS, {}, () => undefined),
        `${what}, from the cache`,
      );
    }
    api.handler = (exchange) => exchange.json({ ...list, items: [pod('a')] });
    await fails('KUBE_PROTOCOL', client.list(PODS, { limit: 5, namespace: 'other' }), 'of another namespace');
    // As old servers write a list that is empty.
    api.handler = (exchange) => exchange.json({ ...list, items: null });
    assert.deepEqual((await client.list(PODS, { limit: 5 })).items, []);
  });

  it('are not accepted as the requested or written object, nor as a deletion', async () => {
    for (const answer of [{ kind: 'Status', apiVersion: 'v1', status: 'Failure' }, pod('b'), { ...pod('a'), kind: 'Node' }, null, []]) {
      api.handler = (exchange) => exchange.json(answer);
      const name = { namespace: 'ns', name: 'a' };
      await fails('KUBE_PROTOCOL', client.get(PODS, name), JSON.stringify(answer));
      await fails('KUBE_PROTOCOL', client.mergePatch(PODS, name, {}), JSON.stringify(answer));
      await fails('KUBE_PROTOCOL', client.delete(PODS, name), JSON.stringify(answer));
    }
  });

  it('are limited: a page, a list, an item, the frame, and the text of a failure', async () => {
    const mebi = 'x'.repeat(1024 * 1024);
    const endless = (begin: string, again: string, status = 200): void => {
      api.handler = (exchange: Exchange) => {
        if (status === 200) exchange.open();
        exchange.write(begin);
        const more = (): void => {
          if (exchange.closed) return;
          exchange.write(again);
          setImmediate(more);
        };
        more();
      };
    };
    endless('{"kind":"PodList","apiVersion":"v1","items":[{"a":"', mebi);
    await fails('KUBE_ANSWER_TOO_LARGE', client.list(PODS, { limit: 5 }), 'a page');
    await fails('KUBE_ANSWER_TOO_LARGE', client.list(PODS), 'an item');
    endless('{"kind":"PodList","apiVersion":"v1","x":"', mebi);
    await fails(
      'KUBE_ANSWER_TOO_LARGE',
      client.readCached(PODS, {}, () => undefined),
      'what is around the items',
    );
    const items = `${JSON.stringify(pod('a'))},`.repeat(1_000);
    endless('{"kind":"PodList","apiVersion":"v1","items":[', items);
    await fails('KUBE_ANSWER_TOO_LARGE', client.list(PODS, { whole: new AnswerLimit(4 * mebi.length) }), 'a list by its bytes');
    await fails('KUBE_ANSWER_TOO_LARGE', client.list(PODS, { whole: new AnswerLimit(Infinity, 5_000) }), 'a list by its objects');
  });

  it('are limited over all pages', async () => {
    let pages = 0;
    api.handler = (exchange) =>
      exchange.list(
        NAMES(100).map((name) => pod(`${name}-${pages++}`)),
        '5',
        'more',
      );
    await fails('KUBE_ANSWER_TOO_LARGE', client.listAll(PODS, { whole: new AnswerLimit(Infinity, 1_000) }), 'pages');
    assert.ok(pages <= 1_200, String(pages));
  });
});

describe('a list that lacks known objects', () => {
  let api: ScriptedApi;
  let clock: ManualClock;
  let cache: ListWatchCache<KubeObject>;
  let events: CacheEvent[];
  let deleted: string[];
  /** Names in the list, and names that the server has. */
  let listed: readonly string[];
  let there: ReadonlySet<string>;
  let asked: string[];

  const open = async (names: readonly string[], options: Partial<ListWatchOptions<KubeObject>> = {}): Promise<void> => {
    listed = names;
    there = new Set(names);
    cache = new ListWatchCache<KubeObject>({
      client: api.client(),
      resource: PODS,
      clock,
      random: () => 0.5,
      onCacheEvent: (one) => events.push(one),
      ...options,
    });
    cache.onDelta((deltas) => {
      for (const { type, object } of deltas) if (type === 'delete') deleted.push(object.metadata.name);
    });
    cache.start();
    await cache.untilSynced();
    await until('the watch', () => cache.counters.watches === 1);
  };
  /** Waits, and advances the clock meanwhile. */
  const passing = async (what: string, condition: () => boolean): Promise<boolean> =>
    until(what, () => {
      clock.advance(100);
      return condition();
    });

  beforeEach(async () => {
    api = await ScriptedApi.start();
    clock = new ManualClock();
    events = [];
    deleted = [];
    asked = [];
    api.handler = (exchange) => {
      const name = exchange.path.split('/').at(-1) ?? '';
      if (exchange.isWatch) exchange.open();
      else if (name === 'pods') exchange.list(listed.map(pod), '10');
      else {
        asked.push(name);
        if (there.has(name)) exchange.json(pod(name));
        else exchange.status(404, 'NotFound', `pods "${name}" not found`);
      }
    };
  });
  afterEach(async () => {
    await cache.close();
    await api.close();
  });

  it('is not accepted while the server has one of them by name; a list with all objects is', async () => {
    await open(['a', 'b', 'c']);
    listed = ['a'];
    cache.relist();
    await passing('doubts', () => cache.counters.doubted >= 2);
    assert.deepEqual([deleted, cache.size, cache.state], [[], 3, 'stale']);
    assert.ok(events.some((event) => event.kind === 'failure' && event.error.code === 'KUBE_LIST_DOUBTED'));
    listed = ['a', 'b', 'c'];
    await passing('an accepted list', () => cache.state === 'synced');
    assert.deepEqual(deleted, []);
  });

  it('is accepted at once if the server answers 404 to the names of a few objects', async () => {
    await open(['a', 'b', 'c']);
    listed = ['a', 'b'];
    there = new Set(listed);
    cache.relist();
    await until('the deletion', () => deleted.length === 1);
    assert.deepEqual([deleted, asked, cache.counters.doubted], [['c'], ['c'], 0]);
  });

  it('removes an object if another one has its name now', async () => {
    await open(['a', 'b', 'c']);
    const answer = api.handler;
    listed = ['a', 'b'];
    api.handler = (exchange) => {
      if (exchange.path.endsWith('/c')) exchange.json({ metadata: { ...pod('c').metadata, uid: 'another' } });
      else answer?.(exchange);
    };
    cache.relist();
    await until('the deletion', () => deleted.length === 1);
    assert.deepEqual(deleted, ['c']);
  });

  it('without any object needs a second list after ten seconds, although the server answers 404 to each name', async () => {
    await open(['a', 'b', 'c']);
    listed = [];
    there = new Set();
    cache.relist();
    await until('the doubt', () => events.some(({ kind }) => kind === 'shrunk'));
    clock.advance(9_900);
    assert.deepEqual(deleted, []);
    clock.advance(200);
    await until('the deletions', () => deleted.length === 3);
  });

  it('keeps objects that the second list has', async () => {
    await open(['a', 'b', 'c']);
    listed = [];
    there = new Set();
    cache.relist();
    await until('the doubt', () => events.some(({ kind }) => kind === 'shrunk'));
    listed = ['a', 'b', 'c'];
    clock.advance(10_000);
    await until('the next watch', () => cache.counters.watches === 2);
    assert.deepEqual([deleted, cache.size], [[], 3]);
  });

  it('without very many objects: some are asked for by name, and a second list decides on the others', async () => {
    const names = NAMES(200);
    await open(names);
    listed = names.slice(0, 150);
    there = new Set(listed);
    cache.relist();
    await until('the doubt', () => events.some((event) => event.kind === 'shrunk' && event.absent === 50 && event.againInMs === 1_000));
    assert.equal(asked.length, 32);
    assert.deepEqual(deleted, []);
    clock.advance(1_000);
    await until('the deletions', () => deleted.length === 50);
  });

  it('keeps the objects of a kind that is not served while its definition declares it', async () => {
    let served = true;
    let promised = true;
    api.handler = (exchange) => {
      if (!served) exchange.text('404 page not found\n', 404);
      else if (exchange.isWatch) exchange.open();
      else exchange.list([pod('a')], '10');
    };
    const definitions = { untilServed: () => Promise.resolve(), isDeclared: () => promised };
    await open(['a'], { resource: THINGS, optional: true, notServedGraceMs: 1_000, definitions });
    served = false;
    cache.relist();
    await until('the 404', () => cache.state === 'not-served');
    for (let at = 0; at < 50; at++) {
      clock.advance(1_000);
      await new Promise(setImmediate);
    }
    assert.deepEqual([deleted, cache.size], [[], 1]);
    promised = false;
    await passing('its end', () => cache.size === 0);
  });
});
