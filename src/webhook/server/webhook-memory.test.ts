import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import type { HeldConnection, Place } from '../testing/held-client.ts';
import { PATIENCE_MS } from '../../testing/patience.ts';
import { ask, headers, hold, lasting, pour, review } from '../testing/held-client.ts';
import { WEBHOOK_LIMITS } from './webhook-server.ts';

const MIB = 1024 * 1024;
const CLIENTS = 100;
const MOST_ROUNDS = 5;
/** A leak grows by more each round. Memory that malloc retains after a round (more on a loaded machine) is used in the next one. */
const GROWTH = 60 * MIB;

interface Held {
  readonly bodyBytes: number;
  readonly connections: number;
  readonly rss: number;
}

test('100 clients that each send 7 of 8 MiB of a body: the process stores a bounded part of it, answers reviews meanwhile, closes them all, and its memory stays bounded over repetitions', async () => {
  // The API server's connection stays open.
  const apiServer = lasting('127.0.0.1');
  const child = fork(join(import.meta.dirname, '../testing/served-webhook.ts'), { execArgv: ['--expose-gc'] });
  try {
    const [place] = (await once(child, 'message')) as [Place];
    const state = async (asked: 'state' | 'what stays' = 'state'): Promise<Held> => {
      child.send(asked);
      const [held] = (await once(child, 'message')) as [Held];
      return held;
    };
    const asked = async (): Promise<number> => (await ask(place, review(), { agent: apiServer })).status;
    for (let times = 0; times < 20; times++) assert.equal(await asked(), 200);
    const before = (await state('what stays')).rss;
    const after: number[] = [];
    const growth = (): number => (after.at(-1) ?? 0) - (after.at(-2) ?? 0);
    for (let round = 0; round < 2 || (round < MOST_ROUNDS && growth() >= GROWTH); round++) {
      // The connections of the previous round have used up the rate of the address.
      if (round > 0) await sleep(1_000);
      const clients: HeldConnection[] = [];
      for (let one = 0; one < CLIENTS; one++)
        clients.push(
          hold(
            place,
            (socket) => {
              socket.write(headers(8 * MIB));
              pour(socket, 7 * MIB);
            },
            '127.0.0.2',
          ),
        );
      let most = 0;
      const all = Promise.all(clients.map(({ closed }) => closed)).then(() => true);
      for (const begun = performance.now(); performance.now() - begun < 2 * PATIENCE_MS;) {
        const held = await state();
        assert.ok(held.bodyBytes <= WEBHOOK_LIMITS.bodies, `${held.bodyBytes} bytes of bodies`);
        most = Math.max(most, held.rss);
        assert.equal(await asked(), 200, 'a review is answered meanwhile');
        if (await Promise.race([all, sleep(200, false)])) break;
      }
      assert.equal(await Promise.race([all, sleep(1, false)]), true, 'all are closed');
      for (let times = 0; times < 50; times++) await asked();
      const held = await state('what stays');
      assert.deepEqual([held.bodyBytes, held.connections], [0, 1]);
      // Without limits this is 700 MiB. Sockets and OpenSSL account for a part of it.
      assert.ok(most - before < 250 * MIB, `${Math.round((most - before) / MIB)} MiB more at the most`);
      after.push(held.rss);
    }
    const stays = (after.at(-1) ?? 0) - before;
    assert.ok(stays < 200 * MIB, `${Math.round(stays / MIB)} MiB stay`);
    assert.ok(growth() < GROWTH, `after ${after.length} rounds the last takes ${Math.round(growth() / MIB)} MiB more than the one before`);
  } finally {
    apiServer.destroy();
    child.kill('SIGKILL');
  }
});
