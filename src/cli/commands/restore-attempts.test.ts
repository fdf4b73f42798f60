import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TransactOutcome } from '../../ovsdb/index.ts';
import { OvsdbError } from '../../ovsdb/index.ts';
import { untilKnown } from './restore-attempts.ts';

const OK: TransactOutcome = { ok: true, results: [] };

function failed(outcome: 'unknown' | 'rejected' | 'not-sent'): TransactOutcome {
  return { ok: false, error: new OvsdbError('OVSDB_DISCONNECTED', 'another one leads', { outcome }) };
}

/** @param left number of rows that are missing after each attempt */
async function tried(outcomes: readonly TransactOutcome[], left: readonly number[]): Promise<readonly unknown[]> {
  const sent: number[] = [];
  const [replies, missing] = [[...outcomes], [...left]];
  const outcome = await untilKnown(9, {
    send: (rows) => {
      sent.push(rows);
      return Promise.resolve(replies.shift() ?? OK);
    },
    partOf: (rows, most) => Math.min(rows, most),
    planAgain: () => Promise.resolve(missing.shift() || undefined),
    again: () => undefined,
  });
  return [outcome === undefined ? 'took effect' : outcome.ok ? 'ok' : outcome.error.outcome, sent];
}

test('a lost reply: what is missing then is sent, and nothing if it took effect', async () => {
  assert.deepEqual(await tried([OK], []), ['ok', [9]]);
  assert.deepEqual(await tried([failed('unknown')], [0]), ['took effect', [9]]);
  assert.deepEqual(await tried([failed('unknown'), failed('not-sent'), OK], [9, 4]), ['ok', [9, 9, 4]]);
});

test('after a loss it comes in parts, which get smaller with each further loss', async () => {
  const lost = failed('unknown');
  const sent = await tried([lost, OK, lost, lost, OK, OK], [9_000, 7_000, 7_000, 7_000, 400]);
  assert.deepEqual(sent, ['ok', [9, 2_000, 2_000, 2_000, 1_000, 400]]);
});

test('a rejection is final, and so is the twelfth lost reply', async () => {
  assert.deepEqual(await tried([failed('rejected')], [9]), ['rejected', [9]]);
  const lost = Array.from({ length: 12 }, () => failed('unknown'));
  assert.deepEqual(
    await tried(
      lost,
      Array.from({ length: 11 }, () => 9),
    ),
    ['unknown', Array.from({ length: 12 }, () => 9)],
  );
});
