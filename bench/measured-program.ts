/** The programs that benchmarks run: built, as in the image; with `KILN_BENCH_SOURCES=1` the sources, to compare. */
import { join } from 'node:path';
import { buildPrograms, ROOT } from '../scripts/build/programs.ts';
import { compiledDirectory } from '../src/runtime/cache-directory.ts';
import { NODE_ENVIRONMENT } from '../src/runtime/heap.ts';

const PROGRAMS = { kiln: 'src/cli/built.ts', controller: 'bench/controller-program.ts' } as const;
const SOURCES: Readonly<Record<keyof typeof PROGRAMS, string>> = { ...PROGRAMS, kiln: 'src/cli/main.ts' };
const DIRECTORY = join(ROOT, '.kiln/bench');

export interface MeasuredProgram {
  readonly file: string;
  readonly env: Readonly<Record<string, string>>;
}

let building: Promise<unknown> | undefined;

/** Builds it the first time. */
export async function measuredProgram(name: keyof typeof PROGRAMS): Promise<MeasuredProgram> {
  // As for `kiln` in a clone. The image's file system cannot be written to, so nothing is cached there.
  if (process.env['KILN_BENCH_SOURCES'] === '1')
    return { file: join(ROOT, SOURCES[name]), env: { ...NODE_ENVIRONMENT, NODE_COMPILE_CACHE: compiledDirectory() } };
  building ??= buildPrograms({ programs: PROGRAMS, directory: DIRECTORY });
  await building;
  return { file: join(DIRECTORY, `${name}.mjs`), env: { ...NODE_ENVIRONMENT, NODE_DISABLE_COMPILE_CACHE: '1' } };
}
