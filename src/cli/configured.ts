/** Runs a command with its settings from wherever they are, or says in one sentence what is wrong with them. */
import type { Command } from 'commander';
import { EXIT } from './command-failure.ts';
import type { StartFlags } from './commands/start.ts';
import type { Configured } from './configuration.ts';
import { ConfigurationError, configure } from './configuration.ts';
import { startProblem } from './start-problem.ts';

export const PRECEDENCE =
  'Each setting can be a flag, an environment variable (KILN_…) or a key of the --config file; the first of these that is there counts, then the default.';

/** @returns the exit code */
export async function configured(
  command: Command,
  run: (flags: StartFlags, settings: readonly Configured[]) => number | Promise<number>,
): Promise<number> {
  const wrong = (problem: string): number => {
    process.stderr.write(`kiln ${command.name()}: ${problem}\n`);
    return EXIT.usage;
  };
  let settings: readonly Configured[];
  try {
    settings = configure(command);
  } catch (error) {
    if (error instanceof ConfigurationError) return wrong(error.message);
    throw error;
  }
  const flags = command.opts<StartFlags>();
  const problem = startProblem(flags, settings);
  return problem === undefined ? await run(flags, settings) : wrong(problem);
}
