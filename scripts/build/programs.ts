/**
 * Builds programs: JavaScript files with all packages that they use, which need neither `node_modules` nor Node's compiler of types. They take
 * less memory and start faster. For the image, and for benchmarks that measure what the image runs.
 */
import { readFile, rm } from 'node:fs/promises';
import { builtinModules } from 'node:module';
import { extname, join } from 'node:path';
import type { Loader, Metafile, Plugin } from 'esbuild';
import { build } from 'esbuild';
import { UNUSED_BY_KUBECONFIG } from '../../src/kube/transport/unused-parts.ts';
import type { UnusedPart } from '../../src/kube/transport/unused-parts.ts';

export const ROOT = join(import.meta.dirname, '../..');

export interface BuildOptions {
  /** Source file of each program, relative to the root, by the name of its output. */
  readonly programs: Readonly<Record<string, string>>;
  /** Where `<name>.mjs` and the parts that they share go. It is emptied first. */
  readonly directory: string;
}

/**
 * Names stay as they are, so that stacks can be read. Source maps are files beside, without the sources.
 * @returns what is in each file
 */
export async function buildPrograms({ programs, directory }: BuildOptions): Promise<Metafile> {
  await rm(directory, { recursive: true, force: true });
  const { metafile } = await build({
    absWorkingDir: ROOT,
    entryPoints: { ...programs },
    outdir: directory,
    outExtension: { '.js': '.mjs' },
    chunkNames: 'part-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    // In memory V8 keeps the text of all functions.
    minifyWhitespace: true,
    // Node prints the line in which an error ends a process.
    lineLimit: 160,
    legalComments: 'none',
    sourcemap: 'linked',
    sourcesContent: false,
    metafile: true,
    logLevel: 'warning',
    // Packages in CommonJS require Node's modules.
    banner: { js: `const require = process.getBuiltinModule('node:module').createRequire(import.meta.url);` },
    tsconfigRaw: {},
    plugins: [withoutLaboratory, withoutUnusedParts, builtinsRequired, inAscii],
  });
  return metafile;
}

/** For a program that is one file. */
export function programPlugins(): readonly Plugin[] {
  return [withoutLaboratory, withoutUnusedParts, builtinsRequired];
}

/** The laboratory is a package of its own, which a controller in a cluster does not have. */
const withoutLaboratory: Plugin = {
  name: 'without-laboratory',
  setup: (building) => {
    building.onResolve({ filter: /\/laboratory\/laboratory\.ts$/ }, () => ({ path: join(ROOT, 'src/cli/laboratory/no-laboratory.ts') }));
  },
};

export const UNUSED: readonly UnusedPart[] = [
  ...UNUSED_BY_KUBECONFIG,
  // The transport speaks HTTP/1.1 alone.
  { importer: 'undici', specifier: './client-h2.js', source: 'module.exports = undefined;' },
  // Sums the metrics of several processes.
  { importer: 'prom-client', specifier: './lib/cluster', source: 'module.exports = undefined;' },
  // Writes the log in a thread of its own.
  { importer: 'pino', specifier: './lib/transport', source: 'module.exports = undefined;' },
  { importer: 'pino', specifier: './transport', source: 'module.exports = undefined;' },
  // Native code that makes it quicker, and that it does without.
  { importer: 'ws', specifier: 'bufferutil', source: 'throw new Error("left out");' },
  { importer: 'ws', specifier: 'utf-8-validate', source: 'throw new Error("left out");' },
];

const withoutUnusedParts: Plugin = {
  name: 'without-unused-parts',
  setup: (building) => {
    building.onResolve({ filter: /./ }, ({ path, importer }) => {
      const part = UNUSED.find((one) => one.specifier === path && importer.includes(`/node_modules/${one.importer}/`));
      return part === undefined ? undefined : { path: `${part.importer}/${path}`, namespace: 'unused', pluginData: part };
    });
    building.onLoad({ filter: /./, namespace: 'unused' }, ({ pluginData }) => ({ contents: (pluginData as UnusedPart).source }));
  },
};

/**
 * An import of one of Node's modules reads all that it exports, and some of that is loaded when it is read: of `node:http` a second copy of
 * undici. A required module is read as it is used.
 */
const builtinsRequired: Plugin = {
  name: 'builtins-required',
  setup: (building) => {
    building.onResolve({ filter: /^(node:)?[a-z0-9_/]+$/ }, ({ path, kind }) => {
      const name = path.replace(/^node:/, '');
      const imported = kind === 'import-statement' || kind === 'dynamic-import';
      return imported && builtinModules.includes(name) ? { path: name, namespace: 'builtin' } : undefined;
    });
    building.onLoad({ filter: /./, namespace: 'builtin' }, ({ path }) => ({
      contents: `module.exports = process.getBuiltinModule('node:${path}');`,
      loader: 'js',
    }));
  },
};

const LOADERS: Readonly<Record<string, Loader>> = { '.ts': 'ts', '.js': 'js', '.mjs': 'js', '.cjs': 'js' };

/** One character beyond Latin-1 doubles the memory of a file's text. esbuild escapes those in strings; this does it in patterns too. */
const inAscii: Plugin = {
  name: 'in-ascii',
  setup: (building) => {
    building.onLoad({ filter: /\.[cm]?[jt]s$/, namespace: 'file' }, async ({ path }) => {
      const text = await readFile(path, 'utf8');
      const escaped = text.replaceAll(/[\u0080-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
      if (escaped === text) return undefined;
      return { contents: escaped, loader: LOADERS[extname(path)] ?? 'js' };
    });
  },
};
