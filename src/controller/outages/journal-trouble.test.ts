import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { PlannedEvent } from '../../diff/condition-diff.ts';
import type { Journal } from '../../journal/journal.ts';
import { NO_JOURNAL } from '../../journal/journal.ts';
import { SILENT } from '../../runtime/log.ts';
import { systemClock } from '../../timing/clock.ts';
import { clusterObject } from '../../world/built-in.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { reportJournal } from './journal-trouble.ts';

/** A journal whose state a test sets. */
function testJournal(failure: string | undefined): { readonly journal: Journal; readonly become: (next: string | undefined) => void } {
  let now = failure;
  let changed: () => void = () => undefined;
  const journal: Journal = {
    ...NO_JOURNAL,
    get failure() {
      return now;
    },
    onState: (listener) => {
      changed = listener;
    },
  };
  const become = (next: string | undefined): void => {
    now = next;
    changed();
  };
  return { journal, become };
}

test('a journal that fails, also when it is opened, and that can be written again, is one Event each; only the leader sends them', () => {
  const events: (readonly [string, PlannedEvent['reason'], string])[] = [];
  const { journal, become } = testJournal('ENOSPC');
  let leads = true;
  reportJournal({
    ...{ journal, log: SILENT, clock: systemClock, about: clusterObject(DEFAULT_SETTINGS), leads: () => leads },
    event: (_resource, _namespace, name, _uid, { reason, message }) => events.push([name, reason, message]),
  });
  become('ENOSPC again');
  become(undefined);
  leads = false;
  become('ENOSPC');
  assert.deepEqual(
    events.map(([name, reason]) => [name, reason]),
    [
      ['ovn-cluster', 'JournalFailed'],
      ['ovn-cluster', 'JournalResumed'],
    ],
  );
  assert.match(events[0]?.[2] ?? '', /no row is deleted or adopted until it can.*ENOSPC$/);
});
