/**
 * Gives the journal's directory to the controller's user. A volume of the host belongs to root when the kubelet has made it, and the
 * controller is not root. This runs as root before it, with the right to change owners (CHOWN) and no other.
 */
import { chmod, chown, lchown, lstat, mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';

export interface PrepareJournalOptions {
  readonly directory: string;
  readonly user: number;
  readonly group: number;
}

/** Rows name tenants' objects: no other user of the host may read them. */
const PRIVATE = 0o700;

/**
 * @returns what was done, for the log
 * @throws Error if it is no directory, or the file system refuses
 */
export async function prepareJournalDirectory({ directory, user, group }: PrepareJournalOptions): Promise<string> {
  await mkdir(directory, { recursive: true, mode: PRIVATE });
  const found = await lstat(directory);
  if (!found.isDirectory()) throw new Error(`${directory} is not a directory`);
  if (found.uid === user && found.gid === group && (found.mode & 0o777) === PRIVATE) return `${directory} belongs to user ${user} already`;
  const [self, own] = [process.getuid?.() ?? user, process.getgid?.() ?? group];
  // The owner alone may change the mode, so this process is the owner first; then no other process can exchange what is in it.
  if (found.uid !== self) await chown(directory, self, own);
  await chmod(directory, PRIVATE);
  for (const name of await readdir(directory)) {
    const path = join(directory, name);
    const file = await lstat(path);
    // An earlier user of the image has left it. One that has a second name may be another program's file.
    if (file.isFile() && file.nlink === 1 && (file.uid !== user || file.gid !== group)) await lchown(path, user, group);
  }
  if (self !== user || own !== group) await chown(directory, user, group);
  return `${directory} belongs to user ${user} now`;
}
