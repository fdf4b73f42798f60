/**
 * The address request of an interface. A bound interface requests exactly what it has, so that the answer is the same after a restart, or
 * after its IP object was removed by force.
 */
import type { Reason } from '../../../api/reasons.ts';
import { podNetworkFindings } from '../../../api/pod/pod-network-validation.ts';
import { annotationKey } from '../../../api/well-known.ts';
import { splitList } from '../../../net/dual.ts';
import { parseMac } from '../../../net/mac.ts';
import type { AddressRequest } from '../../../world/reservations.ts';
import type { World } from '../../../world/world.ts';
import { requestedAddresses, requestedFamily, requestedMac } from './requested-addresses.ts';
import type { Held } from './held-addresses.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { infrastructureWithPort } from '../../../kinds/pod/rules/infrastructure-ports.ts';
import { ipPatchRejection, ipRejection } from '../../ip/ip-rejection.ts';
import { ipNameConflict } from './ip-name-conflict.ts';
import { podMessage } from './requested-values.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { chooseSubnet } from './pod-subnet.ts';
import { addressesOfVip, allowedPairProblem, sharingGroupOf, vipNamed } from './pod-vip.ts';
import { excludedPortValues } from '../tenancy/port-tenancy.ts';
import { excludedFromAddress } from '../tenancy/tenancy.ts';

export type RequestState =
  | { readonly kind: 'address-request'; readonly request: AddressRequest }
  /** `inProgress`: Kiln is about to write what is missing, for example a Subnet that is not ready yet. */
  | { readonly kind: 'waiting'; readonly reason: Reason; readonly message: string; readonly inProgress?: true }
  /** The interface waits for something that ends without an action of the user; nothing is reported. */
  | { readonly kind: 'pending' }
  /** The pod is being deleted, and the interface never had an address: it requests none. */
  | { readonly kind: 'none' };

/** The obstacle if the port would have the name of a node's or router's port. */
export function portNameConflict(world: World, { pod, port }: PodInterface): RequestState | undefined {
  const owner = infrastructureWithPort(world, port);
  if (owner === undefined) return undefined;
  const message = `Pod ${pod.key}: its port would have the name ${port}, which is that of a port of ${owner}; ports of nodes, routers and Subnets have precedence: create the pod with another name`;
  return { kind: 'waiting', reason: 'NameTaken', message };
}

export function requestStateOf(world: World, nic: PodInterface, claimant: string, held: Held): RequestState {
  const requestState = rawRequestState(world, nic, claimant, held);
  if (requestState.kind !== 'address-request' || held.bound) return requestState;
  const exclusion = excludedRequest(world, nic, requestState.request);
  if (exclusion !== undefined) return exclusion;
  const { ip, primary } = held;
  const subject = `Pod ${nic.pod.key}`;
  const rejection =
    ip === undefined ? ipRejection(world, nic.port, primary.uid, subject, false) : ipPatchRejection(world, ip, subject, false);
  return rejection?.inBackoff === true ? { kind: 'waiting', reason: 'IPRefused', message: rejection.message } : requestState;
}

function rawRequestState(world: World, nic: PodInterface, claimant: string, held: Held): RequestState {
  const choice = chooseSubnet(world, nic, held);
  if (choice.kind === 'waiting')
    return nic.pod.terminating ? { kind: 'none' } : { ...choice, message: podMessage(nic, 'subnet', choice.message) };
  const sharingGroup = sharingGroupOf(world, nic, held);
  const base = {
    claimant,
    since: nic.pod.created,
    ...(!nic.isOvn && { withoutMac: true as const }),
    ...(sharingGroup !== undefined && { sharingGroup }),
  };
  if (choice.kind === 'has-addresses') {
    const request = { ...base, subnets: [choice.addresses.subnet], ...exactly(choice.addresses) };
    return {
      kind: 'address-request',
      request: choice.pools === undefined || requestsSpecificAddresses(nic) ? request : { ...request, ...yieldingClaims(choice.pools) },
    };
  }
  if (nic.pod.terminating) return { kind: 'none' };
  const nameConflict = ipNameConflict(world, nic, held, choice.subnets);
  if (nameConflict !== undefined) return nameConflict;
  const [finding] = podNetworkFindings({ kind: 'Pod', namespace: nic.pod.namespace, name: nic.pod.name }, nic.pod.annotations);
  if (finding !== undefined) return { kind: 'waiting', reason: 'InvalidAnnotation', message: finding.message };
  const pairs = allowedPairProblem(world, nic.pod);
  if (pairs !== undefined) return { kind: 'waiting', ...pairs };
  const vip = vipNamed(world, nic);
  if (vip !== undefined) {
    const ofVip = addressesOfVip(world, nic, vip);
    return 'reason' in ofVip
      ? { kind: 'waiting', ...ofVip }
      : { kind: 'address-request', request: { ...base, subnets: [ofVip.subnet], ...exactly(ofVip) } };
  }
  const requested = requestedAddresses(nic);
  const mac = requestedMac(nic);
  if ('reason' in requested) return { kind: 'waiting', reason: requested.reason, message: podMessage(nic, 'address', requested.message) };
  if ('reason' in mac) return { kind: 'waiting', ...mac };
  const pools = choice.pools.length === 0 || 'v4' in requested || 'v6' in requested || 'anyOf' in requested ? {} : { pools: choice.pools };
  return {
    kind: 'address-request',
    request: { ...base, subnets: choice.subnets, families: requestedFamily(nic) ?? 'subnet', ...requested, ...pools, ...mac },
  };
}

/**
 * The obstacle if an IPPool for other namespaces has a requested address, or tenancy excludes a property of the port: then nothing is
 * allocated.
 */
function excludedRequest(world: World, nic: PodInterface, { subnets }: AddressRequest): RequestState | undefined {
  if (nic.pod.terminating) return undefined;
  const { namespace } = nic.pod;
  const requested = vipNamed(world, nic) === undefined ? requestedAddresses(nic) : {};
  const named =
    'reason' in requested
      ? []
      : [requested.v4, requested.v6, ...(requested.anyOf ?? []).flatMap(splitList)].filter((text) => text !== undefined);
  for (const subnet of subnets) {
    const exclusion = excludedFromAddress(world, namespace, subnet, named);
    if (exclusion !== undefined) return { kind: 'waiting', ...exclusion, message: podMessage(nic, 'address', exclusion.message) };
  }
  const [first] = subnets;
  const [excluded] = first === undefined ? [] : excludedPortValues(world, nic, first);
  return excluded === undefined ? undefined : { kind: 'waiting', reason: excluded.reason, message: excluded.message };
}

/** Whether the pod requests addresses, a MAC or a Vip: no others will do. */
function requestsSpecificAddresses(nic: PodInterface): boolean {
  const requested = { ...requestedAddresses(nic), ...requestedMac(nic) };
  return Object.keys(requested).length > 0 || (nic.pod.annotations[annotationKey.vip] ?? '') !== '';
}

function yieldingClaims(pools: readonly string[]): Pick<AddressRequest, 'yields' | 'pools'> {
  return { yields: true, ...(pools.length > 0 && { pools }) };
}

/** A request for exactly these addresses. */
function exactly({ v4, v6, mac: text }: Addresses): Pick<AddressRequest, 'families' | 'v4' | 'v6' | 'mac'> {
  const mac = parseMac(text);
  const families = v4 === '' && v6 === '' ? 'subnet' : v6 === '' ? 'v4' : v4 === '' ? 'v6' : 'dual';
  return { families, ...(v4 !== '' && { v4 }), ...(v6 !== '' && { v6 }), ...(mac !== undefined && { mac }) };
}
