/** The IP object of the address by which an underlay Subnet is connected to the overlay. */
import { isOvnProvider } from '../../../api/names.ts';
import { subnetIntent } from '../../../world/intent.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';

const PREFIX = 'u2o-interconnection.';

export function interconnectionName(vpc: string, subnet: string): string {
  return `${PREFIX}${vpc}.${subnet}`;
}

/** Whether an IP object of a Subnet itself is in use: that of a connection only while the Subnet is connected, in that Vpc. */
export function isUsedBySubnet(world: World, ip: string, subnet: string): boolean {
  if (!ip.startsWith(PREFIX)) return world.ask(connectionOf, subnet) !== undefined;
  return world.ask(connectionOf, subnet) === ip;
}

/** Undefined if the Subnet does not exist; empty if it is not connected. */
const connectionOf: Query<string | undefined> = defineQuery('subnet-connection', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  if (subnet === undefined) return undefined;
  const { vlan = '', u2oInterconnection, logicalGateway, provider = '' } = subnet.spec;
  const isConnected = vlan !== '' && u2oInterconnection === true && logicalGateway !== true && isOvnProvider(provider);
  return isConnected ? interconnectionName(world.vpcOf(subnet), name) : '';
});
