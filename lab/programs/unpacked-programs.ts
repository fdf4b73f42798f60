import { existsSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';

/**
 * Programs of a newer distribution need its C library, so that library's own loader runs them. This needs neither root nor a chroot, and
 * their sockets and databases have ordinary paths.
 *
 * @param root where packages of a distribution were unpacked
 * @returns the command of a program there; undefined without a loader
 */
export function loaderOf(root: string): ((path: string) => readonly [string, ...string[]]) | undefined {
  const loader = findLoader(root);
  const libraries = findLibraries(root);
  if (loader === undefined || libraries === undefined) return undefined;
  return (path) => [loader, '--library-path', libraries, '--argv0', basename(path), path];
}

function findLoader(root: string): string | undefined {
  for (const folder of ['usr/lib64', 'usr/lib']) {
    const name = list(join(root, folder)).find((entry) => /^ld-linux.*\.so\.\d+$/.test(entry));
    if (name !== undefined) return join(root, folder, name);
  }
  return undefined;
}

function findLibraries(root: string): string | undefined {
  const triplet = list(join(root, 'usr/lib')).find((entry) => existsSync(join(root, 'usr/lib', entry, 'libc.so.6')));
  return triplet === undefined ? undefined : join(root, 'usr/lib', triplet);
}

function list(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
