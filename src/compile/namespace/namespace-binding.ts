/**
 * The Subnets for pods of a namespace, computed from specs alone: the annotation on the Namespace is an output, which a concurrent update
 * may lose.
 *
 * Declared order, the same whatever was created first: the default Subnets of custom Vpcs that claim the namespace, then Subnets that list
 * it, then Subnets that select it by label; each group by name. The cluster's default Subnet serves the namespace only if nothing claims
 * it: if a Vpc claims it and has no Subnet for it yet, pods wait. A Vpc whose Subnets are all for attachments will have none: as in Kube-OVN
 * the pods' own interface is in the default Subnet, and the further ones are in the Vpc.
 */
import { selectorMatches } from '../../api/kubernetes/label-selector.ts';
import type { Labels, LabelSelector } from '../../api/kubernetes/meta.ts';
import type { Reason } from '../../api/reasons.ts';
import { DEFAULT_PROVIDER, kilnAnnotation } from '../../api/well-known.ts';
import { splitList } from '../../net/dual.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import { ipPoolSubnet } from '../ip/ip-pool-subnet.ts';
import { namespacesOutsideVpc, selectedOutsideVpc } from '../subnet/validity/subnet-namespaces.ts';
import { subnetView } from '../subnet/validity/subnet-view.ts';
import { vpcView } from '../vpc/vpc-view.ts';

export interface NamespaceBinding {
  /** In declared order; some may not exist yet. */
  readonly subnets: readonly string[];
  /** IPPools bound to the namespace, by name. */
  readonly pools: readonly string[];
  /** Those IPPools that are in its Subnets. If there are any, its pods get addresses from these alone. */
  readonly poolsInUse: readonly string[];
  /** What the namespace waits for; undefined if its Subnets are known. */
  readonly undecided: Awaited | undefined;
}

export interface Awaited {
  readonly reason: Extract<Reason, 'WaitingForSubnet' | 'WaitingForIPPool'>;
  readonly message: string;
}

/** Kube-OVN never binds this namespace to the default Subnet of a Vpc. */
const NEVER_IN_CUSTOM_VPC = 'kube-system';

export interface NamespaceFacts {
  readonly uid: string;
  readonly labels: Labels;
  readonly awaits: string;
  readonly awaitsPool: string;
}

/** Undefined if no namespace has that name. */
export const namespaceFacts: Query<NamespaceFacts | undefined> = defineQuery('namespace-facts', (world, name) => {
  const namespace = world.namespaces.get(name);
  if (namespace === undefined) return undefined;
  const { uid, labels = {}, annotations = {} } = namespace.metadata;
  const annotation = (key: string): string => (annotations[key] ?? '').trim();
  return { uid, labels, awaits: annotation(kilnAnnotation.awaitSubnet), awaitsPool: annotation(kilnAnnotation.awaitIpPool) };
});

const subnetSelectors: Query<readonly LabelSelector[]> = defineQuery(
  'subnet-selectors',
  (world, name) => world.ask(subnetIntent, name)?.spec.namespaceSelectors ?? [],
);

export const namespaceBinding: Query<NamespaceBinding> = defineQuery('namespace-binding', (world, name) => {
  const facts = world.ask(namespaceFacts, name);
  if (facts === undefined) return { subnets: [], pools: [], poolsInUse: [], undecided: forSubnet(`Namespace ${name} does not exist`) };
  const pools = [...world.ipPools.bucket('namespace', name)].toSorted();
  const { subnets, undecided } = declaredSubnets(world, name, facts);
  const poolsInUse = pools.filter((pool) => subnets.includes(world.ask(ipPoolSubnet, pool)));
  return { subnets, pools, poolsInUse, undecided: undecided ?? poolAwaited(name, facts.awaitsPool, poolsInUse) };
});

function declaredSubnets(world: World, name: string, { labels, awaits }: NamespaceFacts): Pick<NamespaceBinding, 'subnets' | 'undecided'> {
  const vpcs = name === NEVER_IN_CUSTOM_VPC ? [] : claimingVpcs(world, name);
  const subnets = [
    ...new Set([
      ...vpcs.flatMap(({ defaultSubnet }) => (defaultSubnet === '' ? [] : [defaultSubnet])),
      ...listing(world, name),
      ...selecting(world, labels).filter((subnet) => selectedOutsideVpc(world, subnet, name) === undefined),
    ]),
  ];
  const awaited = splitList(awaits).filter((one) => one !== 'true' && !subnets.includes(one));
  if (awaited.length > 0)
    return { subnets, undecided: forSubnet(`Namespace ${name} waits for Subnet ${awaited.join(', ')}, which does not claim it`) };
  if (subnets.length > 0) return { subnets, undecided: undefined };
  const [outside] = claimsOutsideVpc(world, name, labels);
  if (outside !== undefined) return { subnets, undecided: forSubnet(outside) };
  if (awaits === 'true') return { subnets, undecided: forSubnet(`Namespace ${name} waits for a Subnet, and none claims it`) };
  const vpc = vpcs.find(({ name: of }) => !isForAttachments(world, of));
  if (vpc !== undefined)
    return { subnets, undecided: forSubnet(`Namespace ${name} belongs to Vpc ${vpc.name}, which has no Subnet for it`) };
  return { subnets: [world.settings.defaultSubnet], undecided: undefined };
}

/** @param there IPPools that are bound to the namespace and in one of its Subnets */
function poolAwaited(namespace: string, awaits: string, there: readonly string[]): Awaited | undefined {
  if (awaits === '') return undefined;
  const forPool = (message: string): Awaited => ({ reason: 'WaitingForIPPool', message });
  if (awaits === 'true')
    return there.length > 0 ? undefined : forPool(`Namespace ${namespace} waits for an IPPool of its Subnets, and none is bound to it`);
  const absent = splitList(awaits).filter((pool) => !there.includes(pool));
  if (absent.length === 0) return undefined;
  return forPool(`Namespace ${namespace} waits for IPPool ${absent.join(', ')}, which does not exist, or is not bound to it`);
}

function forSubnet(message: string): Awaited {
  return { reason: 'WaitingForSubnet', message };
}

interface ClaimingVpc {
  readonly name: string;
  readonly defaultSubnet: string;
}

function claimingVpcs(world: World, namespace: string): readonly ClaimingVpc[] {
  return [...world.vpcs.bucket('namespace', namespace)].toSorted().flatMap((name) => {
    const vpc = world.ask(vpcView, name);
    if (vpc === undefined || vpc.isDefault) return [];
    const subnet = vpc.defaultSubnet === '' ? undefined : world.ask(subnetView, vpc.defaultSubnet);
    return [{ name, defaultSubnet: subnet === undefined || subnet.vpc === name ? vpc.defaultSubnet : '' }];
  });
}

function listing(world: World, namespace: string): readonly string[] {
  return [...world.subnets.bucket('namespace', namespace)]
    .filter((subnet) => servesPods(world, subnet) && outsideVpc(world, subnet, namespace) === undefined)
    .toSorted();
}

/** Messages of Subnets that list or select the namespace although their Vpc does not. Its pods wait: the default Subnet would be a guess. */
function claimsOutsideVpc(world: World, namespace: string, labels: Labels): readonly string[] {
  const listed = [...world.subnets.bucket('namespace', namespace)]
    .toSorted()
    .flatMap((subnet) => (servesPods(world, subnet) ? (outsideVpc(world, subnet, namespace) ?? []) : []));
  return [...listed, ...selecting(world, labels).flatMap((subnet) => selectedOutsideVpc(world, subnet, namespace)?.message ?? [])];
}

function outsideVpc(world: World, subnet: string, namespace: string): string | undefined {
  return world.ask(namespacesOutsideVpc, subnet).find(({ value }) => value === namespace)?.message;
}

function selecting(world: World, labels: Labels): readonly string[] {
  return [...world.subnets.bucket('selects', 'yes')]
    .filter(
      (subnet) => servesPods(world, subnet) && world.ask(subnetSelectors, subnet).some((selector) => selectorMatches(selector, labels)),
    )
    .toSorted();
}

/** Whether a Vpc has Subnets, and none is for the own interface of a pod. */
function isForAttachments(world: World, vpc: string): boolean {
  const subnets = [...world.subnetVpcs.in(vpc)];
  return subnets.length > 0 && !subnets.some((subnet) => servesPods(world, subnet));
}

/** A Subnet for attachments is never a pod's own network. */
function servesPods(world: World, subnet: string): boolean {
  return world.ask(subnetView, subnet)?.provider === DEFAULT_PROVIDER;
}
