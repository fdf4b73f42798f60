/**
 * What an interface that is bound has. Three places say so: its IP object, its port row, its pod's annotations. They agree, but
 * for the moment after somebody changed one of them by hand; then what two of them say is right, and the third is written again.
 */
import { parseAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import type { World } from '../world/world.ts';
import type { Addresses } from './ip-object.ts';
import { addressesOfIp, sameAddresses } from './ip-object.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, ipOf, isAllocated, portId } from './pod-interface.ts';
import { podOwner } from './pod-view.ts';
import { isOurs } from './vpc-view.ts';

/** Undefined where none of the three says anything: the interface has no address yet. */
export function heldAddresses(world: World, nic: PodInterface): Addresses | undefined {
  const ip = ipOf(world, nic);
  const said = [ip === undefined ? undefined : addressesOfIp(ip), isAllocated(nic) ? annotated(nic) : undefined, carried(world, nic)].filter((one) => one !== undefined);
  return said.find((one, i) => said.some((other, j) => i !== j && sameAddresses(one, other))) ?? said[0];
}

/** Whether the interface may be in use: agents act on the annotation, OVN on the row. */
export function isBound(world: World, nic: PodInterface): boolean {
  return isAllocated(nic) || isOurs(world, portId(nic.port), podOwner(nic.pod));
}

function annotated(nic: PodInterface): Addresses | undefined {
  return addressesIn(annotationOf(nic, 'logical_switch'), annotationOf(nic, 'mac_address').toLowerCase(), splitList(annotationOf(nic, 'ip_address')));
}

function carried(world: World, nic: PodInterface): Addresses | undefined {
  const id = portId(nic.port);
  if (!isOurs(world, id, podOwner(nic.pod))) return undefined;
  const stations = world.rows.column(id, 'addresses');
  const externalIds = world.rows.column(id, 'external_ids');
  const subnet = externalIds instanceof Map ? externalIds.get('ls') : undefined;
  if (!(stations instanceof Set) || typeof subnet !== 'string') return undefined;
  const station = [...stations].map(String).find((text) => text.includes(' '));
  const [mac = '', ...addresses] = (station ?? '').split(' ');
  return addressesIn(subnet, mac, addresses);
}

function addressesIn(subnet: string, mac: string, texts: readonly string[]): Addresses | undefined {
  const ofFamily = (family: 4 | 6): string => texts.find((text) => parseAddress(text)?.family === family) ?? '';
  const [v4, v6] = [ofFamily(4), ofFamily(6)];
  return subnet === '' || (v4 === '' && v6 === '') ? undefined : { subnet, v4, v6, mac };
}
