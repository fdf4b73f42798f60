import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type BfdPacket, type BfdState, decodePacket, encodePacket } from './packet.ts';
import { type BfdSession, type BfdStep, dueAt, elapsed, farewell, heard } from './session.ts';

const ROUTER = { multiplier: 3, mine: 7, minTx: 200, minRx: 300, diagnostic: 0, poll: false, final: false } as const;

function packet(state: BfdState, more: Partial<BfdPacket> = {}): BfdPacket {
  return { ...ROUTER, state, yours: 0, ...more };
}

/** With 99 as our discriminator, and packets as late as can be. */
function hear(session: BfdSession | undefined, one: BfdPacket, now = 0): BfdStep {
  return heard(session, one, now, 99, 0);
}

function sessionOf({ session }: BfdStep): BfdSession {
  assert.ok(session);
  return session;
}

/** The session of a router that is up, heard at 20. */
function upSession(): BfdSession {
  const first = sessionOf(hear(undefined, packet('down')));
  const up = sessionOf(hear(first, packet('init', { yours: 99 }), 10));
  return sessionOf(hear(up, packet('up', { yours: 99, final: true }), 20));
}

describe('packets of BFD', () => {
  test('are as RFC 5880, section 4.1 has them', () => {
    const sent: BfdPacket = {
      ...{ diagnostic: 3, state: 'up', poll: true, final: false, multiplier: 5 },
      ...{ mine: 0x01020304, yours: 0xfffefdfc, minTx: 100, minRx: 1_000 },
    };
    const bytes = encodePacket(sent);
    assert.equal(bytes.toString('hex'), '23e0051801020304fffefdfc000186a0000f424000000000');
    assert.deepEqual(decodePacket(bytes), sent);
  });

  test('that are wrong, of another version, with authentication or to no session are dropped', () => {
    const good = encodePacket(packet('up', { yours: 99 }));
    const changed = (at: number, value: number): Buffer => {
      const bytes = Buffer.from(good);
      bytes.writeUInt8(value, at);
      return bytes;
    };
    assert.ok(decodePacket(good));
    const wrong = {
      'too short': good.subarray(0, 23),
      'version 2': changed(0, 0x40),
      authentication: changed(1, 0xc4),
      multipoint: changed(1, 0xc1),
      'multiplier 0': changed(2, 0),
      'length 25 of 24': changed(3, 25),
      'no discriminator': encodePacket(packet('up', { mine: 0, yours: 99 })),
      'up for no session': encodePacket(packet('up')),
    };
    for (const [name, bytes] of Object.entries(wrong)) assert.equal(decodePacket(bytes), undefined, name);
  });
});

describe('a session with a router', () => {
  test('comes up in three steps, and then tells the router that it is faster', () => {
    const first = hear(undefined, packet('down'));
    assert.deepEqual(
      first.send.map(({ state, mine, yours, minTx }) => [state, mine, yours, minTx]),
      [['init', 99, 7, 1_000]],
    );
    const second = hear(sessionOf(first), packet('init', { yours: 99 }), 10);
    assert.deepEqual(
      second.send.map(({ state, poll, minTx }) => [state, poll, minTx]),
      [['up', true, 100]],
    );
    const third = hear(sessionOf(second), packet('up', { yours: 99, final: true }), 20);
    assert.deepEqual([third.send, sessionOf(third).polling], [[], false]);
    assert.equal(sessionOf(third).sendAt, 10 + 300, 'not more often than the router can receive');
  });

  test('answers a question at once', () => {
    const { send } = hear(upSession(), packet('up', { yours: 99, poll: true }), 30);
    assert.deepEqual(
      send.map(({ poll, final, state }) => [poll, final, state]),
      [[false, true, 'up']],
    );
  });

  test('sends as often as the router asks for, up to a quarter more often', () => {
    const due = upSession().sendAt;
    const late = elapsed(upSession(), due, 0);
    assert.deepEqual(
      late.send.map(({ multiplier, minRx }) => [multiplier, minRx]),
      [[ROUTER.multiplier, 1_000]],
    );
    assert.equal(sessionOf(late).sendAt, due + 300);
    assert.equal(sessionOf(elapsed(upSession(), due, 1)).sendAt, due + 225);
    assert.deepEqual(elapsed(upSession(), due - 1, 0).send, []);
  });

  test('is down when nothing was heard for half a minute, and is up again with it', () => {
    const lost = elapsed(upSession(), 20 + 30_000, 0);
    assert.deepEqual([sessionOf(lost).state, sessionOf(lost).diagnostic, lost.send], ['down', 1, []]);
    assert.equal(sessionOf(lost).sendAt, Infinity);
    // The router starts anew, with another discriminator.
    const again = hear(sessionOf(lost), packet('down', { mine: 8 }), 30_700);
    assert.deepEqual(
      again.send.map(({ state, yours }) => [state, yours]),
      [['init', 8]],
    );
    assert.equal(sessionOf(hear(sessionOf(again), packet('init', { mine: 8, yours: 99 }), 30_710)).state, 'up');
  });

  test('is down when the router says so, and comes up from there', () => {
    for (const state of ['down', 'admin-down'] as const) {
      const fallen = hear(upSession(), packet(state, { yours: state === 'down' ? 99 : 0 }), 30);
      assert.deepEqual([sessionOf(fallen).state, sessionOf(fallen).diagnostic], ['down', 3], state);
      assert.equal(sessionOf(hear(sessionOf(fallen), packet('down'), 40)).state, 'init');
    }
  });

  test('a packet for another session changes nothing', () => {
    const before = upSession();
    assert.deepEqual(hear(before, packet('down', { yours: 98 }), 30), { session: before, send: [] });
    assert.deepEqual(hear(undefined, packet('down', { yours: 98 })), { session: undefined, send: [] });
  });

  test('is forgotten a minute after its router was heard last', () => {
    let { session } = elapsed(upSession(), 20 + 30_000, 0);
    assert.ok(session);
    assert.equal(dueAt(session), 20 + 60_000);
    ({ session } = elapsed(session, 20 + 60_000, 0));
    assert.equal(session, undefined);
  });

  test('says that it ends, unless no router hears it', () => {
    assert.deepEqual(
      farewell(upSession()).map(({ state, diagnostic }) => [state, diagnostic]),
      [['admin-down', 7]],
    );
    assert.deepEqual(farewell(sessionOf(elapsed(upSession(), 31_000, 0))), []);
  });
});
