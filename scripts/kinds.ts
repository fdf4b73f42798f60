/**
 * Writes `src/kinds/generated`, which has the parts of all records for each layer: `npm run --silent kinds`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { generatedFiles } from './kinds/generated-files.ts';

const folder = join(import.meta.dirname, '..', 'src', 'kinds', 'generated');
mkdirSync(folder, { recursive: true });
for (const [name, text] of await generatedFiles()) writeFileSync(join(folder, name), text);
