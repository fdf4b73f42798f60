/**
 * The addresses of a bound interface. Its IP object and its port row prove them. The pod's annotations, which users of the namespace can
 * write, prove nothing; if IP object and row differ after an edit, the annotations decide which of the two Kiln wrote last.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import { podSubnets } from '../../../kinds/pod/dependencies/pod-subnets.ts';
import { subnetOfIp } from '../../../kinds/ip/dependencies/ip-holds-address.ts';
import { parseAddress } from '../../../net/address.ts';
import { cidrContains, parseCidr } from '../../../net/cidr.ts';
import { splitList } from '../../../net/dual.ts';
import type { World } from '../../../world/world.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { addressesOfIp } from '../../ip/ip-object.ts';
import { addressesIn, addressesInRow, majorityAddress } from '../../ip/majority-address.ts';
import { primaryPodOf } from '../interface/machine.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf, ipOf, isAllocated } from '../interface/pod-interface.ts';
import { interfacesOf } from '../interface/pod-interfaces.ts';
import type { PodView } from '../view/pod-view.ts';
import { podOwner, podView } from '../view/pod-view.ts';
import { providerSubnets, subnetView } from '../../subnet/validity/subnet-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';

export interface Held {
  /** The pod that owns its rows. */
  readonly primary: PodView;
  /** Its own IP object. */
  readonly ip: IP | undefined;
  /** Whether its port row is observed with the primary pod as owner. */
  readonly ownRow: boolean;
  /** Whether it may be in use: agents act on the annotation, OVN on the row. */
  readonly bound: boolean;
  /** Undefined without IP object and row. */
  readonly addresses: Addresses | undefined;
  /** The addresses in IP object and row, as far as they exist. */
  readonly recorded: readonly Addresses[];
}

export function heldBy(world: World, nic: PodInterface): Held {
  const { recorded: all, ...found } = recordsOf(world, nic);
  // A MAC alone is an address in a Subnet without a network; elsewhere somebody took the address out.
  const recorded = all.filter(({ subnet, v4, v6 }) => v4 !== '' || v6 !== '' || world.ask(subnetView, subnet)?.protocol === 'Mac');
  return { ...found, addresses: majorityAddress(world, recorded, isAllocated(nic) ? annotated(world, nic) : undefined), recorded };
}

/** Without `addresses`: which of them is right may depend on the Subnet, whose own rules use this function. */
function recordsOf(world: World, nic: PodInterface): Omit<Held, 'addresses'> {
  const { joinSubnet } = world.settings;
  const ip = ipOf(world, nic);
  const primary = primaryPodOf(world, nic);
  const inRow = nic.isOvn && isOurs(world, nic.row, podOwner(primary)) ? addressesInRow(world, nic.row) : undefined;
  const ownRow = nic.isOvn && isOurs(world, nic.row, podOwner(primary)) && inRow?.subnet !== joinSubnet;
  const recorded = [ip === undefined ? undefined : addressesOfIp(ip), inRow]
    .filter((one) => one !== undefined)
    .filter(({ subnet }) => subnet !== joinSubnet);
  return { primary, ip, ownRow, bound: ownRow || isAllocated(nic), recorded };
}

// If they differ, each of them counts until they agree.
podSubnets.define((world, key) => {
  const pod = world.ask(podView, key);
  if (pod?.alive !== true) return [];
  const subnets = interfacesOf(world, pod).interfaces.flatMap((nic) => {
    const { bound, recorded } = recordsOf(world, nic);
    return bound ? recorded.map(({ subnet }) => subnet).filter((subnet) => subnet !== world.ask(subnetOfIp, nic.port)) : [];
  });
  return [...new Set(subnets)];
});

function annotated(world: World, nic: PodInterface): Addresses | undefined {
  const texts = splitList(annotationOf(nic, 'ip_address'));
  const subnet = nic.isOvn ? annotationOf(nic, 'logical_switch') : subnetWith(world, nic.provider, texts[0] ?? '');
  return addressesIn(subnet, annotationOf(nic, 'mac_address').toLowerCase(), texts);
}

/** For an interface with addresses only, annotations do not name the Subnet: it is the one of its provider that has the address. */
function subnetWith(world: World, provider: string, text: string): string {
  const address = parseAddress(text);
  if (address === undefined) return '';
  for (const subnet of providerSubnets(world, provider)) {
    const view = world.ask(subnetView, subnet);
    const cidr = parseCidr((address.family === 4 ? view?.v4 : view?.v6)?.cidr ?? '');
    if (cidr !== undefined && cidrContains(cidr, address)) return subnet;
  }
  return '';
}
