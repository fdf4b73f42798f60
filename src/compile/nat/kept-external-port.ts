/**
 * The port of a Vpc in the default external Subnet after its spec lists `extraExternalSubnets`: it stays, as in Kube-OVN, since what NAT rules
 * translate there would end. One that the list had before goes with its name.
 */
import { kilnAnnotation } from '../../api/well-known.ts';
import { rowId } from '../../nb/row-id.ts';
import { eipOfPort, keepsDefaultPort } from '../../world/external-subnets.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';

keepsDefaultPort.define((world, vpc) => {
  const { externalSubnet } = world.settings;
  return hasPortOrEip(world, vpc, externalSubnet) && !world.ask(externalsOnceListed, vpc).includes(externalSubnet);
});

const NONE: readonly string[] = [];

/** The Subnets that the status of a Vpc has as listed ones. */
export const externalsOnceListed: Query<readonly string[]> = defineQuery(
  'vpc-externals-once-listed',
  (world, vpc) => world.vpcs.get(vpc)?.status?.extraExternalSubnets ?? NONE,
);

/** Whether a router has a port in an external Subnet, or there is the OvnEip that was made for one. */
export function hasPortOrEip(world: World, vpc: string, subnet: string): boolean {
  const port = eipOfPort(vpc, subnet);
  const ownership = world.rows.state(rowId('Logical_Router_Port', port))?.ownership;
  return (ownership !== undefined && ownership.kind !== 'foreign') || world.ask(vpcOfMadeEip, port) === vpc;
}

/** The Vpc for whose port an OvnEip was made; empty for none. */
const vpcOfMadeEip: Query<string> = defineQuery(
  'vpc-of-made-eip',
  (world, eip) => world.ovnEips.get(eip)?.metadata.annotations?.[kilnAnnotation.portOf] ?? '',
);
