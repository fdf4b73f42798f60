/** `kiln prepare-journal`: as the init container of the controller's pod, gives the journal's directory to the controller's user. */
import type { Command } from 'commander';
import { InvalidArgumentError } from 'commander';
import type { PrepareJournalOptions } from '../../journal/prepare-directory.ts';
import { prepareJournalDirectory } from '../../journal/prepare-directory.ts';
import { CommandFailure, EXIT, failureText } from '../errors/command-failure.ts';
import { print, printErrorText } from '../output/terminal.ts';
import { SYSTEM_JOURNAL } from '../arguments/journal-directory.ts';

/** Of the controller's image. */
const USER = 65_532;
const MOST = 2 ** 32 - 2;

const HELP = `
Examples:
  kiln prepare-journal                                as the init container of the controller's pod does, as root with CHOWN alone
  kiln prepare-journal --directory /srv/kiln --user 1000 --group 1000

Exit codes: 0 prepared, 1 the file system refuses, or it is no directory, 2 wrong usage.
`;

export function addPrepareJournal(program: Command): void {
  program
    .command('prepare-journal')
    .description("give the journal's directory to the user of the controller, and to no other, before the controller starts")
    .addHelpText('after', HELP)
    .option('--directory <path>', 'the directory; made if it is not there', SYSTEM_JOURNAL)
    .option('--user <number>', 'user of the controller', identity, USER)
    .option('--group <number>', 'its group', identity, USER)
    .action(async (flags: PrepareJournalOptions) => {
      process.exitCode = await runPrepareJournal(flags);
    });
}

function identity(text: string): number {
  const value = Number(text);
  if (!/^\d+$/.test(text) || value > MOST) throw new InvalidArgumentError(`"${text}" is not a number from 0 to ${MOST}.`);
  return value;
}

async function runPrepareJournal(options: PrepareJournalOptions): Promise<number> {
  try {
    print([await prepareJournalDirectory(options)]);
    return EXIT.fine;
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    printErrorText(failureText(new CommandFailure(EXIT.findings, 'the journal has no directory', why, 'kiln prepare-journal --help')));
    return EXIT.findings;
  }
}
