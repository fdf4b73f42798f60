/**
 * The state of one interface of a pod: its request, the answer, what it has, and its desired port. Computed once a run; all features read
 * it.
 */
import type { IP } from '../../../api/kinds/ip.ts';
import { claimantOfPort } from '../../../world/claimants.ts';
import type { Reservation } from '../../../world/reservations.ts';
import type { World } from '../../../world/world.ts';
import type { Held } from './held-addresses.ts';
import { heldBy } from './held-addresses.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { addressesOf, addressesOfIp, sameAddresses } from '../../ip/ip-object.ts';
import type { RequestState } from './pod-address.ts';
import { requestStateOf, portNameConflict } from './pod-address.ts';
import { primaryPodOf } from '../interface/machine.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { keepsIp } from './pod-subnet.ts';
import { retainsAddress } from '../view/pod-view.ts';
import { owningSubnet } from '../../subnet/validity/subnet-state.ts';
import type { SubnetView } from '../../subnet/validity/subnet-view.ts';

interface DurableAddresses {
  readonly addresses: Addresses;
  readonly subnet: SubnetView | undefined;
}

export interface Binding {
  readonly nic: PodInterface;
  /** Whether its pod owns rows and IP object; false for the second pod of a migrating virtual machine. */
  readonly isPrimary: boolean;
  readonly claimant: string;
  readonly requestState: RequestState;
  /** Undefined until the allocation step answers. */
  readonly reservation: Reservation | undefined;
  /** Its IP object, unless it needs another one. */
  readonly ip: IP | undefined;
  /** The durable addresses, from which rows and annotations follow. */
  readonly durable: DurableAddresses | undefined;
  /** Undefined if it must have no port. */
  readonly port: DurableAddresses | undefined;
  /** Whether the port row is observed with the primary pod as owner. */
  readonly ownRow: boolean;
}

export function bindingOf(world: World, nic: PodInterface): Binding {
  const taken = portNameConflict(world, nic);
  if (taken !== undefined) return withoutPort(world, nic, taken);
  const held = heldBy(world, nic);
  const claimant = claimantOfPort(nic.port, held.ip, nic.pod.uid, retainsAddress(nic.pod));
  const requestState = requestStateOf(world, nic, claimant, held);
  const reservation = world.reservations.get(claimant);
  const ip = keepsIp(world, nic, held) ? held.ip : undefined;
  const durable = durableOf(world, reservation, ip, held);
  const port = nic.isOvn && (durable?.subnet?.isOvn !== false || durable.subnet.external) ? durable : undefined;
  return { nic, isPrimary: held.primary.key === nic.pod.key, claimant, requestState, reservation, ip, durable, port, ownRow: held.ownRow };
}

/**
 * The port of a node or a router has the name that this interface's port would have, and has precedence: the interface loses what it has.
 */
function withoutPort(world: World, nic: PodInterface, requestState: RequestState): Binding {
  const isPrimary = primaryPodOf(world, nic).key === nic.pod.key;
  const has = { reservation: undefined, ip: undefined, durable: undefined, port: undefined, ownRow: false };
  return { nic, isPrimary, claimant: claimantOfPort(nic.port, undefined, nic.pod.uid, retainsAddress(nic.pod)), requestState, ...has };
}

/**
 * The port follows durable addresses: reserved, and recorded by the IP object. An existing row stays while its IP object is created again
 * after it was removed by force. A row also stays if its request failed (another claimant has the address, its Subnet was removed by force
 * or recreated with another network): then the majority of IP object, row and annotations holds, so that an edited IP object changes
 * nothing. In a conflict, a claimant without an IP object has no claim.
 */
function durableOf(world: World, reservation: Reservation | undefined, ip: IP | undefined, held: Held): DurableAddresses | undefined {
  const { ownRow, bound } = held;
  const reserved = addressesOf(reservation);
  const recorded = ip === undefined ? undefined : addressesOfIp(ip);
  const failureCode = reservation?.kind === 'failed' ? reservation.code : undefined;
  const stays = ip === undefined ? ownRow && failureCode !== 'AddressConflict' : bound;
  const left = failureCode !== undefined && stays ? held.addresses : undefined;
  const durable = left ?? (sameAddresses(recorded, reserved) ? recorded : undefined);
  const addresses = durable ?? (ownRow ? reserved : undefined);
  return addresses === undefined ? undefined : { addresses, subnet: owningSubnet(world, addresses.subnet) };
}
