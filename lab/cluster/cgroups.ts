/** The cgroups of one machine: below those of this process (version 1), or beside them (version 2). */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { isAlive } from '../directory-claim.ts';

const ROOT = '/sys/fs/cgroup';
/** The process id in the name tells whether its laboratory still runs. */
const NAME = /^kiln-(\d+)-/;
const REMOVE_MS = 30_000;

export class Cgroups {
  readonly folders: readonly string[];

  private constructor(parents: readonly string[], name: string) {
    this.folders = parents.map((parent) => join(parent, name));
  }

  /** Creates them; those of laboratories that were killed are deleted first. @param role part of the name: `node-1` */
  static create(role: string): Cgroups {
    const parents = parentFolders();
    deleteAbandoned(parents);
    const cgroups = new Cgroups(parents, `kiln-${process.pid}-${role}`);
    for (const folder of cgroups.folders) {
      mkdirSync(folder, { recursive: true });
      // A cpuset begins without processors, and then takes no process.
      for (const file of ['cpuset.cpus', 'cpuset.mems'])
        if (existsSync(join(folder, file))) copyValue(join(dirname(folder), file), join(folder, file));
    }
    return cgroups;
  }

  /** Deletes them with all below; waits for the end of their processes. */
  async delete(): Promise<void> {
    for (const end = performance.now() + REMOVE_MS; ;) {
      const left = this.folders.filter((folder) => !removed(folder));
      if (left.length === 0) return;
      if (performance.now() > end) throw new Error(`cgroup ${left[0]} still has processes`);
      await sleep(50);
    }
  }
}

/** The root of version 2, or the cgroup of this process in each hierarchy of version 1. */
function parentFolders(): readonly string[] {
  if (existsSync(join(ROOT, 'cgroup.controllers'))) return [ROOT];
  return readFileSync('/proc/self/cgroup', 'utf8')
    .split('\n')
    .flatMap((line) => {
      const [, controllers = '', ...path] = line.split(':');
      const controller = controllers.replace(/^name=/, '');
      const own = join(ROOT, controller, path.join(':'));
      return controller !== '' && existsSync(own) ? [own] : [];
    });
}

function deleteAbandoned(parents: readonly string[]): void {
  for (const parent of parents)
    for (const name of readdirSync(parent)) {
      const owner = Number(NAME.exec(name)?.[1] ?? process.pid);
      if (owner !== process.pid && !isAlive(owner)) removed(join(parent, name));
    }
}

/** Deletes a cgroup with those below it. @returns whether it is gone */
function removed(folder: string): boolean {
  if (!existsSync(folder)) return true;
  try {
    for (const entry of readdirSync(folder, { withFileTypes: true })) if (entry.isDirectory()) removed(join(folder, entry.name));
    rmdirSync(folder);
    return true;
  } catch {
    return false;
  }
}

function copyValue(from: string, to: string): void {
  writeFileSync(to, readFileSync(from));
}
