/**
 * Started by `command-hosts.ts`: runs commands of `kiln` one after another in this process, each as `bin/kiln` would in one of its own. To
 * load the program takes ten times what most commands do.
 */
import { inspect } from 'node:util';
import { program } from '../program.ts';
import { withoutHelpOfNobody } from '../usage-error.ts';
import type { Ended } from './command-lab.ts';

export interface HostedCommand {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** What `process.exit` is in here: the command ends, and the process goes on. */
class Exited extends Error {}

const environment = { ...process.env };
let [out, said] = ['', ''];

process.exit = (code?: number | string | null): never => {
  process.exitCode = Number(code ?? process.exitCode ?? 0);
  throw new Exited();
};
process.stdout.write = (text: string | Uint8Array): boolean => {
  out += String(text);
  return true;
};
process.stderr.write = (text: string | Uint8Array): boolean => {
  said += String(text);
  return true;
};

async function run({ args, env }: HostedCommand): Promise<Ended> {
  [out, said] = ['', ''];
  process.exitCode = undefined;
  process.env = { ...environment, ...env };
  try {
    await program.parseAsync(withoutHelpOfNobody(program, args), { from: 'user' });
  } catch (error) {
    if (!(error instanceof Exited)) {
      said += `${inspect(error)}\n`;
      process.exitCode = 1;
    }
  }
  process.removeAllListeners('SIGINT');
  const { exitCode } = process;
  process.exitCode = undefined;
  return { exit: Number(exitCode) || 0, out, said };
}

process.on('message', (command) => {
  void run(command as HostedCommand).then((ended) => process.send?.(ended));
});
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
