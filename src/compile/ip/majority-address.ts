/**
 * The addresses of an interface have several records: IP object, annotations, port row. They agree, except shortly after one was edited by
 * hand: then the two that agree are right, and Kiln corrects the third. If no two agree (one was edited, another removed), the first that
 * its Subnet has is right.
 */
import type { RowId } from '../../nb/row-id.ts';
import { parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import { parseMac } from '../../net/mac.ts';
import type { World } from '../../world/world.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import type { Addresses } from './ip-object.ts';
import { sameAddresses } from './ip-object.ts';

/**
 * @param records the most durable first
 * @param tieBreaker a record that proves nothing by itself: it decides between the others if they differ
 */
export function majorityAddress(world: World, records: readonly Addresses[], tieBreaker?: Addresses): Addresses | undefined {
  return (
    records.find((one, i) => sameAddresses(one, tieBreaker) || records.some((other, j) => i !== j && sameAddresses(one, other))) ??
    records.find((one) => records.length < 2 || isOfItsSubnet(world, one)) ??
    records[0]
  );
}

function isOfItsSubnet(world: World, { subnet, v4, v6 }: Addresses): boolean {
  const view = world.ask(subnetView, subnet);
  if (v4 === '' && v6 === '') return view?.protocol === 'Mac';
  const has = (text: string, cidrText: string | undefined): boolean => {
    const [address, cidr] = [parseAddress(text), parseCidr(cidrText ?? '')];
    return text === '' || (address !== undefined && cidr !== undefined && cidrContains(cidr, address));
  };
  return has(v4, view?.v4?.cidr) && has(v6, view?.v6?.cidr);
}

/** The addresses of a port row, in the Subnet of its `external_ids`. */
export function addressesInRow(world: World, id: RowId): Addresses | undefined {
  const portAddresses = world.rows.column(id, 'addresses');
  const externalIds = world.rows.column(id, 'external_ids');
  const subnet: unknown = externalIds instanceof Map ? externalIds.get('ls') : undefined;
  if (!(portAddresses instanceof Set) || typeof subnet !== 'string') return undefined;
  const texts = [...portAddresses].map(String);
  const portAddress = texts.find((text) => text.includes(' ')) ?? texts.find((text) => parseMac(text) !== undefined);
  const [mac = '', ...addresses] = (portAddress ?? '').split(' ');
  return addressesIn(subnet, mac, addresses);
}

/** Undefined without a MAC and an address. */
export function addressesIn(subnet: string, mac: string, texts: readonly string[]): Addresses | undefined {
  const ofFamily = (family: 4 | 6): string => texts.find((text) => parseAddress(text)?.family === family) ?? '';
  const [v4, v6] = [ofFamily(4), ofFamily(6)];
  return subnet === '' || (v4 === '' && v6 === '' && mac === '') ? undefined : { subnet, v4, v6, mac };
}
