/**
 * One interface of a pod on its way: what it asks for, what it was given, what it has, and what its port is to be. Derived once a run;
 * the features read it.
 */
import type { IP } from '../../api/kinds/ip.ts';
import { claimantOfPort } from '../../world/claimants.ts';
import type { Reservation } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import type { Held } from './held-addresses.ts';
import { heldBy } from './held-addresses.ts';
import type { Addresses } from '../ip/ip-object.ts';
import { addressesOf, addressesOfIp, sameAddresses } from '../ip/ip-object.ts';
import type { RequestState } from './pod-address.ts';
import { requestStateOf, portNameConflict } from './pod-address.ts';
import { primaryPodOf } from './machine.ts';
import type { PodInterface } from './pod-interface.ts';
import { keepsIp } from './pod-subnet.ts';
import { isKept } from './pod-view.ts';
import { owningSubnet } from '../subnet/judging/subnet-state.ts';
import type { SubnetView } from '../subnet/judging/subnet-view.ts';

interface Bound {
  readonly addresses: Addresses;
  readonly subnet: SubnetView | undefined;
}

export interface Binding {
  readonly nic: PodInterface;
  /** Its pod has the rows and the IP object: false for the second pod of a virtual machine that moves. */
  readonly isPrimary: boolean;
  readonly claimant: string;
  readonly requestState: RequestState;
  /** Undefined while nobody has answered. */
  readonly reservation: Reservation | undefined;
  /** Its own IP object, unless it needs another one. */
  readonly ip: IP | undefined;
  /** What is durable, and so may be carried out. */
  readonly bound: Bound | undefined;
  /** Undefined while it is to have no port. */
  readonly port: Bound | undefined;
  /** Whether the port row is observed as that of the pod which leads. */
  readonly ownRow: boolean;
}

export function bindingOf(world: World, nic: PodInterface): Binding {
  const taken = portNameConflict(world, nic);
  if (taken !== undefined) return withoutPort(world, nic, taken);
  const held = heldBy(world, nic);
  const claimant = claimantOfPort(nic.port, held.ip, nic.pod.uid, isKept(nic.pod));
  const requestState = requestStateOf(world, nic, claimant, held);
  const reservation = world.reservations.get(claimant);
  const ip = keepsIp(world, nic, held) ? held.ip : undefined;
  const bound = boundOf(world, reservation, ip, held);
  const port = nic.isOvn && bound?.subnet?.isOvn !== false ? bound : undefined;
  return { nic, isPrimary: held.lead.key === nic.pod.key, claimant, requestState, reservation, ip, bound, port, ownRow: held.ownRow };
}

/** Its name is a node's or a router's, who go first: what it has goes, whenever it came. */
function withoutPort(world: World, nic: PodInterface, requestState: RequestState): Binding {
  const isPrimary = primaryPodOf(world, nic).key === nic.pod.key;
  const has = { reservation: undefined, ip: undefined, bound: undefined, port: undefined, ownRow: false };
  return { nic, isPrimary, claimant: claimantOfPort(nic.port, undefined, nic.pod.uid, isKept(nic.pod)), requestState, ...has };
}

/**
 * The port follows what is durable: reserved, and said by the IP object. While the IP object is made again (somebody took it away by
 * force) a row that is there stays; and so does one whose reservation is refused (somebody else names the same address, its Subnet was
 * torn out, or made again with another network): then what most of the three say holds, so that an IP object edited by hand moves nobody.
 * Without its IP object, who is in conflict with another has no claim left.
 */
function boundOf(world: World, reservation: Reservation | undefined, ip: IP | undefined, held: Held): Bound | undefined {
  const { ownRow, bound } = held;
  const reserved = addressesOf(reservation);
  const said = ip === undefined ? undefined : addressesOfIp(ip);
  const refused = reservation?.kind === 'failed' ? reservation.code : undefined;
  const stays = ip === undefined ? ownRow && refused !== 'AddressConflict' : bound;
  const left = refused !== undefined && stays ? held.addresses : undefined;
  const durable = left ?? (sameAddresses(said, reserved) ? said : undefined);
  const addresses = durable ?? (ownRow ? reserved : undefined);
  return addresses === undefined ? undefined : { addresses, subnet: owningSubnet(world, addresses.subnet) };
}
