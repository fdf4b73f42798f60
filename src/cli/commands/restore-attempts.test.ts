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

test('a rejection is final, and so is the fourth lost reply', async () => {
  assert.deepEqual(await tried([failed('rejected')], [9]), ['rejected', [9]]);
  assert.deepEqual(
    await tried(
      [1, 2, 3, 4].map(() => failed('unknown')),
      [9, 9, 9],
    ),
    ['unknown', [9, 9, 9, 9]],
  );
});
