import type { Dependency, FreeingEdit } from '../../blockers/dependency.ts';
import { commandText } from '../../text/command-text.ts';
import { eipOfPort, requestedExternals, vpcOfEip } from '../../world/external-subnets.ts';
import { splitKey } from '../../world/resources.ts';
import { vpcIntent } from '../../world/intent.ts';
import type { World } from '../../world/world.ts';
import { defineQuery, defineSet } from '../../world/world.ts';
import { enabledGatewayConfig, gatewayConfigKey } from '../external-gateway-config/table/gateway-config.ts';
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

/** The setting that asks for the port of a router, which goes with its OvnEip when the setting does. */
function portEnds(world: World, vpc: string, eip: string): FreeingEdit {
  const subnet = world.addressObject('ovn-eips', eip)?.subnet ?? '';
  const { extraExternalSubnets } = world.ask(vpcIntent, vpc)?.spec ?? {};
  const config = vpc === world.settings.defaultVpc && (extraExternalSubnets ?? []).length === 0 ? enabledGatewayConfig(world) : undefined;
  const port = `OvnEip ${eip} is the port of Vpc ${vpc} in Subnet ${subnet}, and goes`;
  if (config !== undefined) {
    const { namespace, name } = splitKey(gatewayConfigKey(world.settings));
    return {
      sentence: `${port} when ConfigMap ${namespace}/${name} has enable-external-gw "false"`,
      command: commandText`kubectl edit configmap -n ${namespace} ${name}`,
    };
  }
  const when = (extraExternalSubnets ?? []).includes(subnet)
    ? `spec.extraExternalSubnets of Vpc ${vpc} does not list ${subnet}`
    : `spec.enableExternal of Vpc ${vpc} is false`;
  return { sentence: `${port} when ${when}`, command: commandText`kubectl edit vpc ${vpc}` };
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
    freedBy: (world, vpc, eip) => portEnds(world, vpc, eip),
  },
];
