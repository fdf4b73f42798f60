/**
 * What holds what: the one table that deletion, its conditions and explanations read. A kind that comes later adds its lines.
 * Long, because the way there and the way back of each hold stand together, with the few questions that only they ask.
 */
import { vipNames } from '../api/annotation-limits.ts';
import { isOvnProvider, nodePortName } from '../api/names.ts';
import { annotationKey, DEFAULT_PROVIDER, FINALIZER, labelKey, podAnnotation } from '../api/well-known.ts';
import { launchedInstance } from '../api/virtual-machine.ts';
import { identityOf, rowId, tableOf } from '../nb/row-id.ts';
import { isOfSubnet, isRequest, isReserved, onlyAsks } from '../world/claimants.ts';
import type { SubnetIntent } from '../world/intent.ts';
import { subnetIntent, vpcIntent } from '../world/intent.ts';
import { hasLostMarks } from '../world/lost-marks.ts';
import type { ResourceName } from '../world/resources.ts';
import { traitsOf } from '../world/resources.ts';
import { ADDRESS_RESOURCES } from '../world/address-objects.ts';
import type { AddressResource } from '../world/address-objects.ts';
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, eipSeenBy, heldByRule, NAT_RULES } from '../world/nat-rules.ts';
import type { DeclaredQuery, Query, World } from '../world/world.ts';
import { declareQuery, defineQuery } from '../world/world.ts';

/** Objects of one kind depend on an object of another. */
export interface Hold {
  readonly held: ResourceName;
  readonly holder: ResourceName;
  /** Keys of the holders, by an index of the World. Live or not: one that terminates holds until it is gone. */
  readonly holders: (world: World, key: string) => Iterable<string>;
  /** The way back: keys of what a holder holds. */
  readonly holds: (world: World, key: string) => Iterable<string>;
  /** False where the object goes all the same, and who depends on it is told so. */
  readonly blocks?: false;
}

/** Who has an IP object now, a pod or a node: what the rules about pods and nodes know. */
export interface IpUser {
  readonly resource: 'pods' | 'nodes';
  readonly key: string;
}

export const ipUser: DeclaredQuery<IpUser | undefined> = declareQuery('ip-user');

/** A Subnet has no network yet, is sound, and is refused for its Vpc alone, which is being deleted: what the rules about Subnets know. */
export const subnetTooLate: DeclaredQuery<boolean> = declareQuery('subnet-too-late');

/** Subnets that a pod has addresses of without an IP object that says so: what the rules about pods know. */
export const podSubnets: DeclaredQuery<readonly string[]> = declareQuery('pod-subnets');

/** Who has addresses of a Subnet, also of one that is not there any more. */
const HOLDS_OF_SUBNETS: readonly Hold[] = [
  {
    held: 'subnets',
    holder: 'ips',
    // One that only asks for an address has none yet: it is refused while the Subnet goes.
    holders: (world, subnet) => [...world.ips.bucket('subnet', subnet)].filter((ip) => world.ask(ipHoldsAddress, ip)),
    holds: (world, ip) => (world.ask(ipHoldsAddress, ip) ? [world.ips.get(ip)?.spec.subnet ?? ''] : []),
  },
  {
    held: 'subnets',
    holder: 'pods',
    // An address is in use while annotations of a live pod or its port say so, whoever took the IP object away.
    holders: (world, subnet) => podsIn(world, subnet).filter((pod) => world.ask(podSubnets, pod).includes(subnet)),
    holds: (world, pod) => world.ask(podSubnets, pod),
  },
  {
    held: 'subnets',
    holder: 'nodes',
    // As with pods: a node that joined has its address, whoever edited its IP object and took its port away.
    holders: (world, subnet) => nodesIn(world, subnet).filter((node) => nodeSubnets(world, node).includes(subnet)),
    holds: nodeSubnets,
  },
  ...ADDRESS_RESOURCES.map((holder): Hold => ({
    held: 'subnets',
    holder,
    holders: (world, subnet) =>
      [...world.addressObjectsIn(holder, subnet)].filter((name) => world.ask(subnetHeldBy, `${holder}/${name}`) === subnet),
    holds: (world, name) => [world.ask(subnetHeldBy, `${holder}/${name}`)].filter((subnet) => subnet !== ''),
  })),
  ...NAT_RULES.map((holder): Hold => ({
    held: 'subnets',
    holder,
    // The address stays booked when the EIP was torn out from under the rule.
    holders: (world, subnet) =>
      [...world.natRules[holder].bucket('subnet', subnet)].filter((name) => world.ask(subnetHeldByRule, `${holder}/${name}`) === subnet),
    holds: (world, name) => [world.ask(subnetHeldByRule, `${holder}/${name}`)].filter((subnet) => subnet !== ''),
  })),
];

export const HOLDS: readonly Hold[] = [
  {
    held: 'vpcs',
    holder: 'subnets',
    holders: subnetsIn,
    holds: (world, subnet) =>
      isInOvn(world, subnet)
        ? [world.vpcOf(world.ask(subnetIntent, subnet) as SubnetIntent)].filter((vpc) => !isTooLate(world, vpc, subnet))
        : [],
  },
  ...HOLDS_OF_SUBNETS,
  // A Subnet that was torn out cannot hold its Vpc: who needs its network needs the router.
  ...HOLDS_OF_SUBNETS.map(({ holder, holders, holds }): Hold => ({
    held: 'vpcs',
    holder,
    holders: (world, vpc) => [...new Set(world.ask(networksLeft, vpc).flatMap((subnet) => [...holders(world, subnet)]))],
    holds: (world, key) => [...holds(world, key)].map((subnet) => world.ask(vpcOfNetworkLeft, subnet)).filter((vpc) => vpc !== ''),
  })),
  {
    held: 'ips',
    holder: 'pods',
    holders: (world, ip) => userOf(world, ip, 'pods'),
    holds: (world, pod) => [...ipsNamed(world, pod)].filter((ip) => world.ask(ipUser, ip)?.key === pod),
  },
  {
    held: 'ips',
    holder: 'nodes',
    holders: (world, ip) => userOf(world, ip, 'nodes'),
    holds: (world, node) => [`node-${node}`].filter((ip) => world.ask(ipUser, ip)?.key === node),
  },
  {
    held: 'subnets',
    holder: 'ippools',
    blocks: false,
    holders: (world, subnet) => world.ipPools.bucket('subnet', subnet),
    holds: (world, pool) => [world.ipPools.get(pool)?.spec.subnet ?? ''],
  },
  {
    held: 'namespaces',
    holder: 'pods',
    blocks: false,
    holders: (world, namespace) => world.pods.bucket('namespace', namespace),
    holds: (world, pod) => [world.pods.get(pod)?.metadata.namespace ?? ''],
  },
  {
    held: 'nodes',
    holder: 'pods',
    blocks: false,
    holders: (world, node) => world.pods.bucket('node', node),
    holds: (world, pod) => [world.pods.get(pod)?.spec.nodeName ?? ''],
  },
  {
    held: 'vips',
    holder: 'pods',
    blocks: false,
    // Who is given its address, and whose ports may use it beside their own.
    holders: (world, vip) => [...new Set([...world.pods.bucket('vip', vip), ...world.pods.bucket('allowedPair', vip)])],
    holds: (world, pod) => vipsNamedBy(world, pod),
  },
  {
    held: 'subnets',
    holder: 'namespaces',
    blocks: false,
    holders: (world, subnet) => world.ask(subnetIntent, subnet)?.spec.namespaces ?? [],
    holds: (world, namespace) => world.subnets.bucket('namespace', namespace),
  },
  ...NAT_RULES.map((holder): Hold => ({
    held: eipResourceOf(holder),
    holder,
    holders: (world, eip) =>
      [...world.natRules[holder].bucket('eip', eip)].filter((name) => !world.ask(isTooLateForEip, `${holder}/${name}`)),
    holds: (world, name) => (world.ask(isTooLateForEip, `${holder}/${name}`) ? [] : eipsNamedBy(world, holder, name)),
  })),
];

/** Of an IP object: an address of the Subnet that it names, whether that exists or not. */
export const ipHoldsAddress: Query<boolean> = defineQuery('ip-holds-address', (world, name) => {
  const ip = world.ips.get(name);
  // What is the Subnet's own goes after it.
  return ip !== undefined && !onlyAsks(ip) && !isOfSubnet(ip) && !world.ask(isTooLateForSubnet, name);
});

/**
 * A Subnet that is being deleted is not held by an IP object of a user that came after, was not completed and that nobody uses, though it says an
 * address. One that has the label of this Subnet is from a backup, or somebody took its finalizer away. Both times are the API server's, in whole
 * seconds.
 */
export const isTooLateForSubnet: Query<boolean> = defineQuery('ip-too-late-for-subnet', (world, name) => {
  const ip = world.ips.get(name);
  if (ip === undefined || !(isReserved(ip) || isRequest(ip))) return false;
  const { labels = {}, finalizers = [], creationTimestamp } = ip.metadata;
  const { subnet = '' } = ip.spec;
  const deleted = world.ask(deletionOfSubnet, subnet);
  if (deleted === '' || creationTimestamp <= deleted || labels[labelKey.subnet] === subnet || finalizers.includes(FINALIZER)) return false;
  return world.ask(ipUser, name) === undefined;
});

const deletionOfSubnet: Query<string> = defineQuery(
  'deletion-of-subnet',
  (world, name) => world.ask(subnetIntent, name)?.metadata.deletionTimestamp ?? '',
);

/** Pods that were given addresses of a Subnet or have a port in it. */
function podsIn(world: World, subnet: string): readonly string[] {
  const provider = world.ask(providerOf, subnet);
  const said = [...world.pods.bucket('allocated', subnet), ...world.pods.bucket('allocated', `provider/${provider}`)];
  return [...new Set([...said, ...ownersOfPorts(world, subnet, 'pod/')])];
}

const providerOf: Query<string> = defineQuery('provider-of-subnet', (world, name) => world.ask(subnetIntent, name)?.spec.provider ?? '');

/** Of one kind. @param kind as owners of rows begin with it */
function ownersOfPorts(world: World, subnet: string, kind: 'pod/' | 'node//'): readonly string[] {
  const ports = world.rows.column(rowId('Logical_Switch', subnet), 'ports');
  return [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const ownership = world.rows.at(uuid as Parameters<typeof world.rows.at>[0])?.ownership;
    return ownership?.kind === 'ours' && ownership.owner.startsWith(kind) ? [ownership.owner.slice(kind.length)] : [];
  });
}

/** Nodes that were given addresses of a Subnet or have a port in it. */
function nodesIn(world: World, subnet: string): readonly string[] {
  return [...new Set([...world.nodes.bucket('allocated', subnet), ...ownersOfPorts(world, subnet, 'node//')])];
}

/** Subnets that a node was told it has addresses of, or has its port in, without an IP object that says so. */
function nodeSubnets(world: World, node: string): readonly string[] {
  const port = nodePortName(node);
  const said = [world.ask(subnetTold, node), subnetOfPort(world, node)];
  return [...new Set(said)].filter((subnet) => subnet !== '' && subnet !== world.ask(subnetOfIp, port));
}

function subnetOfPort(world: World, node: string): string {
  const id = rowId('Logical_Switch_Port', nodePortName(node));
  const ownership = world.rows.state(id)?.ownership;
  if (ownership?.kind !== 'ours' || ownership.owner !== `node//${node}` || !world.ask(nodeExists, node)) return '';
  const externalIds = world.rows.column(id, 'external_ids');
  const subnet: unknown = externalIds instanceof Map ? externalIds.get('ls') : undefined;
  return typeof subnet === 'string' ? subnet : '';
}

/**
 * Networks in a Vpc's router whose Subnets vanished: their router port is of a Subnet that is not there, or of an older one of its name.
 * Whether anybody still needs them is another question.
 */
export const networksLeft: Query<readonly string[]> = defineQuery('networks-left', (world, vpc) => {
  // Whoever took its marks: until they are back it has the networks all the same.
  const ports = world.rows.column(rowId('Logical_Router', vpc), 'ports');
  const left = [...(ports instanceof Set ? ports : [])].flatMap((uuid) => {
    const port = world.rows.at(uuid as Parameters<typeof world.rows.at>[0])?.ownership;
    if (port?.kind !== 'ours' || !port.owner.startsWith(OF_SUBNET)) return [];
    const subnet = port.owner.slice(OF_SUBNET.length);
    return world.ask(uidOfSubnet, subnet) === port.uid ? [] : [subnet];
  });
  return left.toSorted();
});

/** The Vpc in whose router a network is whose Subnet vanished; empty for none. */
export const vpcOfNetworkLeft: Query<string> = defineQuery('vpc-of-network-left', (world, subnet) => {
  const ports = [...world.rows.ownedBy(`${OF_SUBNET}${subnet}`)].filter((id) => tableOf(id) === 'Logical_Router_Port');
  const routers = ports.flatMap((id) => world.rows.state(id)?.parent?.uuid ?? []).flatMap((uuid) => world.rows.at(uuid)?.id ?? []);
  const vpcs = routers.map(identityOf);
  return vpcs.find((vpc) => world.ask(networksLeft, vpc).includes(subnet)) ?? '';
});

const OF_SUBNET = 'subnet//';

/** Values, not objects: a status that comes back runs nobody's rule. */
const uidOfSubnet: Query<string> = defineQuery('uid-of-subnet', (world, name) => world.ask(subnetIntent, name)?.metadata.uid ?? '');
const nodeExists: Query<boolean> = defineQuery('node-exists', (world, name) => world.nodes.has(name));
const subnetTold: Query<string> = defineQuery('subnet-told-to-node', (world, name) => {
  const annotations = world.nodes.get(name)?.metadata.annotations ?? {};
  const isJoined = annotations[podAnnotation(DEFAULT_PROVIDER, 'allocated')] === 'true';
  return isJoined ? (annotations[podAnnotation(DEFAULT_PROVIDER, 'logical_switch')] ?? '') : '';
});
export const subnetOfIp: Query<string> = defineQuery('ip-subnet', (world, name) => world.ips.get(name)?.spec.subnet ?? '');

/** Kinds that something can keep from going. */
export const BLOCKED_RESOURCES: readonly ResourceName[] = [
  ...new Set(HOLDS.filter(({ blocks }) => blocks !== false).map(({ held }) => held)),
];

function isInOvn(world: World, subnet: string): boolean {
  if (world.ask(isLetGo, subnet)) return false;
  const object = world.ask(subnetIntent, subnet);
  if (object === undefined || isOvnProvider(object.spec.provider ?? '')) return object !== undefined;
  // A provider edited away from OVN does not take a running network along.
  return hasSwitch(world, subnet, object.metadata.uid);
}

function subnetsIn(world: World, vpc: string): readonly string[] {
  return [...world.subnetVpcs.in(vpc)].filter((name) => isInOvn(world, name) && !isTooLate(world, vpc, name));
}

/**
 * Its network is gone and Kiln has let it go: what still keeps the object is another's finalizer, which may wait for the Vpc itself (an owner that
 * is deleted in the foreground waits for what it owns).
 */
const isLetGo: Query<boolean> = defineQuery('subnet-let-go', (world, name) => {
  const metadata = world.subnets.get(name)?.metadata;
  if (metadata?.deletionTimestamp === undefined || metadata.finalizers?.includes(FINALIZER) === true) return false;
  return world.rows.ownedBy(`${OF_SUBNET}${name}`).size === 0 && blockersOf(world, 'subnets', name).count === 0;
});

function hasSwitch(world: World, subnet: string, uid: string): boolean {
  const id = rowId('Logical_Switch', subnet);
  const owner = world.rows.state(id)?.ownership;
  if (owner?.kind === 'ours') return owner.uid === uid;
  return hasLostMarks(world.rows, { id, owner: { kind: 'subnet', namespace: '', name: subnet, uid } });
}

/**
 * A Vpc that is being deleted is not held by a Subnet that came after and has nothing there, nor by one that is refused because of that
 * deletion. By one that was there before and is refused for something else it is. Both times are the API server's, in whole seconds.
 */
function isTooLate(world: World, vpc: string, subnet: string): boolean {
  const deleted = world.ask(deletionOfVpc, vpc);
  if (deleted === '' || world.ask(isSettled, subnet)) return false;
  if ((world.ask(subnetIntent, subnet)?.metadata.creationTimestamp ?? '') > deleted) return true;
  // The default one takes Subnets as long as there are any.
  return vpc !== world.settings.defaultVpc && world.ask(subnetTooLate, subnet);
}

/**
 * A Vpc is being deleted and takes no new Subnet. The default one, which the cluster stands on, takes them as long as there is anything in
 * it, another program's row in its router included: its deletion cannot be carried out then. With nothing in it it goes at once, and a new
 * Subnet is in the one that is made again.
 */
export const takesNoSubnet: Query<boolean> = defineQuery('vpc-takes-no-subnet', (world, vpc) => {
  if (world.ask(deletionOfVpc, vpc) === '') return false;
  if (vpc !== world.settings.defaultVpc) return true;
  return subnetsIn(world, vpc).length === 0 && world.ask(networksLeft, vpc).length === 0 && !world.ask(routerKeepsOthers, vpc);
});

/**
 * Rows of other programs in the router of a Vpc, or in a second one of its name that somebody made: it stays for them. Of the rows themselves,
 * since what the diff says of the router follows from this.
 */
const routerKeepsOthers: Query<boolean> = defineQuery('router-keeps-others', (world, vpc) =>
  world.rows.inside(rowId('Logical_Router', vpc)).some(({ ownership }) => ownership.kind === 'foreign'),
);

const deletionOfVpc: Query<string> = defineQuery(
  'deletion-of-vpc',
  (world, name) => world.ask(vpcIntent, name)?.metadata.deletionTimestamp ?? '',
);

/** Its network runs, or it was accepted: one whose switch somebody deletes by hand is no new Subnet. */
export const isSettled: Query<boolean> = defineQuery('subnet-settled', (world, name) => {
  const subnet = world.subnets.get(name);
  if (subnet === undefined) return false;
  const accepted = subnet.status?.conditions?.some(({ type, status }) => type === 'Accepted' && status === 'True') === true;
  return accepted || hasSwitch(world, name, subnet.metadata.uid);
});

function userOf(world: World, ip: string, resource: IpUser['resource']): readonly string[] {
  const user = world.ask(ipUser, ip);
  return user?.resource === resource ? [user.key] : [];
}

/** A pod of a virtual machine has the addresses of the machine, which has another name. */
function ipsNamed(world: World, pod: string): ReadonlySet<string> {
  const metadata = world.pods.get(pod)?.metadata;
  const machine = metadata === undefined ? undefined : launchedInstance(metadata);
  const names = [pod, ...(machine === undefined ? [] : [`${metadata?.namespace ?? ''}/${machine.name}`])];
  return new Set(names.flatMap((name) => [...world.ips.bucket('pod', name)]));
}

function vipsNamedBy(world: World, pod: string): readonly string[] {
  const annotations = world.pods.get(pod)?.metadata.annotations ?? {};
  return [annotationKey.vip, annotationKey.allowedAddressPairs].flatMap((key) => vipNames(annotations[key] ?? ''));
}

/** The Subnet that a Vip or an EIP has an address of; empty while it only asks for one. */
const subnetHeldBy: Query<string> = defineQuery('subnet-held-by', (world, key) => {
  const at = key.indexOf('/');
  const object = world.addressObject(key.slice(0, at) as AddressResource, key.slice(at + 1));
  return object?.held === undefined ? '' : object.subnet;
});

/** The Subnet that a rule has an address of without an EIP that says so; empty for none. */
const subnetHeldByRule: Query<string> = defineQuery('subnet-held-by-rule', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  const held = rule === undefined ? undefined : heldByRule(rule);
  if (held === undefined || world.ask(subnetHeldBy, `${eipResourceOf(resource)}/${held.eip}`) === held.subnet) return '';
  return held.subnet;
});

function eipsNamedBy(world: World, resource: NatRuleResource, name: string): readonly string[] {
  const rule = world.natRules[resource].get(name);
  return rule === undefined || eipOfRule(rule) === '' ? [] : [eipOfRule(rule)];
}

/**
 * An EIP that is being deleted is not held by a rule that came after, made or edited to name it. One that is marked with its address was there
 * before, also where it is from a backup. Of the others the mark tells which EIP a rule named when Kiln last saw it; where there is none, both
 * times are the API server's, in whole seconds. Key `<resource>/<name>` of the rule.
 */
export const isTooLateForEip: Query<boolean> = defineQuery('rule-too-late-for-eip', (world, key) => {
  const at = key.indexOf('/');
  const resource = key.slice(0, at) as NatRuleResource;
  const rule = world.natRules[resource].get(key.slice(at + 1));
  if (rule === undefined) return false;
  const eip = eipOfRule(rule);
  const deleted = world.ask(deletionOfEip, `${eipResourceOf(resource)}/${eip}`);
  if (deleted === '' || heldByRule(rule)?.eip === eip) return false;
  return rule.metadata.creationTimestamp > deleted || (eipSeenBy(rule) ?? eip) !== eip;
});

const deletionOfEip: Query<string> = defineQuery('deletion-of-eip', (world, key) => {
  const at = key.indexOf('/');
  const eips = key.startsWith('ovn-eips/') ? world.ovnEips : world.iptablesEips;
  return eips.get(key.slice(at + 1))?.metadata.deletionTimestamp ?? '';
});

/** Longest list of names that a sentence gives. */
const NAMED = 10;

export interface Blockers {
  readonly count: number;
  /** `<kind> <key>` of the first ten, sorted. */
  readonly names: readonly string[];
}

const NONE: Blockers = { count: 0, names: [] };

/** What keeps an object from going. @param counts leaves some of it out */
export function blockersOf(
  world: World,
  resource: ResourceName,
  key: string,
  counts: (holder: ResourceName, key: string) => boolean = () => true,
): Blockers {
  const names: string[] = [];
  let count = 0;
  for (const { held, holder, holders, blocks } of HOLDS) {
    if (held !== resource || blocks === false) continue;
    const first: string[] = [];
    for (const name of holders(world, key)) {
      if (!counts(holder, name)) continue;
      count++;
      keepFirst(first, name);
    }
    names.push(...first.map((name) => `${traitsOf(holder).kind} ${name}`));
  }
  return count === 0 ? NONE : { count, names: names.slice(0, NAMED) };
}

/** Keeps the first ten in order; holders may be very many, so they are not all sorted. */
function keepFirst(first: string[], name: string): void {
  if (first.length === NAMED && name >= (first[NAMED - 1] as string)) return;
  const at = first.findIndex((other) => name < other);
  first.splice(at === -1 ? first.length : at, 0, name);
  if (first.length > NAMED) first.pop();
}
