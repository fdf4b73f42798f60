/**
 * Builds `kiln` without the laboratory: `npm run build` writes `dist`: the program, and the CNI plugin as one executable file. A clone does not need it: there Node runs the sources.
 */
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildPrograms, ROOT } from './build/programs.ts';
import { buildExecutable } from './build/executable.ts';
import { writeLicenses } from './build/licenses.ts';

const { values } = parseArgs({ options: { directory: { type: 'string', default: join(ROOT, 'dist') } } });
const built = await buildPrograms({ programs: { kiln: 'src/cli/built.ts' }, directory: values.directory });
await writeLicenses(built, join(values.directory, 'LICENSES.txt'));
await buildExecutable('src/cni/main.ts', join(values.directory, 'kiln-cni'));
