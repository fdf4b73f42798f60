/** The end of a command with an invalid command line: the three lines of every other failure, and exit code 2. */
import type { Command } from 'commander';
import { CommandFailure, EXIT, failureText } from './command-failure.ts';

/** Call after all commands were added to the program. */
export function explainUsageErrors(command: Command, name = command.name()): void {
  command.configureOutput({
    outputError: (text, write) => {
      const why = text
        .trim()
        .replace(/^error: /, '')
        .replace(/\s*\n\s*/g, ' ');
      write(failureText(new CommandFailure(EXIT.usage, `${name} was not run`, why, `${name} --help`)));
    },
  });
  for (const one of command.commands) explainUsageErrors(one, `${name} ${one.name()}`);
}

/**
 * For the help of an unknown command, Commander would print the help of the whole program. So only the name is passed on, and Commander
 * rejects it.
 */
export function withoutHelpOfUnknownCommand(program: Command, words: readonly string[]): readonly string[] {
  const others = words.filter((word) => word !== '--help' && word !== '-h');
  const [first, second] = others;
  if (first !== 'help' && others.length === words.length) return words;
  const name = first === 'help' ? second : first;
  if (name === undefined || name.startsWith('-') || program.commands.some((command) => command.name() === name)) return words;
  return name === 'help' ? ['--help'] : [name];
}
