#!/usr/bin/env node
/**
 * The command line.
 */
import { enableCompileCache } from 'node:module';
import { compiledDirectory } from '../runtime/cache-directory.ts';

// Where it cannot be written, all is read anew.
enableCompileCache(compiledDirectory());
const { program } = await import('./program.ts');
const { endWithOutput } = await import('./output-watch.ts');
const { withoutHelpOfNobody } = await import('./usage-error.ts');

// `start` has a controller or a laboratory to end first, and sees to it itself.
program.hook('preAction', (_, command) => {
  if (command.name() !== 'start') endWithOutput(command.name());
});

await program.parseAsync(withoutHelpOfNobody(program, process.argv.slice(2)), { from: 'user' });
