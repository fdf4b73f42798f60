/** Runs a command with its settings, or prints what is wrong with them, and the next step. */
import type { Command } from 'commander';
import { CommandFailure, EXIT, failureText } from '../errors/command-failure.ts';
import type { StartFlags } from './start-flags.ts';
import type { Configured } from './configuration.ts';
import { ConfigurationError, configure } from './configuration.ts';
import { printErrorText } from '../output/terminal.ts';
import { startProblem } from './start-problem.ts';

export const PRECEDENCE =
  'Each setting can be a flag, an environment variable (KILN_…) or a key of the --config file. Precedence: flag, environment variable, configuration file, default.';

/**
 * @param runsAnyway run the command although the settings contradict each other, then print the problem
 * @returns the exit code
 */
export async function configured(
  command: Command,
  run: (flags: StartFlags, settings: readonly Configured[]) => number | Promise<number>,
  { runsAnyway = false }: { readonly runsAnyway?: boolean } = {},
): Promise<number> {
  const name = `kiln ${command.name()}`;
  const wrong = (problem: string, what = `${name} was not run`, next = `${name} --help`): number => {
    printErrorText(failureText(new CommandFailure(EXIT.usage, what, problem, next)));
    return EXIT.usage;
  };
  let settings: readonly Configured[];
  try {
    settings = configure(command);
  } catch (error) {
    if (error instanceof ConfigurationError) return wrong(error.message, undefined, error.next);
    throw error;
  }
  const flags = command.opts<StartFlags>();
  const problem = startProblem(flags, settings);
  if (problem === undefined) return await run(flags, settings);
  if (runsAnyway) await run(flags, settings);
  return wrong(`${problem}${originText(problem, settings)}`, runsAnyway ? 'kiln start would not run with these settings' : undefined);
}

/** Names the source of each setting in a message that was not set on the command line. */
function originText(problem: string, settings: readonly Configured[]): string {
  const elsewhere = settings
    .filter(({ flag, source }) => source !== 'flag' && source !== 'default' && problem.split(/[\s;,:()]+/).includes(flag))
    .map(
      ({ flag, variable, source }) =>
        `${flag} is set by ${source === 'environment' ? `the environment variable ${variable}` : 'the --config file'}`,
    );
  return elsewhere.length === 0 ? '' : ` (${elsewhere.join(', ')})`;
}
