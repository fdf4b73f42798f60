/** Addresses that are asked for by name and cannot be had: outside of the Subnet, or somebody has them who stays. */
import type { Holder } from '../ipam/holder.ts';
import { isReserved, isRetained } from '../world/claimants.ts';
import type { AddressRequest } from '../world/reservations.ts';
import type { World } from '../world/world.ts';
import type { Objection, Observed } from './opinion.ts';
import { invalid } from './opinion.ts';

/** What no time mends. */
const NEVER: ReadonlySet<string> = new Set(['AddressOutOfRange', 'InvalidIPFamily']);

/** @param said what is in the way as it is said to the object */
export function takenByName(
  { world, checkRequest }: Observed,
  request: AddressRequest,
  field: string,
  said: (sentence: string) => string,
): readonly Objection[] {
  const refused = checkRequest(request);
  if (refused === undefined) return [];
  const { code, message, holders } = refused;
  // The gateway is nobody's, and is never free.
  const taken = code === 'AddressConflict' && (holders.length === 0 || holders.some((holder) => stays(world, holder)));
  return taken || NEVER.has(code) ? [invalid({ code, field, message: said(message) })] : [];
}

/** A reservation is one process's memory; what is durable or live counts. Who is going leaves the address to whoever waits. */
function stays(world: World, { kind, claimant }: Holder): boolean {
  if (kind === 'reservation') return false;
  if (kind === 'vip' || kind === 'eip') return true;
  const [port = ''] = claimant.split('#');
  return ipStays(world, port);
}

/** Whether an IP object keeps its address for longer than its pod takes to go. */
export function ipStays(world: World, name: string): boolean {
  const ip = world.ips.get(name);
  if (ip === undefined || ip.metadata.deletionTimestamp !== undefined) return false;
  const { podName = '', namespace = '', podType } = ip.spec;
  if (podName === '' || namespace === '' || isReserved(ip) || isRetained(podType)) return true;
  const pod = world.pods.get(`${namespace}/${podName}`);
  return pod !== undefined && pod.metadata.deletionTimestamp === undefined;
}
