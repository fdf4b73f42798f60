import type { Command } from 'commander';

/** A command that does something, with its whole name: `status`, `lab exec`. */
export interface NamedCommand {
  readonly name: string;
  readonly command: Command;
}

/** The commands of a program, in the order of its help. A group is replaced by its commands. */
export function everyCommand(program: Command, group = ''): readonly NamedCommand[] {
  return program.commands.flatMap((command) => {
    const name = `${group}${command.name()}`;
    // A group that does nothing by itself has no flags.
    const itself = command.commands.length === 0 || command.options.length > 0 ? [{ name, command }] : [];
    return [...itself, ...everyCommand(command, `${name} `)];
  });
}
