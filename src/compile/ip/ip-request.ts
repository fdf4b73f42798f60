/**
 * What an IP object that a user made asks for, and what is wrong with it whoever else there is.
 */
import type { Reason } from '../../api/reasons.ts';
import type { IP } from '../../api/ip.ts';
import { portName } from '../../api/names.ts';
import { DEFAULT_PROVIDER } from '../../api/well-known.ts';
import { parseMac } from '../../net/mac.ts';
import { parseDualAddress, splitList } from '../../net/dual.ts';
import { formatAddress } from '../../net/address.ts';
import { claimantOfIp, isReserved, onlyAsks } from '../../world/claimants.ts';
import type { AddressWish } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import { subnetReady } from '../subnet/subnet-ready.ts';
import { subnetView } from '../subnet/subnet-view.ts';

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
  if (podName === '' || namespace === '') {
    const field = podName === '' ? 'spec.podName' : 'spec.namespace';
    return {
      reason: 'NameInvalid',
      message: `IP ${name}: ${field} "" is empty; an IP object is of a port of a pod, which it names in spec.podName and spec.namespace; kubectl edit ips.kubeovn.io ${name}`,
    };
  }
  const expected = portName(podName, namespace, view.provider);
  const several = view.isOvn && view.provider !== DEFAULT_PROVIDER && name.startsWith(`${expected}.`);
  if (expected !== name && !several)
    return {
      reason: 'NameInvalid',
      message: `IP ${name}: its name is not that of a port of Pod ${namespace}/${podName} in Subnet ${subnet}; make it again with the name ${expected}; kubectl delete ip ${name}`,
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
