/** Imports the test files that are named on the command line, so that their tests run in one process, one file after the other. */
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

for (const file of process.argv.slice(2)) await import(pathToFileURL(resolve(file)).href);
