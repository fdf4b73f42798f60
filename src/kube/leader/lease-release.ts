import type { KubeClient } from '../client/client.ts';
import { microTime } from './lease.ts';
import type { Lease } from './lease.ts';
import type { ObjectName } from '../resource.ts';
import { LEASES } from '../resource.ts';

/**
 * Releases a Lease, so that the next leader need not wait until it expires. Only for a holder that certainly writes no more: this process,
 * or one that is known to be dead. Writes nothing if another holder has it.
 *
 * @param wallTime milliseconds since the epoch
 * @throws KubeError, `KUBE_CONFLICT` if another program wrote it meanwhile
 */
export async function freeLease(client: KubeClient, name: ObjectName, holder: string, wallTime: number): Promise<void> {
  const lease = await client.get<Lease>(LEASES, name);
  if (lease.spec?.holderIdentity !== holder) return;
  const now = microTime(wallTime);
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
  await client.update<Lease>(LEASES, { ...lease, spec });
}
