/**
 * The table of dependencies: which objects block the deletion of another one, and which merely depend on it. Deletion, its conditions, the
 * webhook and `kiln explain` read it. A new kind adds its lines here, with the look-ups in both directions.
 */
import { vipNames } from '../api/pod/annotation-limits.ts';
import { launchedInstance } from '../api/kubernetes/virtual-machine.ts';
import { annotationKey } from '../api/well-known.ts';
import { subnetIntent } from '../world/intent.ts';
import type { NatRuleResource } from '../world/nat-rules.ts';
import { eipOfRule, eipResourceOf, NAT_RULES } from '../world/nat-rules.ts';
import type { ResourceName } from '../world/resources.ts';
import type { Part } from '../world/sets/set-definition.ts';
import type { World } from '../world/world.ts';
import { defineSet, where } from '../world/world.ts';
import type { Dependency } from './dependency.ts';
import { isLateForEip } from './late-dependents.ts';
import { orphanedNetworks, vpcOfOrphanedNetwork } from './orphaned-networks.ts';
import type { IpUser } from './rule-queries.ts';
import { ipUser } from './rule-queries.ts';
import { SUBNET_DEPENDENCIES } from './subnet-dependents.ts';
import { subnetsInRouter, vpcOfSubnet } from './vpc-subnets.ts';

export const DEPENDENCIES: readonly Dependency[] = [
  {
    on: 'vpcs',
    dependent: 'subnets',
    dependents: subnetsInRouter,
    dependsOn: vpcOfSubnet,
  },
  ...SUBNET_DEPENDENCIES,
  // A Subnet that was removed by force cannot block its Vpc, so the dependents of its network do: they need the router.
  ...SUBNET_DEPENDENCIES.map(({ dependent, dependents, dependsOn }): Dependency => ({
    on: 'vpcs',
    dependent,
    dependents: defineSet(`${dependent}-of-orphaned-networks`, (world, vpc) =>
      world.ask(orphanedNetworks, vpc).map((key) => ({ kind: 'set', of: dependents, key })),
    ),
    dependsOn: (world, key) =>
      [...dependsOn(world, key)].map((subnet) => world.ask(vpcOfOrphanedNetwork, subnet)).filter((vpc) => vpc !== ''),
  })),
  {
    on: 'ips',
    dependent: 'pods',
    dependents: defineSet('pods-of-ip', (world, ip) => [userOf(world, ip, 'pods')]),
    dependsOn: (world, pod) => [...ipsNamed(world, pod)].filter((ip) => world.ask(ipUser, ip)?.key === pod),
  },
  {
    on: 'ips',
    dependent: 'nodes',
    dependents: defineSet('nodes-of-ip', (world, ip) => [userOf(world, ip, 'nodes')]),
    dependsOn: (world, node) => [`node-${node}`].filter((ip) => world.ask(ipUser, ip)?.key === node),
  },
  {
    on: 'subnets',
    dependent: 'ippools',
    blocks: false,
    dependents: defineSet('pools-of-subnet', (world, value) => [{ kind: 'bucket', table: world.ipPools, index: 'subnet', value }]),
    dependsOn: (world, pool) => [world.ipPools.get(pool)?.spec.subnet ?? ''],
  },
  {
    on: 'namespaces',
    dependent: 'pods',
    blocks: false,
    dependents: defineSet('pods-of-namespace', (world, value) => [{ kind: 'bucket', table: world.pods, index: 'namespace', value }]),
    dependsOn: (world, pod) => [world.pods.get(pod)?.metadata.namespace ?? ''],
  },
  {
    on: 'nodes',
    dependent: 'pods',
    blocks: false,
    dependents: defineSet('pods-of-node', (world, value) => [{ kind: 'bucket', table: world.pods, index: 'node', value }]),
    dependsOn: (world, pod) => [world.pods.get(pod)?.spec.nodeName ?? ''],
  },
  {
    on: 'vips',
    dependent: 'pods',
    blocks: false,
    // Pods that have its address, and pods with ports that may use it beside their own.
    dependents: defineSet('pods-of-vip', ({ pods: table }, value) => [
      { kind: 'bucket', table, index: 'vip', value },
      { kind: 'bucket', table, index: 'allowedPair', value },
    ]),
    dependsOn: (world, pod) => vipsNamedBy(world, pod),
  },
  {
    on: 'subnets',
    dependent: 'namespaces',
    blocks: false,
    dependents: defineSet('namespaces-of-subnet', (world, subnet) => [
      { kind: 'keys', keys: world.ask(subnetIntent, subnet)?.spec.namespaces ?? [] },
    ]),
    dependsOn: (world, namespace) => world.subnets.bucket('namespace', namespace),
  },
  ...NAT_RULES.map((dependent): Dependency => ({
    on: eipResourceOf(dependent),
    dependent,
    dependents: defineSet(
      `${dependent}-of-eip`,
      (world, value) => [{ kind: 'bucket', table: world.natRules[dependent], index: 'eip', value }],
      where((world, _, name) => !world.ask(isLateForEip, `${dependent}/${name}`)),
    ),
    dependsOn: (world, name) => (world.ask(isLateForEip, `${dependent}/${name}`) ? [] : eipsNamedBy(world, dependent, name)),
  })),
];

/** Kinds that can have blockers. */
export const BLOCKED_RESOURCES: readonly ResourceName[] = [
  ...new Set(DEPENDENCIES.filter(({ blocks }) => blocks !== false).map(({ on }) => on)),
];

function userOf(world: World, ip: string, resource: IpUser['resource']): Part {
  const user = world.ask(ipUser, ip);
  return { kind: 'keys', keys: user?.resource === resource ? [user.key] : [] };
}

/** IP objects of a pod. A pod of a virtual machine has those of the machine, which has another name. */
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
