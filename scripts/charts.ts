/**
 * Writes the generated files of `charts/kiln`, and the dashboard of `deploy/monitoring`: `npm run --silent charts`.
 */
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { chartFiles } from './charts/chart-files.ts';

for (const [path, text] of chartFiles()) {
  const file = join(import.meta.dirname, '..', path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, text);
}
