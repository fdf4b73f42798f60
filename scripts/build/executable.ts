/**
 * Builds a program as one executable file: Node with the program in it (a single executable application of Node's), for hosts that have no
 * Node. It is as large as Node, and starts as fast.
 */
import { execFile } from 'node:child_process';
import { chmod, copyFile, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Plugin } from 'esbuild';
import { build } from 'esbuild';
import { ROOT } from './programs.ts';

/** By which Node finds the program in itself: https://nodejs.org/docs/latest-v24.x/api/single-executable-applications.html */
const FUSE = 'NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2';
const RESOURCE = 'NODE_SEA_BLOB';
const INJECTOR = join(ROOT, 'node_modules/postject/dist/cli.js');
const run = promisify(execFile);

/**
 * @param source of the program, relative to the root; it must not wait at its top level, since the program is CommonJS
 * @param file of the executable
 * @param plugins of esbuild
 */
export async function buildExecutable(source: string, file: string, plugins: readonly Plugin[] = []): Promise<void> {
  const folder = await mkdtemp(join(tmpdir(), 'kiln-executable-'));
  try {
    const [script, blob, configuration] = ['program.cjs', 'program.blob', 'program.json'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    await build({
      absWorkingDir: ROOT,
      entryPoints: [source],
      outfile: script,
      bundle: true,
      format: 'cjs',
      platform: 'node',
      target: 'node24',
      minifyWhitespace: true,
      legalComments: 'none',
      logLevel: 'warning',
      tsconfigRaw: {},
      define: { 'import.meta.dirname': '__dirname' },
      plugins: [...plugins],
    });
    await writeFile(configuration, JSON.stringify({ main: script, output: blob, disableExperimentalSEAWarning: true, useCodeCache: true }));
    await run(process.execPath, ['--experimental-sea-config', configuration]);
    await mkdir(dirname(file), { recursive: true });
    await copyFile(process.execPath, file);
    await run(process.execPath, [INJECTOR, file, RESOURCE, blob, '--sentinel-fuse', FUSE]);
    await chmod(file, 0o755);
  } finally {
    await rm(folder, { recursive: true });
  }
}
