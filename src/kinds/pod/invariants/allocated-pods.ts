/**
 * I7: annotations, IP object and port of an allocated pod agree, and its Subnet has the address. If its Subnet was removed by force, the
 * network still exists; if the Subnet was made again with another CIDR, the pod keeps its address and has a report.
 */
import type { CoreCondition } from '../../../api/kubernetes/core.ts';
import { POD_CONDITION } from '../../../api/well-known.ts';
import { launchedInstance } from '../../../api/kubernetes/virtual-machine.ts';
import { parseCidr, cidrContains } from '../../../net/cidr.ts';
import { parseAddress } from '../../../net/address.ts';
import { splitList } from '../../../net/dual.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { World } from '../../../world/world.ts';
import type { AllocatedInterface } from '../../../invariants/address-holders.ts';
import { allocatedInterfaces } from '../../../invariants/address-holders.ts';
import type { Violation } from '../../../invariants/violation.ts';

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
  const bound = boundOf(world, pod);
  return bound?.status === 'False' ? ` (its condition is ${bound.reason ?? ''}: ${bound.message ?? ''})` : '';
}

function boundOf(world: World, pod: string): CoreCondition | undefined {
  return world.pods.peek(pod)?.status?.conditions?.find(({ type }) => type === POD_CONDITION);
}

function faultsOf(world: World, nic: AllocatedInterface): readonly string[] {
  // The loser of an address conflict reports it, and has neither a port nor an IP object of the address.
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
  // An interface with addresses only: its Subnet is in the IP object, and it has no port.
  if (nic.subnet === '') return faults;
  const subnet = world.subnets.peek(nic.subnet);
  // The network of a Subnet that was removed by force stays for its pods.
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
  // The Subnet was removed by force and made again with an invalid spec: its network is gone, and the pod has a report.
  if (subnet !== undefined && !accepted && boundOf(world, nic.pod)?.reason === 'NoSubnet') return faults;
  // A foreign row has the name of the port, and the pod has a report.
  if (boundOf(world, nic.pod)?.reason === 'RowConflict') return faults;
  const ownership = world.rows.best(rowId('Logical_Switch', nic.subnet))?.ownership.kind;
  // The Subnet was removed by force, and its switch lost its ownership keys: the owner of the network is unknown.
  if (subnet === undefined && ownership === 'legacy' && boundOf(world, nic.pod)?.reason === 'NoSubnet') return faults;
  // A foreign switch: Kiln adds no port to it.
  if (ownership === 'foreign' && boundOf(world, nic.pod)?.reason === 'WaitingForSubnet') return faults;
  const port = world.rows.best(rowId('Logical_Switch_Port', nic.port));
  const portAddress = [nic.mac, ...nic.addresses].join(' ');
  if (port?.ownership.kind !== 'ours') faults.push(`port ${nic.port} is not there as Kiln's`);
  else if (!runs(world, nic.pod, port.ownership.uid)) faults.push(`port ${nic.port} is another pod's`);
  else if (!(port.row.addresses instanceof Set) || !port.row.addresses.has(portAddress))
    faults.push(`port ${nic.port} does not have the address "${portAddress}"`);
  else if (port.parent === undefined || !holdsPort(world, nic, port.parent.uuid))
    faults.push(`port ${nic.port} is not in switch ${nic.subnet}`);
  return faults;
}

/**
 * The Subnet was removed by force and made again with another CIDR: its pods keep their addresses and have a report. If the Subnet lacks a
 * family that the pod requests, that is reported first. The message names one of two addresses.
 */
function isReportedOutside(world: World, { pod, addresses }: AllocatedInterface): boolean {
  const bound = boundOf(world, pod);
  if (bound?.status !== 'False') return false;
  return (
    bound.reason === 'InvalidIPFamily' ||
    (bound.reason === 'AddressOutOfRange' && addresses.some((address) => bound.message?.includes(address)))
  );
}

function holdsPort(world: World, { subnet }: AllocatedInterface, parent: string): boolean {
  return world.rows.rowsOf(rowId('Logical_Switch', subnet)).some(({ uuid }) => uuid === parent);
}

/** Whether a uid is the pod's, or of another pod of the same virtual machine. */
function runs(world: World, key: string, uid: string): boolean {
  const pod = world.pods.peek(key);
  const instance = pod === undefined ? undefined : launchedInstance(pod.metadata);
  const others = instance === undefined ? [] : world.pods.peekBucket('instance', `${pod?.metadata.namespace ?? ''}/${instance.name}`);
  return [key, ...others].some((one) => world.pods.peek(one)?.metadata.uid === uid);
}
