import type { KubeClient } from './client.ts';
import { microTime } from './lease.ts';
import type { Lease } from './lease.ts';
import type { ObjectName } from './resource.ts';
import { LEASES } from './resource.ts';

/**
 * Gives a Lease back, so that nobody need wait until it runs out. Only for a holder that surely does nothing any more: oneself, or a process
 * that is known to be dead. Nothing is written where somebody else holds it.
 *
 * @param wallTime milliseconds since the epoch
 * @throws KubeError, `KUBE_CONFLICT` where somebody wrote it meanwhile
 */
export async function freeLease(client: KubeClient, name: ObjectName, holder: string, wallTime: number): Promise<void> {
  const lease = await client.get<Lease>(LEASES, name);
  if (lease.spec?.holderIdentity !== holder) return;
  const now = microTime(wallTime);
  const spec = { ...lease.spec, holderIdentity: '', leaseDurationSeconds: 1, acquireTime: now, renewTime: now };
  await client.update<Lease>(LEASES, { ...lease, spec });
}
