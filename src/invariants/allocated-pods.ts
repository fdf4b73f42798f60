/**
 * I7: of a pod that is marked as allocated, annotations, IP object and port agree, and its Subnet has the address; of a Subnet that was torn
 * out under it, the network runs on; in one
 * that was made again with another CIDR the pod keeps its address, and is told.
 */
import type { CoreCondition } from '../api/kubernetes/core.ts';
import { POD_CONDITION } from '../api/well-known.ts';
import { launchedInstance } from '../api/kubernetes/virtual-machine.ts';
import { parseCidr, cidrContains } from '../net/cidr.ts';
import { parseAddress } from '../net/address.ts';
import { splitList } from '../net/dual.ts';
import { rowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import type { AllocatedInterface } from './address-holders.ts';
import { allocatedInterfaces } from './address-holders.ts';
import type { Violation } from './violation.ts';

export function allocatedPods(world: World): readonly Violation[] {
  return allocatedInterfaces(world).flatMap((nic) =>
    faultsOf(world, nic).map((message) => ({
      invariant: 'I7' as const,
      subject: `Pod ${nic.pod}`,
      message: `Pod ${nic.pod}: ${message}${reportedText(world, nic.pod)}`,
    })),
  );
}

function reportedText(world: World, pod: string): string {
  const told = boundOf(world, pod);
  return told?.status === 'False' ? ` (it is told ${told.reason ?? ''}: ${told.message ?? ''})` : '';
}

function boundOf(world: World, pod: string): CoreCondition | undefined {
  return world.pods.peek(pod)?.status?.conditions?.find(({ type }) => type === POD_CONDITION);
}

function faultsOf(world: World, nic: AllocatedInterface): readonly string[] {
  // Who comes second to an address says so, and has neither a port nor an IP object of it.
  if (boundOf(world, nic.pod)?.reason === 'AddressConflict') return [];
  const faults: string[] = [];
  const text = nic.addresses.join(',');
  const ip = world.ips.peek(nic.port);
  if (ip === undefined) faults.push(`it is allocated, and there is no IP ${nic.port}`);
  else if ((ip.spec.ipAddress ?? '') !== text || ip.spec.macAddress !== nic.mac || (nic.subnet !== '' && ip.spec.subnet !== nic.subnet)) {
    faults.push(
      `it says ${text} ${nic.mac} of ${nic.subnet}, and IP ${nic.port} says ${ip.spec.ipAddress ?? ''} ${ip.spec.macAddress ?? ''} of ${ip.spec.subnet ?? ''}`,
    );
  }
  // An interface for addresses only: its Subnet is known by the IP object, and there is no port.
  if (nic.subnet === '') return faults;
  const subnet = world.subnets.peek(nic.subnet);
  // A Subnet that was torn out leaves its network to those who are in it.
  if (subnet === undefined && world.rows.rowsOf(rowId('Logical_Switch', nic.subnet)).length === 0)
    return [...faults, `its Subnet ${nic.subnet} does not exist, and its network does not run`];
  const networks = splitList(subnet?.spec.cidrBlock ?? '').flatMap((cidr) => parseCidr(cidr) ?? []);
  const accepted = (subnet?.status?.conditions ?? []).some(({ type, status }) => type === 'Accepted' && status === 'True');
  for (const one of nic.addresses) {
    const address = parseAddress(one);
    if (
      accepted &&
      !isReportedOutside(world, nic) &&
      (address === undefined || !networks.some((network) => network.family === address.family && cidrContains(network, address)))
    )
      faults.push(`its address ${one} is not in Subnet ${nic.subnet} (${subnet?.spec.cidrBlock ?? ''})`);
  }
  // Taken away by force and made again, and refused: what was there is gone, and who was in it is told.
  if (subnet !== undefined && !accepted && boundOf(world, nic.pod)?.reason === 'NoSubnet') return faults;
  // Another program's row has the name of the port, and the pod says so.
  if (boundOf(world, nic.pod)?.reason === 'RowConflict') return faults;
  const whose = world.rows.best(rowId('Logical_Switch', nic.subnet))?.ownership.kind;
  // Torn out, and somebody took the owner from its switch as well: nothing says any more whose network that is.
  if (subnet === undefined && whose === 'legacy' && boundOf(world, nic.pod)?.reason === 'NoSubnet') return faults;
  // Another program's switch: no port can be put there.
  if (whose === 'foreign' && boundOf(world, nic.pod)?.reason === 'WaitingForSubnet') return faults;
  const port = world.rows.best(rowId('Logical_Switch_Port', nic.port));
  const station = [nic.mac, ...nic.addresses].join(' ');
  if (port?.ownership.kind !== 'ours') faults.push(`port ${nic.port} is not there as Kiln's`);
  else if (!runs(world, nic.pod, port.ownership.uid)) faults.push(`port ${nic.port} is another pod's`);
  else if (!(port.row.addresses instanceof Set) || !port.row.addresses.has(station))
    faults.push(`port ${nic.port} does not have the address "${station}"`);
  else if (port.parent === undefined || !holdsPort(world, nic, port.parent.uuid))
    faults.push(`port ${nic.port} is not in switch ${nic.subnet}`);
  return faults;
}

/**
 * A Subnet that was taken away by force and made again with another CIDR: who is in it keeps the address, and is told. Where it has not even
 * the families that the pod asks for, that is what the pod is told first. Of two addresses the sentence names one.
 */
function isReportedOutside(world: World, { pod, addresses }: AllocatedInterface): boolean {
  const told = boundOf(world, pod);
  if (told?.status !== 'False') return false;
  return (
    told.reason === 'InvalidIPFamily' ||
    (told.reason === 'AddressOutOfRange' && addresses.some((address) => told.message?.includes(address)))
  );
}

function holdsPort(world: World, { subnet }: AllocatedInterface, parent: string): boolean {
  return world.rows.rowsOf(rowId('Logical_Switch', subnet)).some(({ uuid }) => uuid === parent);
}

/** Whether an uid is a pod's, or that of another one which runs the same virtual machine. */
function runs(world: World, key: string, uid: string): boolean {
  const pod = world.pods.peek(key);
  const instance = pod === undefined ? undefined : launchedInstance(pod.metadata);
  const others = instance === undefined ? [] : world.pods.peekBucket('instance', `${pod?.metadata.namespace ?? ''}/${instance.name}`);
  return [key, ...others].some((one) => world.pods.peek(one)?.metadata.uid === uid);
}
