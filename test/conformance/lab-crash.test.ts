/** The lab's state on disk under `kill -9` at any time: no acknowledged write is lost, and watches resume or restart. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { at } from './context.ts';
import { HttpsClient } from './https-client.ts';
import type { WatchedEvent } from './https-client.ts';
import { until } from '../../src/testing/until.ts';
import { LabProcess } from './lab-process/lab-process.ts';
import { crashTests, listWatchSuite } from './list-watch.ts';

const MAPS = '/api/v1/namespaces/default/configmaps';
/** The control plane adds this ConfigMap to every namespace. */
const AUTHORITY = 'kube-root-ca.crt';
const KILLS = 20;

/**
 * The last acknowledged value of a writer, `undefined` after a deletion. The request for `next - 1` was in flight when the lab was killed.
 */
interface Written {
  readonly answered: number | undefined;
  readonly next: number;
}

function version(object: unknown): bigint {
  return BigInt(String(at(object, 'metadata', 'resourceVersion')));
}

describe('the lab is killed in mid-write', () => {
  let lab: LabProcess;
  before(async () => {
    lab = await LabProcess.start();
  });
  after(async () => {
    await lab.stop();
  });

  let writes = 0;

  /**
   * Writes one object again and again until the connection breaks.
   * @param before its value, which stays if no write is acknowledged
   */
  async function write(client: HttpsClient, name: string, from: number, before: number | undefined): Promise<Written> {
    let value = before;
    for (let next = from; ; next++) {
      const body = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: { name },
        data: { value: String(next), padding: 'x'.repeat(next % 3000) },
      };
      try {
        if (next % 10 === 9) {
          await client.send('DELETE', `${MAPS}/${name}`);
          value = undefined;
        } else {
          const put = await client.send('PUT', `${MAPS}/${name}`, body);
          if (put.status === 404) assert.equal((await client.send('POST', MAPS, body)).status, 201);
          value = next;
        }
        writes++;
      } catch {
        return { answered: value, next: next + 1 };
      }
    }
  }

  test(`${KILLS} times, under four writers and a watcher`, { timeout: 2_400_000 }, async () => {
    const names = ['a', 'b', 'c', 'd'];
    const starts = new Map(names.map((name) => [name, 0]));
    const watched = new Map<string, string>();
    let before = new Map<string, number>();
    let seen = 0n;
    let resumed = 0;
    let expired = 0;
    for (let kill = 0; kill < KILLS; kill++) {
      const client = await HttpsClient.fromKubeconfig(lab.kubeconfig);
      const follow = (event: WatchedEvent): void => {
        if (event.type === 'ERROR' || event.type === 'BOOKMARK') return;
        const revision = version(event.object);
        assert.ok(revision > seen, `revision ${revision} after ${seen}`);
        seen = revision;
        const name = String(at(event.object, 'metadata', 'name'));
        if (name === AUTHORITY) return;
        if (event.type === 'DELETED') watched.delete(name);
        else watched.set(name, String(at(event.object, 'data', 'value')));
      };
      const watch = await client.watch(`${MAPS}?watch=true&resourceVersion=${seen === 0n ? '' : seen}`);
      const writers = names.map(async (name) => [name, await write(client, name, starts.get(name) ?? 0, before.get(name))] as const);
      // A number of writes, not a time, so that a slow machine has as many as a fast one.
      const enough = writes + 15 + Math.random() * 60;
      await until('many writes are answered', () => writes > enough);
      await sleep(Math.random() * 20);
      await lab.crash();
      const results = new Map(await Promise.all(writers));
      await watch.ended;
      if (watch.events[0]?.type === 'ERROR') {
        assert.equal(at(watch.events[0].object, 'code'), 410);
        expired++;
      } else resumed++;
      // Events that cannot be resumed are covered by the list of the next round.
      watch.events.forEach(follow);
      client.close();

      await lab.recover();
      const again = await HttpsClient.fromKubeconfig(lab.kubeconfig);
      const list = await again.get(MAPS);
      assert.equal(list.status, 200, list.text);
      assert.ok(version(list.body) >= seen, `the list is of ${version(list.body)}, and ${seen} was seen`);
      const found = new Map(
        (list.body['items'] as unknown[])
          .filter((item) => at(item, 'metadata', 'name') !== AUTHORITY)
          .map((item) => [String(at(item, 'metadata', 'name')), Number(at(item, 'data', 'value'))]),
      );
      for (const name of names) {
        const { answered, next } = results.get(name) ?? assert.fail(name);
        starts.set(name, next);
        const value = found.get(name);
        // Only the request without an answer may have been applied in addition.
        const unanswered = (next - 1) % 10 === 9 ? undefined : next - 1;
        assert.ok(value === answered || value === unanswered, `${name} is ${value}, answered was ${answered}`);
      }
      before = found;
      // Events between the last one seen and the crash are read by resuming the watch.
      const resume = await again.watch(`${MAPS}?watch=true&resourceVersion=${seen}&allowWatchBookmarks=true&timeoutSeconds=1`);
      await until('all was resumed', () =>
        resume.events.some(({ type, object }) => type === 'ERROR' || version(object) >= version(list.body)),
      );
      if (resume.events[0]?.type === 'ERROR') {
        expired++;
        watched.clear();
        for (const [name, value] of found) watched.set(name, String(value));
        seen = version(list.body);
      } else {
        resume.events.forEach(follow);
        const current = new Map([...found].map(([name, value]) => [name, String(value)]));
        assert.deepEqual(watched, current);
      }
      again.close();
    }
    assert.ok(resumed > 0, 'some watch resumed');
    assert.ok(seen > 200n, `only ${seen} writes`);
    process.stdout.write(`${KILLS} kills, ${seen} revisions, ${resumed} watches resumed, ${expired} told to list again\n`);
  });
});

listWatchSuite('the lab in a process of its own', () => LabProcess.start(), crashTests);
