/**
 * An IP object that a user makes to have an address kept: it is completed with an address of its Subnet, the one it names or any, and
 * from then on it holds it, until the user deletes it. A pod of its name gets the address.
 */
import type { Reason } from '../../api/reasons.ts';
import type { IP } from '../../api/ip.ts';
import { portName } from '../../api/names.ts';
import { DEFAULT_PROVIDER, labelKey } from '../../api/well-known.ts';
import { parseMac } from '../../net/mac.ts';
import { parseDualAddress, splitList } from '../../net/dual.ts';
import { formatAddress } from '../../net/address.ts';
import { claimantOfIp, isRequest, isReserved, onlyAsks } from '../../world/claimants.ts';
import { keysOf } from '../../world/domain.ts';
import type { AddressWish } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import { holderOf } from './ip-holder.ts';
import { addressesOf, ipLabels, ipSpec } from './ip-object.ts';
import type { ConditionOutput, Output } from '../output.ts';
import { subnetReady } from '../subnet/subnet-ready.ts';
import { subnetView } from '../subnet/subnet-view.ts';

export const reservedIp: Rule = {
  name: 'reserved-ip',
  over: (world) => keysOf(world.ips, (ip) => isReserved(ip) || isRequest(ip)),
  run: (world, name) => {
    const ip = world.ips.get(name);
    if (ip === undefined || ip.metadata.deletionTimestamp !== undefined || holderOf(world, ip).kind !== 'reservation') return [];
    const problem = requestProblem(world, ip);
    if (problem !== undefined) return [saying(ip, { type: 'Accepted', status: 'False', event: 'Warning', ...problem })];
    const wish: Output = { kind: 'wish', wish: requestWish(world, ip) };
    const reservation = world.reservations.get(wish.wish.claimant);
    // Of two that hold one address each is told by the rule that watches what is held.
    if (reservation?.kind === 'refused' && reservation.code === 'AddressConflict' && !onlyAsks(ip))
      return [wish, { ...patchOf(ip), withoutConditions: ['Accepted'] }];
    if (reservation?.kind === 'refused')
      return [
        wish,
        saying(ip, { type: 'Accepted', status: 'False', reason: reservation.code, message: reservation.message, event: 'Warning' }),
      ];
    const addresses = addressesOf(reservation);
    if (addresses === undefined) return [wish];
    return [
      wish,
      {
        ...patchOf(ip),
        labels: { [labelKey.nodeName]: null, ...ipLabels(addresses.subnet, ip.spec.nodeName ?? ''), [labelKey.ipReserved]: 'true' },
        spec: ipSpec(addresses),
        withoutConditions: ['Accepted'],
      },
    ];
  },
};

interface Problem {
  readonly reason: Reason;
  readonly message: string;
}

/** Why it cannot be given an address, whoever else there is. */
export function requestProblem(world: World, ip: IP): Problem | undefined {
  const { name } = ip.metadata;
  const { subnet = '', podName = '', namespace = '', ipAddress = '' } = ip.spec;
  const view = world.ask(subnetView, subnet);
  if (view === undefined)
    return { reason: 'WaitingForSubnet', message: `IP ${name}: spec.subnet "${subnet}" does not exist; kubectl get subnet` };
  const expected = portName(podName, namespace, view.provider);
  const several = view.isOvn && view.provider !== DEFAULT_PROVIDER && name.startsWith(`${expected}.`);
  if (expected !== name && !several)
    return {
      reason: 'NameInvalid',
      message: `IP ${name}: its name is not that of a port of Pod ${namespace}/${podName} in Subnet ${subnet}; make it again with the name ${expected}`,
    };
  const parsed = ipAddress === '' ? undefined : parseDualAddress(ipAddress);
  if (parsed?.ok === false) return { reason: 'AddressInvalid', message: `IP ${name}: spec.ipAddress "${ipAddress}" ${parsed.problem}` };
  if (isReserved(ip) && !onlyAsks(ip)) return undefined;
  const readiness = world.ask(subnetReady, subnet);
  return readiness.ready ? undefined : { reason: 'WaitingForSubnet', message: readiness.message };
}

/** The address that it asks for. */
export function requestWish(world: World, ip: IP): AddressWish {
  const { subnet = '', ipAddress = '', v4IpAddress = '', v6IpAddress = '', macAddress = '' } = ip.spec;
  const asked = parseDualAddress([...new Set([...splitList(ipAddress), v4IpAddress, v6IpAddress])].filter((text) => text !== '').join(','));
  const mac = parseMac(macAddress);
  return {
    claimant: claimantOfIp(ip),
    subnets: [subnet],
    families: 'subnet',
    ...(asked.ok && asked.v4 !== undefined && { v4: formatAddress(asked.v4) }),
    ...(asked.ok && asked.v6 !== undefined && { v6: formatAddress(asked.v6) }),
    ...(mac !== undefined && { mac }),
    ...(world.ask(subnetView, subnet)?.isOvn === false && { withoutMac: true }),
    since: ip.metadata.creationTimestamp,
  };
}

function saying(ip: IP, condition: ConditionOutput): Output {
  return { ...patchOf(ip), conditions: [condition] };
}

function patchOf(ip: IP): { readonly kind: 'patch'; readonly resource: 'ips'; readonly key: string; readonly uid: string } {
  return { kind: 'patch', resource: 'ips', key: ip.metadata.name, uid: ip.metadata.uid };
}
