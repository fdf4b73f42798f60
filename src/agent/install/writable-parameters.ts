/**
 * A container sees the kernel's parameters (`/proc/sys`) read-only unless it is privileged, and runtimes refuse a volume there. The agent sets some of
 * the node and of pods' namespaces, and may mount.
 */
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import type { Programs } from '../kernel/programs.ts';

const FOLDER = '/proc/sys';
const ONE = `${FOLDER}/net/ipv4/ip_forward`;

/** Makes them writable for this container alone. @throws Error with the reason of the program that failed */
export async function makeParametersWritable(programs: Pick<Programs, 'run'>, file = ONE): Promise<void> {
  const isWritable = await access(file, constants.W_OK).then(
    () => true,
    () => false,
  );
  if (isWritable) return;
  const ran = await programs.run(['mount', '-o', 'remount,bind,rw', FOLDER]);
  if (!ran.ok)
    throw new Error(`${FOLDER} is read-only and stays so (${ran.message}): the container needs SYS_ADMIN, and no AppArmor profile`);
}
