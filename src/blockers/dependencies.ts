/**
 * The table of dependencies: which objects keep another from being deleted, and which merely depend on it. Deletion, its conditions, the
 * webhook and explanations read it. A new kind adds its lines here, with the way there and the way back.
 */
import { vipNames } from '../api/pod/annotation-limits.ts';
import { launchedInstance } from '../api/kubernetes/virtual-machine.ts';
import { annotationKey } from '../api/well-known.ts';
import { subnetIntent } from '../world/intent.ts';
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, NAT_RULES } from '../world/nat-rules.ts';
import type { ResourceName } from '../world/resources.ts';
import type { World } from '../world/world.ts';
import type { Dependency } from './dependency.ts';
import { isTooLateForEip } from './late-dependents.ts';
import { orphanedNetworks, vpcOfOrphanedNetwork } from './orphaned-networks.ts';
import type { IpUser } from './rule-queries.ts';
import { ipUser } from './rule-queries.ts';
import { SUBNET_DEPENDENCIES } from './subnet-dependents.ts';
import { subnetsInRouter, vpcOfSubnet } from './vpc-subnets.ts';

export const DEPENDENCIES: readonly Dependency[] = [
  {
    held: 'vpcs',
    holder: 'subnets',
    holders: subnetsInRouter,
    holds: vpcOfSubnet,
  },
  ...SUBNET_DEPENDENCIES,
  // A Subnet that was torn out cannot hold its Vpc: who needs its network needs the router.
  ...SUBNET_DEPENDENCIES.map(({ holder, holders, holds }): Dependency => ({
    held: 'vpcs',
    holder,
    holders: (world, vpc) => [...new Set(world.ask(orphanedNetworks, vpc).flatMap((subnet) => [...holders(world, subnet)]))],
    holds: (world, key) => [...holds(world, key)].map((subnet) => world.ask(vpcOfOrphanedNetwork, subnet)).filter((vpc) => vpc !== ''),
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
  ...NAT_RULES.map((holder): Dependency => ({
    held: eipResourceOf(holder),
    holder,
    holders: (world, eip) =>
      [...world.natRules[holder].bucket('eip', eip)].filter((name) => !world.ask(isTooLateForEip, `${holder}/${name}`)),
    holds: (world, name) => (world.ask(isTooLateForEip, `${holder}/${name}`) ? [] : eipsNamedBy(world, holder, name)),
  })),
];

/** Kinds that something can keep from going. */
export const BLOCKED_RESOURCES: readonly ResourceName[] = [
  ...new Set(DEPENDENCIES.filter(({ blocks }) => blocks !== false).map(({ held }) => held)),
];

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

function eipsNamedBy(world: World, resource: NatRuleResource, name: string): readonly string[] {
  const rule = world.natRules[resource].get(name);
  return rule === undefined || eipOfRule(rule) === '' ? [] : [eipOfRule(rule)];
}
