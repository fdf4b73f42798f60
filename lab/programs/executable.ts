import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Environment } from '../../src/runtime/cache-directory.ts';

/** Debian installs daemons in these folders, which the PATH of a user often lacks. */
const SYSTEM_FOLDERS = ['/usr/sbin', '/sbin', '/usr/local/sbin'];

/** True when `path` is a file this process may execute. */
export function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The absolute path of a program by its name, or undefined: PATH first, then the folders of system daemons. */
export function onPath(name: string, env: Environment = process.env): string | undefined {
  const folders = [...(env['PATH'] ?? '').split(delimiter), ...SYSTEM_FOLDERS];
  return folders
    .filter((folder) => folder !== '')
    .map((folder) => join(folder, name))
    .find(isExecutable);
}
