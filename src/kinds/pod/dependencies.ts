import { launchedInstance } from '../../api/kubernetes/virtual-machine.ts';
import { vipNames } from '../../api/pod/annotation-limits.ts';
import { annotationKey } from '../../api/well-known.ts';
import type { Dependency } from '../../blockers/dependency.ts';
import { subnetIntent } from '../../world/intent.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery, defineSet, where } from '../../world/world.ts';
import { usesIps } from '../ip/dependencies/ips-in-use.ts';
import { ownersOfPorts, usesSubnet } from '../subnet/dependencies/subnet-users.ts';
import { podSubnets } from './dependencies/pod-subnets.ts';
import { podVips } from './dependencies/pod-vips.ts';

const podsWithPorts = ownersOfPorts('pods-with-ports', 'pod/');

/** Pods that request its address, and pods whose ports may use it beside their own, as their annotations say. */
const podsNamingVip = defineSet('pods-of-vip', ({ pods: table }, value) => [
  { kind: 'bucket', table, index: 'vip', value },
  { kind: 'bucket', table, index: 'allowedPair', value },
]);

const providerOf: Query<string> = defineQuery('provider-of-subnet', (world, name) => world.ask(subnetIntent, name)?.spec.provider ?? '');

export const dependencies: readonly Dependency[] = [
  ...usesSubnet({
    dependent: 'pods',
    // An address is in use while a live pod's annotations or port have it, also if the IP object was deleted.
    dependents: defineSet(
      'pods-of-subnet',
      (world, subnet) => [
        { kind: 'bucket', table: world.pods, index: 'allocated', value: subnet },
        { kind: 'bucket', table: world.pods, index: 'allocated', value: `provider/${world.ask(providerOf, subnet)}` },
        { kind: 'set', of: podsWithPorts, key: subnet },
      ],
      where((world, subnet, pod) => world.ask(podSubnets, pod).includes(subnet)),
    ),
    dependsOn: (world, pod) => world.ask(podSubnets, pod),
  }),
  usesIps('pods', ipsNamed),
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
    dependents: defineSet(
      'pods-using-vip',
      (world, vip) => [{ kind: 'set', of: podsNamingVip, key: vip }],
      where((world, vip, pod) => world.ask(podVips, pod).includes(vip)),
    ),
    dependsOn: (world, pod) => world.ask(podVips, pod),
  },
  {
    on: 'vips',
    dependent: 'pods',
    blocks: false,
    dependents: defineSet(
      'pods-waiting-for-vip',
      (world, vip) => [{ kind: 'set', of: podsNamingVip, key: vip }],
      where((world, vip, pod) => !world.ask(podVips, pod).includes(vip)),
    ),
    dependsOn: (world, pod) => {
      const used = world.ask(podVips, pod);
      return vipsNamedBy(world, pod).filter((vip) => !used.includes(vip));
    },
  },
];

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
