/**
 * The Service of the API server: its addresses are the only part of a Service that rules read. Of every Service, what it has in load
 * balancers, for reports.
 */
import type { Service } from '../../../api/kubernetes/core.ts';
import { equal } from '../../../world/equal.ts';
import type { World } from '../../../world/world.ts';
import { API_SERVER } from '../../../world/world.ts';
import type { Untrimmed } from '../../../world/trim.ts';

export function isApiServer(key: string): boolean {
  return key === API_SERVER;
}

/** Addresses of a Service in the cluster; none for a headless one. */
export function serviceAddresses(object: Untrimmed): readonly string[] {
  const { clusterIP = '', clusterIPs = [clusterIP] } = ((object as Partial<Service>).spec ?? {}) as Partial<Service['spec']>;
  return clusterIPs.filter((text) => typeof text === 'string' && text !== '' && text !== 'None');
}

/** @param addresses undefined if the Service does not exist */
export function fileApiServer({ apiServer }: World, addresses: readonly string[] | undefined): void {
  if (addresses === undefined) apiServer.delete(API_SERVER);
  else if (!equal(apiServer.peek(API_SERVER), addresses)) apiServer.set(API_SERVER, addresses);
}

/** @param vips empty if the Service does not exist, too */
export function fileServiceVips({ serviceVips }: World, key: string, vips: readonly string[]): void {
  if (vips.length === 0) serviceVips.delete(key);
  else if (!equal(serviceVips.peek(key), vips)) serviceVips.set(key, vips);
}
