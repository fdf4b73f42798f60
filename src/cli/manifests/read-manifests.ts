/** The objects in files, directories and standard input. */
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { parseAllDocuments } from 'yaml';
import { CommandFailure, EXIT } from '../errors/command-failure.ts';

/** An object of a manifest. */
export interface Manifest {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly labels?: Readonly<Record<string, string>>;
    readonly annotations?: Readonly<Record<string, string>>;
  };
  readonly spec?: unknown;
  /** Where it was read. */
  readonly source: string;
}

/** Most Lists in one another. kubectl writes one. */
const MOST_NESTED = 10;
const MANIFEST = /\.(ya?ml|json)$/;

/**
 * @param paths files and directories; `-` is standard input
 * @param recursive also directories in directories
 * @throws CommandFailure for a path that cannot be read, and for what is no object; it names the file
 */
export async function readManifests(command: string, paths: readonly string[], recursive: boolean): Promise<readonly Manifest[]> {
  const found: Manifest[] = [];
  for (const path of paths)
    for (const file of path === '-' ? ['-'] : await filesOf(command, path, recursive)) {
      const source = file === '-' ? 'standard input' : file;
      const contents = file === '-' ? await text(process.stdin) : await reading(command, file, readFile(file, 'utf8'));
      found.push(...objectsOf(command, source, contents));
    }
  if (found.length > 0) return found;
  throw unusable(command, `no object is in ${paths.map((path) => (path === '-' ? 'standard input' : path)).join(', ')}`);
}

async function filesOf(command: string, path: string, recursive: boolean): Promise<readonly string[]> {
  if (!(await reading(command, path, stat(path))).isDirectory()) return [path];
  const entries = await reading(command, path, readdir(path, { withFileTypes: true, recursive }));
  return entries
    .filter((entry) => entry.isFile() && MANIFEST.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted();
}

async function reading<T>(command: string, path: string, done: Promise<T>): Promise<T> {
  try {
    return await done;
  } catch (error) {
    throw unusable(command, `${path} cannot be read: ${(error as Error).message}`);
  }
}

function objectsOf(command: string, source: string, contents: string): readonly Manifest[] {
  return parseAllDocuments(contents).flatMap((document) => {
    const [error] = document.errors;
    if (error !== undefined) throw unusable(command, `${source} is not YAML: ${error.message.split('\n', 1)[0]?.replace(/:$/, '')}`);
    return manifestsIn(command, source, document.toJS());
  });
}

/** @param around the Lists that the value is in: by an alias of YAML, one may be in itself */
function manifestsIn(command: string, source: string, value: unknown, around: readonly unknown[] = []): readonly Manifest[] {
  if (value === null || value === undefined) return [];
  const { apiVersion, kind, metadata, items } = value as Readonly<Record<string, unknown>>;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    if (around.includes(items)) throw unusable(command, `${source} has a ${kind} that is in itself`);
    if (around.length >= MOST_NESTED) throw unusable(command, `${source} has more than ${MOST_NESTED} Lists in one another`);
    return items.flatMap((item: unknown) => manifestsIn(command, source, item, [...around, items]));
  }
  const { name, namespace } = (metadata ?? {}) as { readonly name?: unknown; readonly namespace?: unknown };
  if (typeof apiVersion !== 'string' || typeof kind !== 'string')
    throw unusable(command, `${source} has a document without apiVersion and kind`);
  if (typeof name !== 'string' || name === '') throw unusable(command, `${source} has a ${kind} without metadata.name`);
  if (namespace !== undefined && typeof namespace !== 'string')
    throw unusable(command, `${source} has a ${kind} ${name} whose metadata.namespace is no text`);
  return [{ ...(value as Omit<Manifest, 'source'>), source }];
}

function unusable(command: string, why: string): CommandFailure {
  return new CommandFailure(EXIT.usage, `kiln ${command} was not run`, why, `kiln ${command} --help`);
}
