import { printErrorText } from '../output/terminal.ts';
import { EXIT, failureText, CommandFailure } from '../errors/command-failure.ts';

/** The exit code that a shell reports for a program that a closed pipe ended. */
const BROKEN_PIPE = 141;

/**
 * Ends this process when its output cannot be written: silently if its reader has ended (`kiln status | head -1`), with a message if the
 * disk is full.
 */
export function endWithOutput(command: string): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(BROKEN_PIPE);
    printErrorText(
      failureText(new CommandFailure(EXIT.unreachable, `the output of kiln ${command} cannot be written`, error.message, 'df -h')),
    );
    process.exit(EXIT.unreachable);
  });
  process.stderr.on('error', () => undefined);
}

/** Calls back when the reader of the output has ended (`npm start | head`). Without a listener the process would end at once. */
export function watchOutput(gone: () => void): void {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', gone);
}
