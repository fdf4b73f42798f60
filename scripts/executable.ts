/** Builds the command line as one executable file: `npm run executable` writes `dist/kiln`. */
import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { buildExecutable } from './build/executable.ts';
import { programPlugins, ROOT } from './build/programs.ts';

const { values } = parseArgs({ options: { file: { type: 'string', default: join(ROOT, 'dist/kiln') } } });
const file = resolve(values.file);
await buildExecutable('src/cli/executable.ts', file, programPlugins());
process.stdout.write(`${file}: ${Math.round(statSync(file).size / 1e6)} MB\n`);
