/**
 * What an interface that is bound has. Its IP object and its port row prove it. Its pod's annotations, which a user of the namespace writes,
 * prove nothing: where the two differ, because somebody edited one of them, they say which of them Kiln told the pod.
 */
import type { IP } from '../../api/kinds/ip.ts';
import { podSubnets } from '../../blockers/rule-queries.ts';
import { subnetOfIp } from '../../blockers/subnet-dependents.ts';
import { parseAddress } from '../../net/address.ts';
import { cidrContains, parseCidr } from '../../net/cidr.ts';
import { splitList } from '../../net/dual.ts';
import type { World } from '../../world/world.ts';
import type { Addresses } from '../ip/ip-object.ts';
import { addressesOfIp } from '../ip/ip-object.ts';
import { addressesIn, addressesInRow, majorityAddress } from '../ip/majority-address.ts';
import { primaryPodOf } from './machine.ts';
import type { PodInterface } from './pod-interface.ts';
import { annotationOf, ipOf, isAllocated } from './pod-interface.ts';
import { interfacesOf } from './pod-interfaces.ts';
import type { PodView } from './pod-view.ts';
import { podOwner, podView } from './pod-view.ts';
import { providerSubnets, subnetView } from '../subnet/judging/subnet-view.ts';
import { isOurs } from '../vpc/vpc-view.ts';

export interface Held {
  /** The pod that has its rows. */
  readonly lead: PodView;
  /** Its own IP object. */
  readonly ip: IP | undefined;
  /** Whether its port row is observed as the lead's. */
  readonly ownRow: boolean;
  /** It may be in use: agents act on the annotation, OVN on the row. */
  readonly bound: boolean;
  /** Undefined where neither says anything. */
  readonly addresses: Addresses | undefined;
  /** What each of the two says that says anything. */
  readonly said: readonly Addresses[];
}

export function heldBy(world: World, nic: PodInterface): Held {
  const { said, ...found } = saidOf(world, nic);
  return { ...found, addresses: majorityAddress(world, said, isAllocated(nic) ? annotated(world, nic) : undefined), said };
}

/** Which of the addresses is right may hang on whether their Subnet is carried out: who is asked because of that does not ask for it. */
function saidOf(world: World, nic: PodInterface): Omit<Held, 'addresses'> {
  const { joinSubnet } = world.settings;
  const ip = ipOf(world, nic);
  const lead = primaryPodOf(world, nic);
  const inRow = nic.isOvn && isOurs(world, nic.row, podOwner(lead)) ? addressesInRow(world, nic.row) : undefined;
  const ownRow = nic.isOvn && isOurs(world, nic.row, podOwner(lead)) && inRow?.subnet !== joinSubnet;
  const said = [ip === undefined ? undefined : addressesOfIp(ip), inRow]
    .filter((one) => one !== undefined)
    .filter(({ subnet }) => subnet !== joinSubnet);
  return { lead, ip, ownRow, bound: ownRow || isAllocated(nic), said };
}

// Where they do not agree, each counts: which of them is right is not known before they do.
podSubnets.define((world, key) => {
  const pod = world.ask(podView, key);
  if (pod?.alive !== true) return [];
  const subnets = interfacesOf(world, pod).interfaces.flatMap((nic) => {
    const { bound, said } = saidOf(world, nic);
    return bound ? said.map(({ subnet }) => subnet).filter((subnet) => subnet !== world.ask(subnetOfIp, nic.port)) : [];
  });
  return [...new Set(subnets)];
});

function annotated(world: World, nic: PodInterface): Addresses | undefined {
  const texts = splitList(annotationOf(nic, 'ip_address'));
  const subnet = nic.isOvn ? annotationOf(nic, 'logical_switch') : subnetWith(world, nic.provider, texts[0] ?? '');
  return addressesIn(subnet, annotationOf(nic, 'mac_address').toLowerCase(), texts);
}

/** Annotations of an interface for addresses only do not name its Subnet: it is the one of its provider that has the address. */
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
