/** The flags of commands that read a journal, and what they select. */
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { InvalidArgumentError, Option } from 'commander';
import { parseDuration } from '../../api/values/duration.ts';
import type { ReadJournal } from '../../journal/read-journal.ts';
import { readJournal } from '../../journal/read-journal.ts';
import { defaultJournal, JOURNAL_DEFAULT_TEXT } from './journal-directory.ts';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';

export interface JournalReadFlags {
  readonly journal?: string;
  /** Milliseconds since 1970. */
  readonly since?: number;
  readonly row?: readonly string[];
}

export function addJournalFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--journal <directory>', `directory of the controller's journal (default: ${JOURNAL_DEFAULT_TEXT})`).env('KILN_JOURNAL'),
    )
    .option('--since <time>', 'only what happened since then: 10m, 2h, or 2026-01-31T12:00:00Z', timeAgo)
    .option('--row <name>', 'only this row of OVN, and the rows in it; may be given more than once', gathered, []);
}

/** For an option that may be given more than once. */
export function gathered(text: string, before: readonly string[]): readonly string[] {
  return [...before, text];
}

function timeAgo(text: string): number {
  const ago = parseDuration(text);
  if (ago !== undefined) return Date.now() - ago;
  const at = /^\d{4}-\d{2}-\d{2}T/.test(text) ? Date.parse(text) : Number.NaN;
  if (Number.isNaN(at))
    throw new InvalidArgumentError(`"${text}" is neither a duration such as 10m nor a time such as 2026-01-31T12:00:00Z.`);
  return at;
}

/** @throws CommandFailure if none is named, or it cannot be read */
export async function journalOf(
  command: string,
  { journal = defaultJournal() }: JournalReadFlags,
): Promise<ReadJournal & { readonly directory: string }> {
  if (journal === '' || journal === 'off')
    throw new CommandFailure(
      EXIT.usage,
      `kiln ${command} needs the journal`,
      `--journal, or KILN_JOURNAL, is "${journal}"`,
      `kiln ${command} --journal DIRECTORY`,
    );
  const directory = resolve(journal);
  let read: ReadJournal;
  try {
    read = await readJournal(directory);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandFailure(EXIT.usage, `--journal ${journal} cannot be read`, why, `kiln ${command} --journal DIRECTORY`);
  }
  if (read.files === 0)
    throw new CommandFailure(
      EXIT.findings,
      `--journal ${journal} holds no journal`,
      'there is no file kiln-….jsonl in it: no controller has written there, or it is another directory',
      'kiln config shows where the controller writes',
    );
  return { ...read, directory };
}
