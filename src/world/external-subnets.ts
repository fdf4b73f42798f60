/** The external Subnets that Vpcs request ports in: what their specs say, whether it can be carried out or not. */
import { routerToSwitchPort } from '../api/names.ts';
import { labelKey } from '../api/well-known.ts';
import { EXTERNAL_PORTS_RULE } from '../nb/ownership.ts';
import { identityOf, tableOf } from '../nb/row-id.ts';
import { parseAddress } from '../net/address.ts';
import { claimantOfObject } from './address-objects.ts';
import type { ExternalGatewayConfig } from '../kinds/external-gateway-config/table/gateway-config.ts';
import { enabledGatewayConfig, externalGatewayConfig } from '../kinds/external-gateway-config/table/gateway-config.ts';
import type { VpcIntent } from './intent.ts';
import { vpcIntent } from './intent.ts';
import type { DeclaredQuery, Query, World } from './world.ts';
import { declareQuery, defineQuery } from './world.ts';

const NONE: readonly string[] = [];

/**
 * Names of the Subnets, existing or not, in which the router of a Vpc is to have a port; without repetitions. A Vpc that lists
 * `extraExternalSubnets` gets no port in the default one, but keeps the one that it has: its NAT rules would end with it. In the default Vpc the
 * ConfigMap of the external gateway decides on that one, if there is a ConfigMap. A Vpc that was removed by force has its ports as long as its
 * router has them.
 */
export const requestedExternals: Query<readonly string[]> = defineQuery('vpc-requested-externals', (world, name) => {
  const vpc = world.ask(vpcIntent, name);
  if (vpc === undefined) return portsInPlace(world, name);
  if (vpc.metadata.labels?.[labelKey.vpcExternal] === 'true') return NONE;
  return externalsOfSpec(world, name, vpc.spec);
});

/** What such a spec requests. */
export function externalsOfSpec(
  world: World,
  name: string,
  { enableExternal, extraExternalSubnets = NONE }: Pick<VpcIntent['spec'], 'enableExternal' | 'extraExternalSubnets'>,
): readonly string[] {
  const { defaultVpc, externalSubnet } = world.settings;
  const listed = enableExternal === true ? (extraExternalSubnets ?? NONE).filter((subnet) => subnet !== '') : NONE;
  const config = name === defaultVpc ? world.ask(externalGatewayConfig, '') : undefined;
  const isOn = (config?.enabled ?? enableExternal) === true;
  const hasDefault = isOn && (config !== undefined || listed.length === 0 || world.ask(keepsDefaultPort, name));
  return [...new Set([...(hasDefault ? [externalSubnet] : NONE), ...listed])];
}

/** Whether the router has, or is about to have, a port in the default external Subnet that its spec never listed; defined by the rules. */
export const keepsDefaultPort: DeclaredQuery<boolean> = declareQuery('vpc-keeps-default-port');

function portsInPlace(world: World, vpc: string): readonly string[] {
  const prefix = routerToSwitchPort(vpc, '');
  return [...world.rows.ownedBy(`vpc//${vpc}`)].toSorted().flatMap((id) => {
    const ownership = world.rows.state(id)?.ownership;
    const isPort = tableOf(id) === 'Logical_Router_Port' && ownership?.kind === 'ours' && ownership.rule === EXTERNAL_PORTS_RULE;
    return isPort && identityOf(id).startsWith(prefix) ? [identityOf(id).slice(prefix.length)] : [];
  });
}

/** The router port of a Vpc whose addresses the ConfigMap of the external gateway has: it has no OvnEip. */
export function configuredPort(world: World, vpc: string, subnet: string): ExternalGatewayConfig | undefined {
  const { defaultVpc, externalSubnet } = world.settings;
  if (vpc !== defaultVpc || subnet !== externalSubnet) return undefined;
  const config = enabledGatewayConfig(world);
  return config !== undefined && (config.networks.length > 0 || config.invalid.length > 0) ? config : undefined;
}

/** The OvnEip with the addresses of the port, which has the name of the port. */
export function eipOfPort(vpc: string, subnet: string): string {
  return routerToSwitchPort(vpc, subnet);
}

/** The Vpc that an OvnEip is the port of, as its name and Subnet say; undefined if no Vpc requests such a port with an OvnEip. */
export function vpcOfEip(world: World, eip: string, subnet: string): string | undefined {
  const suffix = eipOfPort('', subnet);
  if (subnet === '' || !eip.endsWith(suffix) || eip === suffix) return undefined;
  const vpc = eip.slice(0, -suffix.length);
  if (configuredPort(world, vpc, subnet) !== undefined) return undefined;
  return world.ask(requestedExternals, vpc).includes(subnet) ? vpc : undefined;
}

/** The claimant of the addresses of a router port that has no OvnEip. */
export function claimantOfPort(vpc: string, subnet: string): string {
  return claimantOfObject('RouterPort', eipOfPort(vpc, subnet));
}

/** The addresses of networks such as `172.20.0.2/24`, one of each family at most; empty for none. */
export function addressesOfNetworks(networks: readonly string[]): { readonly v4: string; readonly v6: string } {
  const addresses = networks.map((text) => text.split('/', 1)[0] ?? '');
  const ofFamily = (family: 4 | 6): string => addresses.find((text) => parseAddress(text)?.family === family) ?? '';
  return { v4: ofFamily(4), v6: ofFamily(6) };
}
