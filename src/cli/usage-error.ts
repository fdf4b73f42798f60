/** How a command line that cannot be understood ends: the three lines of every other failure, and exit code 2. */
import type { Command } from 'commander';
import { CommandFailure, EXIT, failureText } from './command-failure.ts';

/** Call when the program has all its commands. */
export function explainUsageErrors(program: Command): void {
  for (const command of [program, ...program.commands]) {
    const name = command === program ? program.name() : `${program.name()} ${command.name()}`;
    command.configureOutput({
      outputError: (text, write) => {
        const why = text
          .trim()
          .replace(/^error: /, '')
          .replace(/\s*\n\s*/g, ' ');
        write(failureText(new CommandFailure(EXIT.usage, `${name} was not run`, why, `${name} --help`)));
      },
    });
  }
}
