/**
 * Runs commands of `kiln` within the test's process: everything except the process is as for a user. Loading the modules anew for each
 * command would take ten times as long as most commands. Tests of signals and terminals need a process: `runKiln`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import { testEnvironment } from '../../testing/environment.ts';
import { program } from '../program.ts';
import { withoutHelpOfUnknownCommand } from '../errors/usage-error.ts';

/** The result of a command. */
export interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly err: string;
}

type Environment = Readonly<Record<string, string>>;

/** Replaces `process.exit`: the command ends, and the process continues. */
class Exited extends Error {}

interface Running {
  out: string;
  err: string;
}

const running = new AsyncLocalStorage<Running>();
/** Concurrent commands would share the exit code and the environment of the process. */
let underWay = false;

const exit = process.exit.bind(process);
process.exit = (code?: number | string | null): never => {
  if (running.getStore() === undefined) return exit(code);
  process.exitCode = Number(code ?? process.exitCode ?? 0);
  throw new Exited();
};
capture(process.stdout, 'out');
capture(process.stderr, 'err');

/** Captures the output of the command; output of the test and its reporter passes unchanged. */
function capture(stream: NodeJS.WriteStream, part: keyof Running): void {
  const write = stream.write.bind(stream) as (...args: readonly unknown[]) => boolean;
  stream.write = (...args: readonly unknown[]): boolean => {
    const command = running.getStore();
    if (command === undefined) return write(...args);
    command[part] += String(args[0]);
    return true;
  };
}

/**
 * Runs one command at a time.
 * @param env in addition to `testEnvironment`; the locale is UTF-8 by default
 */
export async function runHere(args: readonly string[], env: Environment = {}): Promise<Ended> {
  if (underWay) throw new Error(`kiln ${args.join(' ')} runs beside another command in the process of the test`);
  underWay = true;
  const [environment, exitCode, listeners] = [process.env, process.exitCode, process.listeners('SIGINT')];
  const command: Running = { out: '', err: '' };
  process.env = { ...testEnvironment(), LC_ALL: 'C.UTF-8', ...env };
  process.exitCode = undefined;
  try {
    await running.run(command, () => program.parseAsync(withoutHelpOfUnknownCommand(program, args), { from: 'user' }));
  } catch (error) {
    if (!(error instanceof Exited)) {
      command.err += `${inspect(error)}\n`;
      process.exitCode = 1;
    }
  }
  const ended = { exit: Number(process.exitCode) || 0, ...command };
  for (const listener of process.listeners('SIGINT')) if (!listeners.includes(listener)) process.off('SIGINT', listener);
  process.exitCode = exitCode;
  process.env = environment;
  underWay = false;
  return ended;
}
