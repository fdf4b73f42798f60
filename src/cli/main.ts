#!/usr/bin/env node
/**
 * The command line.
 */
import { enableCompileCache } from 'node:module';
import { compiledDirectory } from '../lab/programs/cache-directory.ts';

// Where it cannot be written, all is read anew.
enableCompileCache(compiledDirectory());
const { program } = await import('./program.ts');

await program.parseAsync();
