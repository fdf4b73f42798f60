/**
 * What an interface that is bound has. Three places say so: its IP object, its port row, its pod's annotations. They agree, but
 * for the moment after somebody changed one of them by hand; then what two of them say is right, and the third is written again.
 */
import type { IP } from '../api/ip.ts';
import { parseAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import type { World } from '../world/world.ts';
import type { Addresses } from './ip-object.ts';
import { addressesOfIp, sameAddresses } from './ip-object.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, ipOf, isAllocated, portId } from './pod-interface.ts';
import { podOwner } from './pod-view.ts';
import { isOurs } from './vpc-view.ts';

export interface Held {
  /** Its own IP object. */
  readonly ip: IP | undefined;
  /** Whether its port row is observed as its own. */
  readonly ownRow: boolean;
  /** It may be in use: agents act on the annotation, OVN on the row. */
  readonly bound: boolean;
  /** Undefined where none of the three says anything. */
  readonly addresses: Addresses | undefined;
}

export function heldBy(world: World, nic: PodInterface): Held {
  const ip = ipOf(world, nic);
  const ownRow = isOurs(world, portId(nic.port), podOwner(nic.pod));
  const allocated = isAllocated(nic);
  const said = [
    ip === undefined ? undefined : addressesOfIp(ip),
    allocated ? annotated(nic) : undefined,
    ownRow ? carried(world, nic) : undefined,
  ].filter((one) => one !== undefined);
  const addresses = said.find((one, i) => said.some((other, j) => i !== j && sameAddresses(one, other))) ?? said[0];
  return { ip, ownRow, bound: ownRow || allocated, addresses };
}

function annotated(nic: PodInterface): Addresses | undefined {
  return addressesIn(
    annotationOf(nic, 'logical_switch'),
    annotationOf(nic, 'mac_address').toLowerCase(),
    splitList(annotationOf(nic, 'ip_address')),
  );
}

function carried(world: World, nic: PodInterface): Addresses | undefined {
  const id = portId(nic.port);
  const stations = world.rows.column(id, 'addresses');
  const externalIds = world.rows.column(id, 'external_ids');
  const subnet: unknown = externalIds instanceof Map ? externalIds.get('ls') : undefined;
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
