import type { Dependency } from '../../blockers/dependency.ts';
import { eipOfPort, requestedExternals, vpcOfEip } from '../../world/external-subnets.ts';
import { vpcIntent } from '../../world/intent.ts';
import type { World } from '../../world/world.ts';
import { defineQuery, defineSet } from '../../world/world.ts';
import { outOfNetwork } from './dependencies/out-of-network.ts';
import { addressObjectDependencies } from '../subnet/dependencies/address-dependencies.ts';

/** The Vpc whose router port has the address of an OvnEip; empty for none. One that no port can use any longer makes place for another one. */
const vpcOfPort = defineQuery('vpc-of-eip-port', (world: World, name: string) => {
  const eip = world.addressObject('ovn-eips', name);
  return eip === undefined || (eip.typeInEffect ?? eip.type) !== 'lrp' || world.ask(outOfNetwork, name) !== ''
    ? ''
    : existing(world, vpcOfEip(world, name, eip.subnet) ?? '');
});

/** A Vpc that was removed by force blocks nothing: its router holds the address itself. */
function existing(world: World, vpc: string): string {
  return world.ask(vpcIntent, vpc) === undefined ? '' : vpc;
}

export const dependencies: readonly Dependency[] = [
  ...addressObjectDependencies('ovn-eips'),
  {
    on: 'ovn-eips',
    dependent: 'vpcs',
    dependents: defineSet('vpcs-of-eip', (world, eip) => [{ kind: 'keys', keys: [world.ask(vpcOfPort, eip)].filter((vpc) => vpc !== '') }]),
    dependsOn: (world, vpc) =>
      world
        .ask(requestedExternals, vpc)
        .map((subnet) => eipOfPort(vpc, subnet))
        .filter((eip) => world.ask(vpcOfPort, eip) === vpc),
  },
];
