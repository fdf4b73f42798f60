import { resolve } from 'node:path';
import { isSea } from 'node:sea';

/** How a process starts this program once more: Node and the program's file, or the one executable file that is both. */
export function ownProgram(): readonly [file: string, ...args: string[]] {
  return isSea() ? [process.execPath] : [process.execPath, resolve(process.argv[1] ?? '')];
}
