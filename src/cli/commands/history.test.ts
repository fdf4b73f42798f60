/** What `kiln history` prints of a journal. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { FileJournal } from '../../journal/file-journal.ts';
import type { JournalEntry, JournaledChange } from '../../journal/journal.ts';
import type { RowId } from '../../nb/row-id.ts';
import type { Uuid } from '../../ovsdb/index.ts';
import { systemClock } from '../../timing/clock.ts';
import type { Output } from '../output/terminal.ts';
import { runHistory } from './history.ts';

function transaction(tx: string, at: string, change: Partial<JournaledChange>): readonly JournalEntry[] {
  return [
    { kind: 'transaction', tx, at, changes: 1 },
    {
      ...{ kind: 'change', tx, change: 'overwrite', table: 'Logical_Switch', id: 'Logical_Switch/s' as RowId, uuid: tx as Uuid },
      ...{ owner: '', uid: '', reason: 'changed', row: {}, references: [] },
      ...change,
    },
    { kind: 'outcome', tx, at, outcome: 'committed' },
  ];
}

test('each line says whose the row was; undos of these are among them by time', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'kiln-history-'));
  try {
    const journal = new FileJournal({ directory, clock: systemClock, writer: 'a' });
    await journal.append(transaction('1.1', '2026-01-01T00:00:01Z', { table: 'NB_Global', id: 'NB_Global/' as RowId }));
    await journal.append(
      transaction('1.2', '2026-01-01T00:00:02Z', { owner: 'subnet//s', uid: 'u', change: 'delete', reason: 'unexplained' }),
    );
    await journal.append([{ kind: 'undo', at: '2026-01-01T00:00:03Z', by: 'ann', transactions: ['1.2'], rows: 1 }]);
    await journal.append(transaction('r', '2026-01-01T00:00:04Z', { neighbour: 'neutron', reason: 'restored' }));
    await journal.append(transaction('1.3', '2026-01-01T00:00:05Z', { reason: 'adopted' }));
    await journal.close();
    const printed = async (since: number | undefined): Promise<readonly string[]> => {
      const out: Output[] = [];
      const flags = { journal: directory, output: 'table', namespace: 'default', ...(since !== undefined && { since }) } as const;
      assert.equal(await runHistory(undefined, undefined, flags, (one) => void out.push(one), assert.fail), 0);
      return out.flat().map((line) => String(line).replace(/^\S+ {2}/, ''));
    };
    assert.deepEqual(await printed(undefined), [
      '1.1  overwrite  NB_Global   of all programs: --global-options asks for other values than before',
      '1.2  delete  Logical_Switch s  of subnet s: no object asks for it any more',
      'undo of 1.2 by ann: 1 rows',
      'r  overwrite  Logical_Switch s  of neutron: kiln restore made it as a backup has it',
      '1.3  overwrite  Logical_Switch s  of Kube-OVN: taken over from Kube-OVN',
    ]);
    assert.equal((await printed(Date.parse('2026-01-01T00:00:04Z'))).length, 2, 'not the undo of an earlier transaction');
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
});
