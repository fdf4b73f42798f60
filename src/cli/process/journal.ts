/** Opens the journal of a controller or of a command that deletes rows. */
import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { FileJournal } from '../../journal/file-journal.ts';
import type { Journal } from '../../journal/journal.ts';
import { NO_JOURNAL } from '../../journal/journal.ts';
import type { Log } from '../../runtime/log.ts';
import { defaultJournal } from '../arguments/journal-directory.ts';
import { systemClock } from '../../timing/clock.ts';

export interface JournalFlags {
  /** A directory, or `off`; undefined for the default. */
  readonly journal?: string;
  /** Mebibytes. */
  readonly journalSize?: number;
}

/** A directory that cannot be written is a failing journal: the controller runs, deletes nothing, and says so. */
export async function openJournal({ journal: directory = defaultJournal(), journalSize }: JournalFlags, log: Log): Promise<Journal> {
  if (directory === 'off') {
    log.warn('no journal: what is deleted from OVN cannot be restored by kiln undo', { next: 'name a directory with --journal' });
    return NO_JOURNAL;
  }
  const journal = new FileJournal({
    directory: resolve(directory),
    clock: systemClock,
    writer: randomBytes(4).toString('hex'),
    ...(journalSize === undefined ? {} : { mostBytes: journalSize * 1_024 * 1_024 }),
  });
  await journal.begin();
  return journal;
}
