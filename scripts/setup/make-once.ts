import { createHash } from 'node:crypto';
import { mkdir, mkdtemp, readdir, rename, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:net';
import { basename, dirname, join } from 'node:path';
import { existsSync } from 'node:fs';
import { progress } from './report.ts';

const RETRY_MS = 1_000;

/**
 * Makes a folder of the cache, once: `make` fills a temporary folder beside it, which is then renamed in one step, so that no process ever
 * finds an incomplete one. Of two builders the second waits, and uses the result of the first.
 */
export async function makeOnce(folder: string, make: (workFolder: string) => Promise<void>): Promise<void> {
  await mkdir(dirname(folder), { recursive: true });
  const lock = await takeLock(folder);
  try {
    if (existsSync(folder)) return;
    const prefix = `.${basename(folder)}-making-`;
    await removeLeftovers(dirname(folder), prefix);
    const workFolder = await mkdtemp(join(dirname(folder), prefix));
    try {
      await make(workFolder);
      await rename(workFolder, folder);
    } finally {
      await rm(workFolder, { recursive: true, force: true });
    }
  } finally {
    lock.close();
  }
}

/** An abstract socket is a lock that the kernel releases when a builder dies. */
async function takeLock(folder: string): Promise<Server> {
  const name = `\0kiln-${createHash('sha256').update(folder).digest('hex').slice(0, 32)}`;
  for (let waited = false; ; waited = true) {
    const server = createServer();
    const taken = await new Promise<boolean>((resolve, reject) => {
      server.once('error', (error: NodeJS.ErrnoException) => (error.code === 'EADDRINUSE' ? resolve(false) : reject(error)));
      server.listen(name, () => resolve(true));
    });
    if (taken) return server;
    if (!waited) progress(`another set-up is making ${folder}; waiting for it`);
    await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
  }
}

async function removeLeftovers(parent: string, prefix: string): Promise<void> {
  for (const entry of await readdir(parent)) {
    if (entry.startsWith(prefix)) await rm(join(parent, entry), { recursive: true, force: true });
  }
}
