import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildPrograms } from '../build/programs.ts';
import type { Job } from './job.ts';

/** Steps whose tests start the command line, as processes of their own. */
const STEPS: ReadonlySet<string> = new Set(['charts', 'conformance', 'e2e', 'packets', 'takeover']);

/**
 * Builds the command line for the jobs that start it, and names it to them (`src/testing/program-under-test.ts`). It is deleted when this process
 * ends.
 */
export async function buildForTests(jobs: readonly Job[]): Promise<void> {
  if (!jobs.some(({ step }) => STEPS.has(step))) return;
  const folder = await mkdtemp(join(tmpdir(), 'kiln-program-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  await buildPrograms({ programs: { kiln: 'src/cli/built.ts' }, directory: join(folder, 'dist') });
  process.env['TEST_PROGRAM'] = join(folder, 'dist/kiln.mjs');
}
