/**
 * Addresses that several places say: an IP object, annotations, a port row. They agree, but for the moment after somebody changed one of
 * them by hand; then what two of them say is right, and the third is written again. Where no two agree (one was changed, another taken
 * away), the first that a Subnet has is right.
 */
import type { RowId } from '../../nb/row-id.ts';
import { parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import type { World } from '../../world/world.ts';
import { subnetView } from '../subnet/judging/subnet-view.ts';
import type { Addresses } from './ip-object.ts';
import { sameAddresses } from './ip-object.ts';

/**
 * @param said the most durable place first
 * @param told what a place says that proves nothing by itself: it decides between the others where they differ
 */
export function majorityAddress(world: World, said: readonly Addresses[], told?: Addresses): Addresses | undefined {
  return (
    said.find((one, i) => sameAddresses(one, told) || said.some((other, j) => i !== j && sameAddresses(one, other))) ??
    said.find((one) => said.length < 2 || isOfItsSubnet(world, one)) ??
    said[0]
  );
}

function isOfItsSubnet(world: World, { subnet, v4, v6 }: Addresses): boolean {
  const view = world.ask(subnetView, subnet);
  const has = (text: string, cidrText: string | undefined): boolean => {
    const [address, cidr] = [parseAddress(text), parseCidr(cidrText ?? '')];
    return text === '' || (address !== undefined && cidr !== undefined && cidrContains(cidr, address));
  };
  return has(v4, view?.v4?.cidr) && has(v6, view?.v6?.cidr);
}

/** What a port row carries, in the Subnet that it is marked with. */
export function addressesInRow(world: World, id: RowId): Addresses | undefined {
  const stations = world.rows.column(id, 'addresses');
  const externalIds = world.rows.column(id, 'external_ids');
  const subnet: unknown = externalIds instanceof Map ? externalIds.get('ls') : undefined;
  if (!(stations instanceof Set) || typeof subnet !== 'string') return undefined;
  const station = [...stations].map(String).find((text) => text.includes(' '));
  const [mac = '', ...addresses] = (station ?? '').split(' ');
  return addressesIn(subnet, mac, addresses);
}

/** Undefined where none of the texts is an address. */
export function addressesIn(subnet: string, mac: string, texts: readonly string[]): Addresses | undefined {
  const ofFamily = (family: 4 | 6): string => texts.find((text) => parseAddress(text)?.family === family) ?? '';
  const [v4, v6] = [ofFamily(4), ofFamily(6)];
  return subnet === '' || (v4 === '' && v6 === '') ? undefined : { subnet, v4, v6, mac };
}
