import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Holder } from '../context.ts';
import { at, configMap, conformance, fresh, newNamespace, version } from '../context.ts';
import type { WatchedEvent } from '../https-client.ts';
import { until } from '../../../src/testing/until.ts';
import { widget, WIDGETS } from '../widgets.ts';

function shown(events: readonly WatchedEvent[]): string[] {
  return events
    .filter((event) => event.type !== 'BOOKMARK')
    .map((event) => `${event.type} ${String(at(event.object, 'metadata', 'name'))}`)
    .filter((line) => !line.endsWith('kube-root-ca.crt'));
}

export function watchCases(holder: Holder): void {
  test('a watch from a list sees every later change once, in order', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await http.send('POST', path, configMap('before'));
    const list = await http.get(path);
    await http.send('POST', path, configMap('one'));
    const watch = await http.watch(`${path}?watch=true&resourceVersion=${version(list)}`);
    assert.equal(watch.status, 200);
    await http.patch(`${path}/one`, 'merge-patch', { data: { a: '1' } });
    await http.send('DELETE', `${path}/one`);
    await until('three events came', () => shown(watch.events).length >= 3);
    assert.deepEqual(shown(watch.events), ['ADDED one', 'MODIFIED one', 'DELETED one']);
    const versions = watch.events.map((event) => BigInt(String(at(event.object, 'metadata', 'resourceVersion'))));
    assert.ok(versions.every((value, index) => index === 0 || value > (versions[index - 1] ?? 0n)));
    assert.deepEqual(at(watch.events.filter((event) => event.type === 'DELETED')[0]?.object, 'data'), { a: '1' });
    watch.stop();
  });

  test('a watch from 0 or without a resourceVersion begins with the existing objects', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/secrets`;
    for (const name of ['a', 'b'])
      await http.send('POST', path, { apiVersion: 'v1', kind: 'Secret', metadata: { name, labels: { mine: 'yes' } } });
    for (const from of ['', '&resourceVersion=0']) {
      const watch = await http.watch(`${path}?watch=true&labelSelector=mine${from}`);
      await until('both are shown', () => shown(watch.events).length >= 2);
      assert.deepEqual(shown(watch.events).toSorted(), ['ADDED a', 'ADDED b']);
      watch.stop();
    }
  });

  test('an object that begins to match is ADDED, one that ceases to match is DELETED', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    await http.send('POST', path, configMap('one', {}, { labels: { show: 'no' } }));
    const watch = await http.watch(`${path}?watch=true&labelSelector=show%3Dyes&resourceVersion=${version(await http.get(path))}`);
    await http.patch(`${path}/one`, 'merge-patch', { metadata: { labels: { show: 'yes' } } });
    await http.patch(`${path}/one`, 'merge-patch', { data: { a: '1' } });
    const last = await http.patch(`${path}/one`, 'merge-patch', { metadata: { labels: { show: 'no' } } });
    await http.send('DELETE', `${path}/one`);
    await http.send('POST', path, configMap('end', {}, { labels: { show: 'yes' } }));
    await until('the last one is shown', () => shown(watch.events).includes('ADDED end'));
    assert.deepEqual(shown(watch.events), ['ADDED one', 'MODIFIED one', 'DELETED one', 'ADDED end']);
    assert.equal(at(watch.events.filter((event) => event.type === 'DELETED')[0]?.object, 'metadata', 'resourceVersion'), version(last));
    watch.stop();
  });

  test('a watch of one name', async () => {
    const { http } = conformance(holder);
    const name = fresh('named');
    const list = await http.get(WIDGETS);
    const watch = await http.watch(`${WIDGETS}?watch=true&fieldSelector=metadata.name%3D${name}&resourceVersion=${version(list)}`);
    await http.send('POST', WIDGETS, widget(fresh('unnamed')));
    await http.send('POST', WIDGETS, widget(name));
    await until('it is shown', () => watch.events.length > 0);
    assert.deepEqual(shown(watch.events), [`ADDED ${name}`]);
    watch.stop();
  });

  test('timeoutSeconds ends a watch, and bookmarks have its revision', async () => {
    const { http } = conformance(holder);
    const path = '/api/v1/namespaces';
    const list = await http.get(path);
    let bookmarks: readonly WatchedEvent[] = [];
    // A real API server checks once a second for watches that are about to end. If that check is late, this watch gets no bookmark.
    for (let tries = 0; bookmarks.length === 0; tries++) {
      assert.ok(tries < 10, 'no bookmark came');
      const watch = await http.watch(`${path}?watch=true&allowWatchBookmarks=true&timeoutSeconds=5&resourceVersion=${version(list)}`);
      let ended = false;
      void watch.ended.then(() => (ended = true));
      await newNamespace(holder);
      await until('the server ends it', () => ended);
      bookmarks = watch.events.filter((event) => event.type === 'BOOKMARK');
    }
    assert.ok(BigInt(String(at(bookmarks.at(-1)?.object, 'metadata', 'resourceVersion'))) >= BigInt(version(list)));
    assert.equal(at(bookmarks[0]?.object, 'kind'), 'Namespace');
  });

  test('the server rejects a resourceVersion that is not a number', async () => {
    const { http } = conformance(holder);
    const reply = await http.get(`${WIDGETS}?watch=true&resourceVersion=abc`);
    assert.ok(reply.status >= 400, String(reply.status));
  });

  test('watched tables send their columns once', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    const watch = await http.watch(`${path}?watch=true&resourceVersion=${version(await http.get(path))}`, {
      Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io',
    });
    await http.send('POST', path, configMap('one', { a: '1' }));
    await http.send('POST', path, configMap('two'));
    await until(
      'both came',
      () => watch.events.filter((event) => ['one', 'two'].includes(String(at(event.object, 'rows', 0, 'cells', 0)))).length === 2,
    );
    const [first, second] = watch.events;
    assert.equal(at(first?.object, 'kind'), 'Table');
    assert.ok((at(first?.object, 'columnDefinitions') as unknown[]).length > 0);
    assert.equal(((at(second?.object, 'columnDefinitions') ?? []) as unknown[]).length, 0);
    watch.stop();
  });

  test('the deprecated watch paths: of all, of a namespace and of one name', async () => {
    const { http } = conformance(holder);
    const namespace = await newNamespace(holder);
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    for (const name of ['one', 'two']) await http.send('POST', path, configMap(name, {}, { labels: { old: namespace } }));
    const old = `/api/v1/watch/namespaces/${namespace}/configmaps`;
    for (const [asked, seen] of [
      [`/api/v1/watch/configmaps?labelSelector=old%3D${namespace}`, ['ADDED one', 'ADDED two']],
      [`${old}?labelSelector=old`, ['ADDED one', 'ADDED two']],
      [`${old}/two?timeoutSeconds=1`, ['ADDED two']],
      [`${old}/nobody?timeoutSeconds=1`, []],
      [`/api/v1/watch/namespaces/${namespace}?timeoutSeconds=1`, [`ADDED ${namespace}`]],
    ] as const) {
      let events: readonly WatchedEvent[] = [];
      // A stalled server may end a watch with a timeout of one second before it sends anything.
      await until(`what is there is shown: ${asked}`, async () => {
        const watch = await http.watch(asked);
        assert.equal(watch.status, 200, asked);
        let ended = false;
        void watch.ended.then(() => (ended = true));
        const whole = (): boolean => shown(watch.events).length >= seen.length;
        await until(`it shows what is there, or ends: ${asked}`, () => ended || whole());
        if (asked.includes('timeoutSeconds')) await watch.ended;
        watch.stop();
        events = watch.events;
        return whole();
      });
      assert.deepEqual(shown(events).toSorted(), seen, asked);
    }
    const name = fresh('old');
    await http.send('POST', WIDGETS, widget(name));
    const watch = await http.watch(`${WIDGETS.replace('/v1/', '/v1/watch/')}/${name}`);
    await until('the widget is shown', () => shown(watch.events).length > 0);
    await http.send('DELETE', `${WIDGETS}/${name}`);
    await until('its end is shown', () => shown(watch.events).length > 1);
    assert.deepEqual(shown(watch.events), [`ADDED ${name}`, `DELETED ${name}`]);
    watch.stop();
    assert.equal((await http.get('/api/v1/watch/nothing')).status, 404);
  });

  test('a custom resource is watched like any other', async () => {
    const { http } = conformance(holder);
    const name = fresh('seen');
    const watch = await http.watch(`${WIDGETS}?watch=true&resourceVersion=${version(await http.get(WIDGETS))}`);
    await http.send('POST', WIDGETS, widget(name));
    await http.patch(`${WIDGETS}/${name}/status`, 'merge-patch', { status: { available: 3 } });
    await http.send('DELETE', `${WIDGETS}/${name}`);
    await until('all came', () => shown(watch.events).some((line) => line === `DELETED ${name}`));
    assert.deepEqual(
      shown(watch.events).filter((line) => line.endsWith(name)),
      [`ADDED ${name}`, `MODIFIED ${name}`, `DELETED ${name}`],
    );
    watch.stop();
  });
}
