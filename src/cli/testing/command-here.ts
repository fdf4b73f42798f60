/**
 * Runs commands of `kiln` within the test's own process: everything but the process itself is as a user has it, and it is not loaded anew for
 * each command, which takes ten times what most of them do. What a signal or a terminal does to a command needs a process: `runKiln`.
 */
import { AsyncLocalStorage } from 'node:async_hooks';
import { inspect } from 'node:util';
import { program } from '../program.ts';
import { withoutHelpOfNobody } from '../usage-error.ts';

/** How a command ended. */
export interface Ended {
  readonly exit: number | null;
  readonly out: string;
  readonly said: string;
}

type Environment = Readonly<Record<string, string>>;

/** What `process.exit` is for a command here: the command ends, and the process goes on. */
class Exited extends Error {}

interface Running {
  out: string;
  said: string;
}

const running = new AsyncLocalStorage<Running>();
/** Commands that run at a time would share the exit code and the environment of the process. */
let underWay = false;

const exit = process.exit.bind(process);
process.exit = (code?: number | string | null): never => {
  if (running.getStore() === undefined) return exit(code);
  process.exitCode = Number(code ?? process.exitCode ?? 0);
  throw new Exited();
};
capture(process.stdout, 'out');
capture(process.stderr, 'said');

/** Of a stream, what a command writes; what the test and its reporter write goes on. */
function capture(stream: NodeJS.WriteStream, part: keyof Running): void {
  const write = stream.write.bind(stream) as (...args: readonly unknown[]) => boolean;
  stream.write = (...args: readonly unknown[]): boolean => {
    const command = running.getStore();
    if (command === undefined) return write(...args);
    command[part] += String(args[0]);
    return true;
  };
}

/** One at a time. @param env beside the environment of the test, in a locale of UTF-8 unless it says otherwise */
export async function runHere(args: readonly string[], env: Environment = {}): Promise<Ended> {
  if (underWay) throw new Error(`kiln ${args.join(' ')} runs beside another command in the process of the test`);
  underWay = true;
  const [environment, exitCode, listeners] = [process.env, process.exitCode, process.listeners('SIGINT')];
  const command: Running = { out: '', said: '' };
  process.env = { ...environment, LC_ALL: 'C.UTF-8', ...env };
  process.exitCode = undefined;
  try {
    await running.run(command, () => program.parseAsync(withoutHelpOfNobody(program, args), { from: 'user' }));
  } catch (error) {
    if (!(error instanceof Exited)) {
      command.said += `${inspect(error)}\n`;
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
