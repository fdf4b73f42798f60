/**
 * The Lease of a laboratory whose process was killed. The objects persist, and with them a Lease that no process renews. The process that
 * has claimed the folder knows that its predecessor is dead, and by the identity stored in the folder, whether it is the holder of the
 * Lease. A controller beside the laboratory has another identity: its Lease stays.
 */
import { randomBytes } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { KubeClient } from '../src/kube/client/client.ts';
import { isKubeError } from '../src/kube/errors.ts';
import { freeLease } from '../src/kube/leader/lease-release.ts';
import type { ObjectName } from '../src/kube/resource.ts';

/**
 * Releases the Lease of the folder's previous process, and stores the identity under which this process will request it.
 *
 * @param directory claimed by this process
 */
export async function succeed(directory: string, client: KubeClient, lease: ObjectName): Promise<string> {
  const file = join(directory, 'leader');
  const former = await readFile(file, 'utf8').catch(() => '');
  if (former !== '')
    await freeLease(client, lease, former, Date.now()).catch((error: unknown) => {
      // If another process has written the Lease meanwhile, the dead one no longer holds it.
      if (!isKubeError(error, 'KUBE_NOT_FOUND') && !isKubeError(error, 'KUBE_CONFLICT')) throw error;
    });
  const identity = `${hostname()}_${randomBytes(8).toString('hex')}`;
  await writeFile(file, identity);
  return identity;
}
