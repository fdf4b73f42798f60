/**
 * The Subnets from which an interface may have its address, or what it waits for. In order: what it is bound to already, the Subnet that
 * the pod requests, the Subnet of the requested IPPool, the Subnets of its namespace in declared order (for an attached network: those of
 * its provider). There is no silent fallback: the pod waits for a declared Subnet that is not ready.
 */
import type { Reason } from '../../../api/reasons.ts';
import type { IP } from '../../../api/kinds/ip.ts';
import { subnetProvider } from '../../../api/names.ts';
import type { NetworkSelection } from '../../../api/pod/network-selection.ts';
import { kilnAnnotation } from '../../../api/well-known.ts';
import { isReserved, isRetained, onlyRequests } from '../../../world/claimants.ts';
import type { World } from '../../../world/world.ts';
import { lacksRequestedFamily, requestsOthers, ofRequestedFamily, poolName } from './requested-addresses.ts';
import type { Held } from './held-addresses.ts';
import type { Addresses } from '../../ip/ip-object.ts';
import { addressesOfIp } from '../../ip/ip-object.ts';
import { ipPoolSubnet, ipPoolTerminates } from '../../ip/ip-pool-subnet.ts';
import { isInUse } from '../interface/machine.ts';
import { misboundPolicy, movesToPool } from './misbound.ts';
import { namespaceBinding, namespaceFacts } from '../../namespace/namespace-binding.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf, leavesSubnetOpen } from '../interface/pod-interface.ts';
import { retainsAddress } from '../view/pod-view.ts';
import { addressesOfVip, vipNamed } from './pod-vip.ts';
import { reasonToWait, subnetReady } from '../../subnet/validity/subnet-ready.ts';
import type { SubnetNetworks } from '../../subnet/validity/subnet-networks.ts';
import { providerSubnets, subnetNetworks, subnetView } from '../../subnet/validity/subnet-view.ts';
import type { Exclusion } from '../tenancy/tenancy.ts';
import { excludedFromAddress, excludedFromNetwork, excludedFromPool, excludedFromSubnet } from '../tenancy/tenancy.ts';
import { commandText } from '../../../text/command-text.ts';

export type SubnetChoice =
  /**
   * The interface has its addresses already, whether their Subnet is ready or not. With `pools`: it has no port yet, and in a conflict it
   * may get other addresses, of these pools.
   */
  | { readonly kind: 'has-addresses'; readonly addresses: Addresses; readonly pools?: readonly string[] }
  /** `pools`: IPPools to allocate from, in order; empty if there are none. */
  | { readonly kind: 'open'; readonly subnets: readonly string[]; readonly pools: readonly string[] }
  /** `inProgress`: Kiln is about to write what is missing, for example a Subnet that is not ready yet. */
  | { readonly kind: 'waiting'; readonly reason: Reason; readonly message: string; readonly inProgress?: true };

export function chooseSubnet(world: World, nic: PodInterface, { bound, addresses, ip }: Held): SubnetChoice {
  if (bound && addresses !== undefined) return { kind: 'has-addresses', addresses };
  const requested = requestedSubnets(world, nic);
  if (requested.kind === 'waiting') return requested;
  if (addresses !== undefined && ip !== undefined && isUsableIp(world, nic, ip, requested.subnets)) {
    const ours = ip.metadata.annotations?.[kilnAnnotation.podUid] !== undefined && !isReserved(ip);
    return { kind: 'has-addresses', addresses: usableAddresses(nic, ip, addresses), ...(ours && { pools: requested.pools }) };
  }
  return readySubnets(world, nic, requested);
}

/** Whether the interface keeps its IP object, or needs another one since another Subnet was declared. */
export function keepsIp(world: World, nic: PodInterface, { bound, ip }: Held): boolean {
  if (ip === undefined || bound) return ip !== undefined;
  // It was edited to an address that no Subnet has: it is corrected to the pod's address.
  const isOwn = ip.metadata.annotations?.[kilnAnnotation.podUid] === nic.pod.uid;
  if (isOwn && nic.pod.unproven.includes(nic.provider)) return true;
  const requested = requestedSubnets(world, nic);
  // A user's request for an address is answered first, and is not the pod's before.
  return requested.kind === 'waiting' ? !onlyRequests(ip) : isUsableIp(world, nic, ip, requested.subnets);
}

/** A pod that requests one family gets that half of a retained address. Its own addresses and a user's reservation stay complete. */
function usableAddresses(nic: PodInterface, ip: IP, addresses: Addresses): Addresses {
  const whole = isReserved(ip) || nic.pod.migration !== undefined || ip.metadata.annotations?.[kilnAnnotation.podUid] === nic.pod.uid;
  return whole ? addresses : ofRequestedFamily(nic, addresses);
}

function isUsableIp(world: World, nic: PodInterface, ip: IP, subnets: readonly string[]): boolean {
  const subnet = ip.spec.subnet ?? '';
  // A user's request has no address before it is answered.
  const view = world.ask(subnetView, subnet);
  if (view?.isJoin === true) return false;
  if (
    ((ip.spec.ipAddress ?? '') === '' && view?.protocol !== 'Mac') ||
    onlyRequests(ip) ||
    !(subnets.includes(subnet) || staysMisbound(world, nic, ip))
  )
    return false;
  if (ip.metadata.annotations?.[kilnAnnotation.podUid] === nic.pod.uid) return true;
  if (!isReserved(ip) && nic.pod.migration === undefined && lacksRequestedFamily(nic, ip)) return false;
  if (isRetained(ip.spec.podType) && !isReserved(ip) && nic.pod.migration === undefined && requestsOthers(world, nic, ip)) return false;
  if (excludedFromIp(world, nic, ip) !== undefined) return false;
  if (isRetained(ip.spec.podType) && leavesSubnetOpen(nic) && movesToPool(world, nic.pod.namespace, ip)) return false;
  // The next pod does not block a new CIDR or gateway that waits for addresses in use. (The pods of a migrating machine share one address.)
  if (ip.spec.podType === 'StatefulSet' && !isReserved(ip) && isOutsideNetwork(world.ask(subnetNetworks, subnet), `IP ${ip.metadata.name}`))
    return false;
  // The next pod of a running machine is no new member: the port of the present pod stays.
  return world.ask(subnetView, subnet)?.terminating === false || isInUse(world, nic, subnet);
}

/** Why the pod may not have the Subnet or the addresses of its IP object. A machine that runs in the network is no new member. */
export function excludedFromIp(world: World, nic: PodInterface, ip: IP): Exclusion | undefined {
  const { namespace } = nic.pod;
  const { subnet = '' } = ip.spec;
  const has = addressesOfIp(ip);
  const excluded =
    excludedFromSubnet(world, namespace, subnet) ?? excludedFromAddress(world, namespace, subnet, [has?.v4 ?? '', has?.v6 ?? '']);
  return excluded === undefined || isInUse(world, nic, subnet) ? undefined : excluded;
}

function isOutsideNetwork({ outside, onGateway }: SubnetNetworks, ip: string): boolean {
  return outside.includes(ip) || onGateway.includes(ip);
}

/** The next pod of a StatefulSet or a virtual machine keeps an address of a wrong Subnet, unless the policy moves it. */
function staysMisbound(world: World, nic: PodInterface, ip: IP): boolean {
  const kept = retainsAddress(nic.pod) && isRetained(ip.spec.podType);
  return kept && leavesSubnetOpen(nic) && misboundPolicy(world, nic.pod.namespace) === 'report';
}

/** The Subnet that the pod requests for an interface, directly or by an IPPool; empty if it requests none. */
export function namedSubnet(world: World, nic: PodInterface): string {
  const named = nic.isOvn ? annotationOf(nic, 'logical_switch') : '';
  const pool = named === '' ? poolName(annotationOf(nic, 'ip_pool')) : '';
  return pool === '' ? named : world.ask(ipPoolSubnet, pool);
}

type RequestedSubnets = Extract<SubnetChoice, { readonly kind: 'open' | 'waiting' }>;

function requestedSubnets(world: World, nic: PodInterface): RequestedSubnets {
  const requested = declaredSubnets(world, nic);
  if (requested.kind === 'waiting') return requested;
  const excludedPools = requested.pools.flatMap((pool) => excludedFromPool(world, nic.pod.namespace, pool) ?? []);
  const isOpen = world.settings.tenancy === 'open';
  // Of Subnets of external Vpcs the namespaces are limited with either tenancy.
  const [why] = isOpen
    ? [...excludedPools, ...requested.subnets.flatMap((subnet) => excludedFromSubnet(world, nic.pod.namespace, subnet) ?? [])]
    : [];
  if (why !== undefined) return { kind: 'waiting', ...why };
  return isOpen ? requested : admittedSubnets(world, nic, requested, excludedPools);
}

/** The declared Subnets that admit the pod's namespace. */
function admittedSubnets(
  world: World,
  nic: PodInterface,
  requested: Extract<RequestedSubnets, { readonly kind: 'open' }>,
  excludedPools: readonly Exclusion[],
): RequestedSubnets {
  const { namespace } = nic.pod;
  if (world.ask(namespaceFacts, namespace) === undefined) return waiting('WaitingForSubnet', `Namespace ${namespace} does not exist`);
  const outside = excludedFromNetwork(world, nic);
  const exclusions = requested.subnets.map((subnet) => excludedFromSubnet(world, namespace, subnet));
  const why = outside ?? excludedPools[0] ?? (exclusions.includes(undefined) ? undefined : exclusions[0]);
  if (why !== undefined) return { kind: 'waiting', ...why };
  const subnets = requested.subnets.filter((_, i) => exclusions[i] === undefined);
  return { ...requested, subnets, pools: requested.pools.filter((pool) => subnets.includes(world.ask(ipPoolSubnet, pool))) };
}

function declaredSubnets(world: World, nic: PodInterface): RequestedSubnets {
  const vip = vipNamed(world, nic);
  if (vip !== undefined) {
    const ofVip = addressesOfVip(world, nic, vip);
    return 'reason' in ofVip ? waiting(ofVip.reason, ofVip.message) : { kind: 'open', subnets: [ofVip.subnet], pools: [] };
  }
  const named = nic.isOvn ? annotationOf(nic, 'logical_switch') : '';
  if (named !== '') {
    if (named.includes(',')) return waiting('InvalidAnnotation', 'it names several Subnets; an interface has one');
    const inNamed = poolName(annotationOf(nic, 'ip_pool'));
    return { kind: 'open', subnets: [named], pools: inNamed === '' ? boundPools(world, nic, named) : [inNamed] };
  }
  const pool = poolName(annotationOf(nic, 'ip_pool'));
  if (pool !== '') {
    const subnet = world.ask(ipPoolSubnet, pool);
    if (subnet === '') return waiting('WaitingForIPPool', `IPPool ${pool} does not exist; kubectl get ippools`);
    return { kind: 'open', subnets: [subnet], pools: [pool] };
  }
  if (nic.selection !== undefined) return attachedSubnets(world, nic, nic.selection);
  const binding = world.ask(namespaceBinding, nic.pod.namespace);
  if (binding.undecided !== undefined) return waiting(binding.undecided.reason, binding.undecided.message);
  const pools = binding.poolsInUse;
  const subnets = pools.length === 0 ? binding.subnets : [...new Set(pools.map((one) => world.ask(ipPoolSubnet, one)))];
  return { kind: 'open', subnets, pools };
}

/**
 * The pools of a namespace also limit a requested Subnet that has some of them. An interface in an attached network gets them only
 * by naming them; the boundary for other namespaces holds there too.
 */
function boundPools(world: World, nic: PodInterface, subnet: string): readonly string[] {
  if (nic.selection !== undefined) return [];
  return world.ask(namespaceBinding, nic.pod.namespace).pools.filter((pool) => world.ask(ipPoolSubnet, pool) === subnet);
}

function attachedSubnets(world: World, nic: PodInterface, { namespace, name }: NetworkSelection): RequestedSubnets {
  const provider = subnetProvider(nic.provider);
  const subnets = providerSubnets(world, provider);
  if (subnets.length > 0) return { kind: 'open', subnets, pools: [] };
  const message = `no Subnet has spec.provider ${provider}, which attached network ${namespace}/${name} takes its addresses from; kubectl get subnet`;
  return waiting('WaitingForSubnet', message);
}

/**
 * The ready Subnets. A Subnet that is being deleted is skipped if there are others. The first of the rest must be ready: with a fallback to
 * the second, the result would depend on timing.
 */
function readySubnets(world: World, nic: PodInterface, requested: Extract<RequestedSubnets, { readonly kind: 'open' }>): SubnetChoice {
  const staying = requested.subnets.filter((subnet) => world.ask(subnetView, subnet)?.terminating !== true);
  const candidates = staying.length > 0 ? staying : requested.subnets;
  const [first] = candidates;
  const pools = requested.pools.filter((pool) => !world.ask(ipPoolTerminates, pool));
  const [deleted] = requested.pools;
  if (deleted !== undefined && pools.length === 0)
    return waiting(
      'WaitingForIPPool',
      `IPPool ${deleted} is being deleted and allocates no new address; ${commandText`kubectl describe ippool ${deleted}`}`,
    );
  if (first === undefined) return waiting('WaitingForSubnet', 'no Subnet is declared');
  const readiness = world.ask(subnetReady, first);
  if (!readiness.ready) {
    const { message } = readiness;
    const waits = waiting(reasonToWait(readiness), message.includes(first) ? message : `Subnet ${first}: ${message}`);
    return readiness.inProgress === true ? { ...waits, inProgress: true } : waits;
  }
  const view = world.ask(subnetView, first);
  if (nic.isOvn && view?.isOvn === false && !view.external)
    return waiting('InvalidAnnotation', `Subnet ${first} has provider ${view.provider}: it gives addresses to others, and has no ports`);
  if (!nic.isOvn && view?.external === true)
    return waiting(
      'InvalidAnnotation',
      `Subnet ${first} shows a switch of another program: it gives addresses to ports in that switch alone`,
    );
  if (view?.isJoin === true) return joinSubnetObstacle(world, nic, first);
  return { ...requested, pools, subnets: [first, ...candidates.slice(1).filter((subnet) => isUsableToo(world, nic, subnet))] };
}

/** Whether it may provide an address if the first Subnet has none: it is ready and has pods. */
function isUsableToo(world: World, nic: PodInterface, subnet: string): boolean {
  const view = world.ask(subnetView, subnet);
  return world.ask(subnetReady, subnet).ready && view?.isJoin !== true && view?.external !== true && !(nic.isOvn && view?.isOvn === false);
}

/** The obstacle names the fault: in the pod's request, or in the Subnet that claims the namespace. */
function joinSubnetObstacle(world: World, nic: PodInterface, subnet: string): Extract<SubnetChoice, { readonly kind: 'waiting' }> {
  const none = `Subnet ${subnet} joins nodes to the network and has no pods`;
  if (!world.ask(namespaceBinding, nic.pod.namespace).subnets.includes(subnet) || namesSubnet(world, nic))
    return waiting('InvalidAnnotation', none);
  const field = world.subnets.bucket('namespace', nic.pod.namespace).has(subnet) ? 'spec.namespaces' : 'spec.namespaceSelectors';
  return waiting(
    'WaitingForSubnet',
    `${none}, but its ${field} has Namespace ${nic.pod.namespace}; ${commandText`kubectl edit subnet ${subnet}`}`,
  );
}

function namesSubnet(world: World, nic: PodInterface): boolean {
  return nic.selection !== undefined || namedSubnet(world, nic) !== '' || vipNamed(world, nic) !== undefined;
}

function waiting(reason: Reason, message: string): Extract<SubnetChoice, { readonly kind: 'waiting' }> {
  return { kind: 'waiting', reason, message };
}
