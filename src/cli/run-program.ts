/** Runs the command line of this process. */
import { enableCompileCache } from 'node:module';
import { compiledDirectory } from '../runtime/cache-directory.ts';
import { optimizeWhenBusy } from '../runtime/late-compilers.ts';

export async function runProgram(): Promise<void> {
  // Already while a controller's code is loaded. And before the cache is opened: V8 rejects what it compiled with other flags, and the cache of
  // each set of flags is a folder of its own if they are set by then.
  if (process.argv[2] === 'start') optimizeWhenBusy();
  // If the cache is not writable, Node.js compiles everything again.
  enableCompileCache(compiledDirectory());
  const { programFor } = await import('./quick-program.ts');
  const program = await programFor(process.argv[2]);
  const { endWithOutput } = await import('./process/output-watch.ts');
  const { withoutHelpOfUnknownCommand } = await import('./errors/usage-error.ts');

  // `start` must first stop its controller or laboratory, and does so itself.
  program.hook('preAction', (_, command) => {
    if (command.name() !== 'start') endWithOutput(command.name());
  });

  await program.parseAsync(withoutHelpOfUnknownCommand(program, process.argv.slice(2)), { from: 'user' });
}
