/**
 * The request of a user's IP object, and what is wrong with it independently of other objects.
 */
import type { Reason } from '../../api/reasons.ts';
import type { IP } from '../../api/kinds/ip.ts';
import { ipTextFindings } from '../../api/validation/ip-validation.ts';
import { portName } from '../../api/names.ts';
import { DEFAULT_PROVIDER } from '../../api/well-known.ts';
import { parseMac } from '../../net/mac.ts';
import { parseDualAddress, splitList } from '../../net/dual.ts';
import { formatAddress } from '../../net/address.ts';
import { isLateForSubnet } from '../../kinds/ip/dependencies/ip-holds-address.ts';
import { claimantOfIp, isReserved, onlyRequests } from '../../world/claimants.ts';
import type { AddressRequest } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';
import { findingsText } from '../findings-text.ts';
import { excludedFromAddress, excludedFromSubnet } from '../pod/tenancy/tenancy.ts';
import { reasonToWait, subnetReady } from '../subnet/validity/subnet-ready.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { commandText } from '../../text/command-text.ts';

export interface RequestProblem {
  readonly reason: Reason;
  /** It ends with a write that Kiln is about to make, and needs no Event. */
  readonly inProgress?: true;
  /** Path of the field; empty if it is no field of the object. */
  readonly field: string;
  /** Without the next command. */
  readonly message: string;
  /** The next command for an existing object. */
  readonly next: string;
}

/** Why it cannot get an address, independently of other objects. */
export function requestProblem(world: World, ip: IP): RequestProblem | undefined {
  const { name } = ip.metadata;
  const { subnet = '', podName = '', namespace = '' } = ip.spec;
  const edit = commandText`kubectl edit ips.kubeovn.io ${name}`;
  const problem = (reason: Reason, field: string, sentence: string, next: string): RequestProblem => ({
    reason,
    field,
    message: `IP ${name}: ${sentence}`,
    next,
  });
  const view = world.ask(subnetView, subnet);
  if (subnet === '') return problem('WaitingForSubnet', 'spec.subnet', 'spec.subnet "" is empty; it names the Subnet of the address', edit);
  if (view === undefined) return problem('WaitingForSubnet', 'spec.subnet', `spec.subnet "${subnet}" does not exist`, 'kubectl get subnet');
  if (podName === '' || namespace === '') {
    const field = podName === '' ? 'spec.podName' : 'spec.namespace';
    const rule = 'an IP object is of a port of a pod, which it names in spec.podName and spec.namespace';
    return problem('NameInvalid', field, `${field} "" is empty; ${rule}`, edit);
  }
  const expected = portName(podName, namespace, view.provider);
  const several = view.isOvn && view.provider !== DEFAULT_PROVIDER && name.startsWith(`${expected}.`);
  if (expected !== name && !several) {
    const port = `the port of pod ${namespace}/${podName} in Subnet ${subnet}`;
    const sentence = `metadata.name "${name}" is not the name of ${port}; an IP object is named as its port is: make it with the name ${expected}`;
    return problem('NameInvalid', 'metadata.name', sentence, commandText`kubectl delete ips.kubeovn.io ${name}`);
  }
  const findings = ipTextFindings({ name, spec: ip.spec });
  const [unreadable] = findings;
  if (unreadable !== undefined) return { reason: unreadable.code, field: unreadable.field, message: findingsText(findings), next: edit };
  const holds = !onlyRequests(ip) && !world.ask(isLateForSubnet, name);
  const exclusion = holds ? undefined : excludedFromSubnet(world, namespace, subnet);
  if (exclusion !== undefined) return problem(exclusion.reason, 'spec.subnet', `spec.subnet "${subnet}": ${exclusion.message}`, edit);
  const { v4 = '', v6 = '' } = ipAddressRequest(world, ip);
  const reserved = holds ? undefined : excludedFromAddress(world, namespace, subnet, [v4, v6]);
  if (reserved !== undefined)
    return { reason: reserved.reason, field: 'spec.ipAddress', message: ipAddressMessage(ip, reserved.message), next: edit };
  if (isReserved(ip) && holds) return undefined;
  const readiness = world.ask(subnetReady, subnet);
  // An IP object with an address from before the Subnet's deletion keeps it and blocks the deletion.
  if (readiness.ready || (holds && readiness.reason === 'SubnetTerminating')) return undefined;
  return {
    reason: reasonToWait(readiness),
    ...(readiness.inProgress === true && { inProgress: true }),
    field: 'spec.subnet',
    message: ipSubnetMessage(ip, readiness.message),
    next: commandText`kubectl describe subnet ${subnet}`,
  };
}

/** The message of the object for a sentence about its Subnet. */
export function ipSubnetMessage({ metadata: { name }, spec: { subnet = '' } }: IP, sentence: string): string {
  return `IP ${name}: spec.subnet "${subnet}": ${sentence}`;
}

/** The message of the object for a sentence about its requested addresses. */
export function ipAddressMessage({ metadata: { name }, spec }: IP, sentence: string): string {
  const addresses = (spec.ipAddress ?? '') === '' ? (['v4IpAddress', 'v6IpAddress'] as const) : (['ipAddress'] as const);
  const fields = [...addresses, 'macAddress' as const].flatMap((field) => (spec[field] ? [`spec.${field} "${spec[field]}"`] : []));
  return [`IP ${name}`, ...(fields.length === 0 ? [] : [fields.join(' and ')]), sentence].join(': ');
}

/** Its addresses are for others than ports of OVN. */
function hasNoPorts(world: World, subnet: string): boolean {
  const view = world.ask(subnetView, subnet);
  return view?.isOvn === false && !view.external;
}

/** Its address request. */
export function ipAddressRequest(world: World, ip: IP): AddressRequest {
  const { subnet = '', ipAddress = '', v4IpAddress = '', v6IpAddress = '', macAddress = '' } = ip.spec;
  const requested = parseDualAddress(
    [...new Set([...splitList(ipAddress), v4IpAddress, v6IpAddress])].filter((text) => text !== '').join(','),
  );
  const mac = parseMac(macAddress);
  return {
    claimant: claimantOfIp(ip),
    subnets: [subnet],
    families: 'subnet',
    ...(requested.ok && requested.v4 !== undefined && { v4: formatAddress(requested.v4) }),
    ...(requested.ok && requested.v6 !== undefined && { v6: formatAddress(requested.v6) }),
    ...(mac !== undefined && { mac }),
    ...(hasNoPorts(world, subnet) && { withoutMac: true }),
    since: ip.metadata.creationTimestamp,
  };
}
