/**
 * The Lease of a laboratory whose process was killed: its objects were kept, and with them a Lease that nobody renews. Whoever has claimed the
 * folder knows that the process which had it before is dead, and by the name that it left there, whether it is the one that holds the Lease.
 * A controller that somebody runs beside the laboratory has another name: its Lease is left alone.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { KubeClient } from '../src/kube/client.ts';
import { isKubeError } from '../src/kube/errors.ts';
import { freeLease } from '../src/kube/lease-release.ts';
import type { ObjectName } from '../src/kube/resource.ts';

/**
 * Frees the Lease of the process that had the folder before, and leaves the name under which this one is to ask for it.
 *
 * @param directory claimed by this process
 */
export async function succeed(directory: string, client: KubeClient, lease: ObjectName): Promise<string> {
  const file = join(directory, 'leader');
  const former = await readFile(file, 'utf8').catch(() => '');
  if (former !== '')
    await freeLease(client, lease, former, Date.now()).catch((error: unknown) => {
      // Where somebody wrote it, the holder is not the dead one, or not any more.
      if (!isKubeError(error, 'KUBE_NOT_FOUND') && !isKubeError(error, 'KUBE_CONFLICT')) throw error;
    });
  const identity = `${hostname()}_${randomBytes(8).toString('hex')}`;
  await writeFile(file, identity);
  return identity;
}
