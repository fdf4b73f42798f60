/** The external Subnets that Vpcs request ports in: what their specs say, whether it can be carried out or not. */
import { routerToSwitchPort } from '../api/names.ts';
import { labelKey } from '../api/well-known.ts';
import { vpcIntent } from './intent.ts';
import type { Query, World } from './world.ts';
import { defineQuery } from './world.ts';

const NONE: readonly string[] = [];

/**
 * Names of the Subnets, existing or not, in which the router of a Vpc is to have a port; without repetitions. Those of
 * `extraExternalSubnets` replace the default one.
 */
export const requestedExternals: Query<readonly string[]> = defineQuery('vpc-requested-externals', (world, name) => {
  const vpc = world.ask(vpcIntent, name);
  if (vpc === undefined || vpc.metadata.labels?.[labelKey.vpcExternal] === 'true') return NONE;
  const { enableExternal, extraExternalSubnets = NONE } = vpc.spec;
  if (enableExternal !== true) return NONE;
  const extra = [...new Set(extraExternalSubnets)].filter((subnet) => subnet !== '');
  return extra.length > 0 ? extra : [world.settings.externalSubnet];
});

/** The OvnEip with the addresses of the port, which has the name of the port. */
export function eipOfPort(vpc: string, subnet: string): string {
  return routerToSwitchPort(vpc, subnet);
}

/** The Vpc that an OvnEip is the port of, as its name and Subnet say; undefined if no Vpc requests such a port. */
export function vpcOfEip(world: World, eip: string, subnet: string): string | undefined {
  const suffix = eipOfPort('', subnet);
  if (subnet === '' || !eip.endsWith(suffix) || eip === suffix) return undefined;
  const vpc = eip.slice(0, -suffix.length);
  return world.ask(requestedExternals, vpc).includes(subnet) ? vpc : undefined;
}
