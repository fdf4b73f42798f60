import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import type { Delta } from './delta.ts';
import { CacheContents, type WatchEventType } from './cache-contents.ts';
import type { KubeObject } from '../resource.ts';

const object = (name: string, version: number | string, uid = `${name}-1`, more: object = {}): KubeObject => ({
  metadata: { name, namespace: 'ns', uid, resourceVersion: String(version), ...more },
});

const brief = (deltas: readonly Delta<KubeObject>[]): string[] =>
  deltas.map((delta) => `${delta.type} ${delta.object.metadata.name}@${delta.object.metadata.resourceVersion}`);

function listed(items: readonly KubeObject[], version: string): CacheContents<KubeObject> {
  const held = new CacheContents<KubeObject>();
  held.beginList();
  held.page(items, version);
  held.endList();
  return held;
}

function event(held: CacheContents<KubeObject>, type: WatchEventType, item: KubeObject): string[] {
  const deltas: Delta<KubeObject>[] = [];
  held.event(type, item, deltas);
  return brief(deltas);
}

describe('CacheContents', () => {
  it('shows a relist only as its true differences', () => {
    const held = listed([object('a', 1), object('b', 2), object('c', 3)], '10');
    held.beginList();
    assert.deepEqual(brief(held.page([object('a', 1)], '20')), []);
    assert.deepEqual(brief(held.page([object('b', 12), object('d', 13)], '20')), ['upsert b@12', 'upsert d@13']);
    assert.deepEqual(brief(held.endList()), ['delete c@3']);
    assert.equal(held.version, '20');
  });

  it('marks deletions as inferred if a list lacks the object and no event reported it', () => {
    const held = listed([object('a', 1), object('b', 2), object('c', 3)], '10');
    const deltas: Delta<KubeObject>[] = [];
    held.event('DELETED', object('a', 11), deltas);
    held.beginList();
    held.page([object('b', 2)], '20');
    deltas.push(...held.endList(), ...held.clear());
    assert.deepEqual(
      deltas.map((delta) => [delta.object.metadata.name, delta.type === 'delete' && delta.inferred === true]),
      [
        ['a', false],
        ['c', true],
        ['b', true],
      ],
    );
  });

  it('shows a recreated object as a deletion and a new object', () => {
    const held = listed([object('a', 1, 'old')], '10');
    held.beginList();
    assert.deepEqual(brief(held.page([object('a', 15, 'new')], '20')), ['delete a@1', 'upsert a@15']);
  });

  it('applies an own write at once and ignores its later event', () => {
    const held = listed([object('a', 5)], '10');
    assert.deepEqual(brief(held.own(object('a', 11))), ['upsert a@11']);
    assert.deepEqual(event(held, 'MODIFIED', object('a', 11)), []);
    assert.deepEqual(event(held, 'MODIFIED', object('a', 12)), ['upsert a@12']);
  });

  it('ignores a watch event older than an own write', () => {
    const held = listed([object('a', 5)], '10');
    held.own(object('a', 14));
    assert.deepEqual(event(held, 'MODIFIED', object('a', 13)), []);
    assert.equal(held.objects.get('ns/a')?.metadata.resourceVersion, '14');
  });

  it('never undoes a deletion that was seen before the reply to an own write', () => {
    const held = listed([object('a', 5)], '10');
    event(held, 'MODIFIED', object('a', 11));
    assert.deepEqual(event(held, 'DELETED', object('a', 12)), ['delete a@11']);
    assert.deepEqual(brief(held.own(object('a', 11))), []);
    assert.equal(held.objects.size, 0);
  });

  it('ignores repeated old events of an object that is gone', () => {
    const held = listed([object('a', 5)], '10');
    event(held, 'DELETED', object('a', 12));
    assert.deepEqual(event(held, 'ADDED', object('a', 5)), []);
    assert.deepEqual(event(held, 'MODIFIED', object('a', 11)), []);
  });

  it('keeps an own write that is newer than a running list, and drops one that the list shows as gone', () => {
    const held = listed([], '10');
    held.beginList();
    held.page([], '20');
    held.own(object('new', 21));
    held.own(object('gone', 15));
    assert.deepEqual(brief(held.endList()), ['delete gone@15']);
    assert.deepEqual([...held.objects.keys()], ['ns/new']);
  });

  it('does not let a page that is older than an own write overwrite it', () => {
    const held = listed([object('a', 5)], '10');
    held.beginList();
    held.own(object('a', 25));
    assert.deepEqual(brief(held.page([object('a', 5)], '20')), []);
    assert.deepEqual(brief(held.endList()), []);
    assert.equal(held.objects.get('ns/a')?.metadata.resourceVersion, '25');
  });

  it('accepts the list of a server that was restored to an older state', () => {
    const held = listed([object('a', 500), object('b', 600)], '1000');
    held.beginList();
    assert.deepEqual(brief(held.page([object('a', 50)], '100')), ['upsert a@50']);
    assert.deepEqual(brief(held.endList()), ['delete b@600']);
    assert.deepEqual(event(held, 'ADDED', object('c', 101)), ['upsert c@101']);
  });

  it('removes an object when an own write removed its last finalizer, and ignores its late events', () => {
    const held = listed([object('a', 5)], '10');
    assert.deepEqual(brief(held.ownDelete('ns/a', 'a-1')), ['delete a@5']);
    assert.deepEqual(event(held, 'MODIFIED', object('a', 11)), []);
    assert.deepEqual(event(held, 'DELETED', object('a', 12)), []);
    assert.deepEqual(event(held, 'ADDED', object('a', 13, 'a-2')), ['upsert a@13']);
  });

  it('keeps a pod that terminates gracefully', () => {
    const held = listed([object('a', 5)], '10');
    const ending = object('a', 11, 'a-1', { deletionTimestamp: '2030-01-01T00:00:00Z', deletionGracePeriodSeconds: 30 });
    assert.deepEqual(brief(held.own(ending)), ['upsert a@11']);
  });

  it('corrects a wrongly assumed deletion with the next list', () => {
    const held = listed([object('a', 5)], '10');
    held.ownDelete('ns/a', 'a-1');
    held.beginList();
    assert.deepEqual(brief(held.page([object('a', 5)], '20')), ['upsert a@5']);
  });

  it('does not show an object that an own write deleted while the list was read', () => {
    const held = listed([object('a', 5)], '10');
    held.beginList();
    held.ownDelete('ns/a', 'a-1');
    assert.deepEqual(brief(held.page([object('a', 5)], '20')), []);
    held.endList();
    assert.deepEqual(event(held, 'DELETED', object('a', 21)), []);
    assert.equal(held.objects.size, 0);
  });

  it('always applies watch events if versions have no order', () => {
    const held = listed([object('a', 'x1')], 'x9');
    assert.deepEqual(brief(held.own(object('a', 'x2'))), []);
    assert.deepEqual(event(held, 'MODIFIED', object('a', 'x3')), ['upsert a@x3']);
    assert.deepEqual(event(held, 'MODIFIED', object('a', 'x0')), ['upsert a@x0']);
  });

  it('equals the server after any history, and so does a replay of the deltas', () => {
    // A random history of a server: the watch lags, replies to writes arrive early or late, and lists happen at any time.
    const step = fc.record({
      kind: fc.constantFrom('write', 'write', 'delete', 'deliver', 'deliver', 'reply', 'begin', 'end'),
      name: fc.constantFrom('a', 'b', 'c'),
    });
    fc.assert(
      fc.property(fc.array(step, { maxLength: 120, size: 'max' }), (steps) => {
        const held = new CacheContents<KubeObject>();
        const server = new Map<string, KubeObject>();
        const log: { type: WatchEventType; object: KubeObject }[] = [];
        const replies: KubeObject[] = [];
        const replayed = new Map<string, string>();
        let version = 1;
        let delivered = 0;
        let snapshot: { items: KubeObject[]; version: string; delivered: number } | undefined;
        const apply = (deltas: readonly Delta<KubeObject>[]): void => {
          for (const delta of deltas) {
            const { name, uid, resourceVersion } = delta.object.metadata;
            const before = replayed.get(name);
            if (delta.type === 'delete') {
              assert.equal(before, `${uid}@${resourceVersion}`, 'a deletion of an object that is not in the cache');
              replayed.delete(name);
            } else {
              const was = delta.before?.metadata;
              assert.equal(before, was === undefined ? undefined : `${was.uid}@${was.resourceVersion}`);
              assert.notEqual(before, `${uid}@${resourceVersion}`, 'an upsert that changes nothing');
              replayed.set(name, `${uid}@${resourceVersion}`);
            }
          }
        };
        const deliver = (): void => {
          const next = log[delivered++];
          if (next === undefined) return void delivered--;
          const deltas: Delta<KubeObject>[] = [];
          held.event(next.type, next.object, deltas);
          apply(deltas);
        };
        const begin = (): void => {
          held.beginList();
          snapshot = { items: [...server.values()], version: String(version), delivered: log.length };
        };
        const end = (): void => {
          if (snapshot === undefined) return;
          apply(held.page(snapshot.items, snapshot.version));
          apply(held.endList());
          delivered = snapshot.delivered;
          snapshot = undefined;
        };
        begin();
        end();
        for (const { kind, name } of steps) {
          const live = server.get(name);
          if (kind === 'write') {
            version++;
            const next = object(name, version, live?.metadata.uid ?? `${name}-${version}`);
            server.set(name, next);
            log.push({ type: live === undefined ? 'ADDED' : 'MODIFIED', object: next });
            replies.push(next);
          } else if (kind === 'delete' && live !== undefined) {
            version++;
            server.delete(name);
            log.push({ type: 'DELETED', object: { metadata: { ...live.metadata, resourceVersion: String(version) } } });
          } else if (kind === 'deliver' && snapshot === undefined) deliver();
          else if (kind === 'reply') {
            // Any earlier reply, arbitrarily late.
            const reply = replies.splice(Math.floor(replies.length / 2), 1)[0];
            if (reply !== undefined) apply(held.own(reply));
          } else if (kind === 'begin' && snapshot === undefined) begin();
          else if (kind === 'end') end();
        }
        end();
        while (delivered < log.length) deliver();
        for (const reply of replies) apply(held.own(reply));
        const show = (items: Iterable<KubeObject>): string[] =>
          [...items].map((item) => `${item.metadata.uid}@${item.metadata.resourceVersion}`).sort();
        assert.deepEqual(show(held.objects.values()), show(server.values()));
        assert.deepEqual([...replayed.values()].sort(), show(server.values()));
      }),
      { numRuns: 1000 },
    );
  });
});
