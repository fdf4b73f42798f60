import assert from 'node:assert/strict';
import { EventEmitter } from 'node:events';
import { test } from 'node:test';
import { RpcConnection } from './rpc.ts';
import { ManualClock } from '../timing/testing/manual-clock.ts';
import type { Wire } from './transport.ts';

class PausingWire extends EventEmitter implements Wire {
  paused = false;
  write(): void {}
  destroy(): void {}
  pause(): void {
    this.paused = true;
  }
  resume(): void {
    this.paused = false;
  }
}

test('rows are read for 10 ms at a stretch: the socket waits for the next turn, and after the reply no more', async () => {
  const clock = new ManualClock();
  const wire = new PausingWire();
  const taken: unknown[] = [];
  const rpc = new RpcConnection(wire, {
    clock,
    probeIntervalMs: 5_000,
    maxMessageBytes: 10_000,
    onNotification: () => assert.fail('nothing was sent but the reply'),
    onClosed: (error) => assert.fail(error),
  });
  // Each row takes 6 ms.
  rpc.expectRows(3, (_table, rows) => {
    taken.push(...rows);
    clock.advance(6);
  });
  const reply = rpc.request('monitor', []).then((received) => {
    rpc.expectRows(undefined);
    return received;
  });
  const say = (text: string): unknown => wire.emit('data', Buffer.from(text));
  say('{"id":1,"result":{"T":{"a":{}');
  say(',"b":{}');
  assert.equal(wire.paused, false);
  say(',"c":{}');
  assert.equal(wire.paused, true);
  await new Promise(setImmediate);
  assert.equal(wire.paused, false);
  say(',"d":{}}},"error":null}');
  assert.deepEqual(await reply, { kind: 'result', result: { T: {} } });
  assert.deepEqual(taken, ['a', {}, 'b', {}, 'c', {}, 'd', {}]);
  for (let n = 0; n < 5; n++) {
    clock.advance(20);
    say('  ');
    assert.equal(wire.paused, false);
  }
});
