/**
 * Annotation `cidr`: the networks whose masks the node agent gave to an interface. A Subnet that becomes wider takes effect at once, since
 * the router carries what a smaller mask leaves out; the interface keeps that mask, and so does the annotation. Otherwise all pods of the
 * Subnet would seem to have the larger one, which a narrower network waits for.
 */
import type { Cidr } from '../../../net/cidr.ts';
import { cidrContains, cidrCovers, formatCidr, parseCidr } from '../../../net/cidr.ts';
import { parseAddress } from '../../../net/address.ts';
import { joinDual, mapDual, splitList } from '../../../net/dual.ts';
import type { SubnetView } from '../../subnet/validity/subnet-view.ts';

/** @param given the observed annotation of an interface with these addresses */
export function masksInEffect(subnet: SubnetView, { v4, v6 }: { readonly v4: string; readonly v6: string }, given = ''): string {
  if (given === '' || given === subnet.cidr) return subnet.cidr;
  const masks = splitList(given).flatMap((text) => parseCidr(text) ?? []);
  const { v4: network4, v6: network6 } = subnet;
  const networks = { ...(network4 !== undefined && { v4: network4 }), ...(network6 !== undefined && { v6: network6 }) };
  return joinDual(
    mapDual(networks, ({ cidr, gateway }, family) => {
      const network = parseCidr(cidr);
      const mask = masks.find((one) => one.family === family);
      const isSmaller = network !== undefined && mask !== undefined && mask.prefix > network.prefix && cidrCovers(network, mask);
      return isSmaller && holds(mask, gateway) && holds(mask, family === 4 ? v4 : v6) ? formatCidr(mask) : cidr;
    }),
  );
}

function holds(mask: Cidr, text: string): boolean {
  const address = parseAddress(text);
  return address !== undefined && cidrContains(mask, address);
}
