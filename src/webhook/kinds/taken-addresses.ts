/** Addresses that are requested by name and not available: outside of the Subnet, or in use by a holder that keeps it. */
import type { Holder } from '../../ipam/holder.ts';
import { isReserved, isRetained } from '../../world/claimants.ts';
import type { AddressRequest } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import type { Denial, Observed } from '../protocol/admission-result.ts';
import { invalid } from '../protocol/admission-result.ts';

/** Failures that do not end by waiting. */
const PERMANENT_FAILURES: ReadonlySet<string> = new Set(['AddressOutOfRange', 'InvalidIPFamily']);

/** @param format formats the conflict as the object's condition does */
export function takenByName(
  { world, checkRequest }: Observed,
  request: AddressRequest,
  field: string,
  format: (sentence: string) => string,
): readonly Denial[] {
  const failure = checkRequest(request);
  if (failure === undefined) return [];
  const { code, message, holders } = failure;
  // The gateway has no holder and is never free.
  const taken = code === 'AddressConflict' && (holders.length === 0 || holders.some((holder) => keepsAddress(world, holder)));
  return taken || PERMANENT_FAILURES.has(code) ? [invalid({ code, field, message: format(message) })] : [];
}

/**
 * Whether a holder keeps its address. A reservation is memory of one process; only durable or live holders count. A holder that is being
 * deleted frees the address for the waiting object.
 */
function keepsAddress(world: World, { kind, claimant }: Holder): boolean {
  if (kind === 'reservation') return false;
  if (kind === 'vip' || kind === 'eip') return true;
  const [port = ''] = claimant.split('#');
  return ipKeepsAddress(world, port);
}

/** Whether an IP object keeps its address; false if it is free now, or will be once a pod that is being deleted is gone. */
export function ipKeepsAddress(world: World, name: string): boolean {
  const ip = world.ips.get(name);
  if (ip === undefined || ip.metadata.deletionTimestamp !== undefined) return false;
  const { podName = '', namespace = '', podType } = ip.spec;
  if (podName === '' || namespace === '' || isReserved(ip) || isRetained(podType)) return true;
  const pod = world.pods.get(`${namespace}/${podName}`);
  return pod !== undefined && pod.metadata.deletionTimestamp === undefined;
}
