/**
 * The ports of a Vpc's router in external Subnets: each has an OvnEip with its addresses, a port in the Subnet's switch, and the chassis of
 * gateway nodes that host it. Without a gateway node there is no port: one without a chassis would answer on every node at once.
 */
import { API_VERSION } from '../../api/schema/kind.ts';
import { localnetPort, routerToSwitchPort, switchToRouterPort } from '../../api/names.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import type { Mac } from '../../net/mac.ts';
import { parseMac } from '../../net/mac.ts';
import { EXTERNAL_PORTS_RULE, ownerText } from '../../nb/ownership.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import type { AddressTexts } from '../../world/address-objects.ts';
import { claimantOfObject, hasAddress } from '../../world/address-objects.ts';
import type { ExternalGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { enabledGatewayConfig } from '../../kinds/external-gateway-config/table/gateway-config.ts';
import { addressesOfNetworks, claimantOfPort, configuredPort, eipOfPort, requestedExternals } from '../../world/external-subnets.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../rule.ts';
import type { Output, RowOutput } from '../output.ts';
import { retainedRow } from '../retained-row.ts';
import { rowMac } from '../row-mac.ts';
import { linkRow } from '../subnet/rows/subnet-switch.ts';
import { subnetBasics } from '../subnet/validity/spec-in-effect.ts';
import { owningSubnet } from '../subnet/validity/subnet-state.ts';
import type { SubnetView } from '../subnet/validity/subnet-view.ts';
import { isWithin, switchId } from '../subnet/validity/subnet-view.ts';
import { localnetId } from '../subnet/validity/underlay.ts';
import { vpcRowsRule } from '../vpc/vpc-rows-rule.ts';
import type { VpcView } from '../vpc/vpc-view.ts';
import { isOurs, routerId, vpcOwner } from '../vpc/vpc-view.ts';
import { externalProblem } from './external-problem.ts';
import { gatewayChassis, gatewayChassisRows } from './gateway-chassis.ts';

const RULE = EXTERNAL_PORTS_RULE;

export const vpcExternal: Rule = vpcRowsRule(RULE, ({ world, name, view }) =>
  world.ask(requestedExternals, name).flatMap((subnet) => portOutputs(world, view, subnet)),
);

/** The router port of a Vpc in an external Subnet. */
export function externalPortId(vpc: string, subnet: string): RowId {
  return rowId('Logical_Router_Port', routerToSwitchPort(vpc, subnet));
}

/** The addresses of an OvnEip once it has them; undefined for a missing one. */
const eipOfPortHolds: Query<AddressTexts | undefined> = defineQuery('eip-of-port-holds', (world, eip) => {
  return world.addressObject('ovn-eips', eip)?.held;
});

const eipExists: Query<boolean> = defineQuery('ovn-eip-exists', (world, eip) => world.ovnEips.has(eip));

function portOutputs(world: World, vpc: VpcView, subnet: string): readonly Output[] {
  const config = configuredPort(world, vpc.name, subnet);
  if (config !== undefined && !world.ask(subnetExists, subnet)) return ownSwitch(world, vpc, subnet, config);
  const external = owningSubnet(world, subnet);
  // The network stays for its addresses after a removal of the Subnet by force, and so does the port in it.
  if (external === undefined) return existingPort(world, vpc, subnet);
  // A wrong edit of the ConfigMap does not cut off the cluster.
  if (externalProblem(world, vpc.name, subnet) !== undefined)
    return config === undefined ? [] : [...presentAddresses(world, vpc, external), ...existingPort(world, vpc, subnet)];
  if (config !== undefined) return [...configuredPortRows(world, vpc, external, config), ...gatewayLocalnet(world, vpc, external)];
  return [...eipPortOutputs(world, vpc, external), ...gatewayLocalnet(world, vpc, external)];
}

function eipPortOutputs(world: World, vpc: VpcView, external: SubnetView): readonly Output[] {
  const subnet = external.name;
  const eip = eipOfPort(vpc.name, subnet);
  const exists = world.ask(eipExists, eip);
  // Until the OvnEip has its address the port keeps its own: with a release of Kube-OVN that gives it no finalizer, say.
  const addresses = (exists ? world.ask(eipOfPortHolds, eip) : undefined) ?? addressesOfPort(world, vpc, subnet);
  const missing = exists ? [] : missingEip(world, vpc, external);
  if (!hasAddress(addresses)) return missing;
  if (!isWithin(external, addresses)) return [...missing, ...existingPort(world, vpc, subnet)];
  return world.ask(gatewayChassis, vpc.name).length === 0 ? missing : [...missing, ...portRows(world, vpc, external, addresses)];
}

function portRows(world: World, vpc: VpcView, external: SubnetView, held: AddressTexts): readonly RowOutput[] {
  const networks = familiesOf(external).flatMap((family) => {
    const address = family === 4 ? held.v4 : held.v6;
    const cidr = ofFamily(external, family)?.cidr ?? '';
    return address === '' ? [] : [address + cidr.slice(cidr.indexOf('/'))];
  });
  return rowsOfPort(world, vpc, external.name, networks, held.mac);
}

function rowsOfPort(world: World, vpc: VpcView, external: string, networks: readonly string[], mac: string): readonly RowOutput[] {
  const owner = vpcOwner(vpc);
  const id = externalPortId(vpc.name, external);
  const name = routerToSwitchPort(vpc.name, external);
  const port: RowOutput = {
    kind: 'row',
    id,
    owner,
    rule: RULE,
    parent: { id: routerId(vpc.router), column: 'ports' },
    columns: { name, mac, networks, options: {} },
    externalIds: { lr: vpc.router },
  };
  const link = linkRow(owner, external, switchToRouterPort(external, vpc.name), name);
  // The node that hosts an address says so to the physical network: when the port moves, or a rule changes its type, neighbours know the other MAC.
  const columns = { ...link.columns, options: { 'router-port': name, 'nat-addresses': 'router' } };
  return [port, { ...link, rule: RULE, columns }, ...gatewayChassisRows(world, vpc.name, port)];
}

/**
 * The port with the addresses of the ConfigMap, once they are reserved. Until then the port stays as it is: with the addresses of the
 * ConfigMap before its edit, or of the OvnEip that it had.
 */
function configuredPortRows(world: World, vpc: VpcView, external: SubnetView, config: ExternalGatewayConfig): readonly Output[] {
  const subnet = external.name;
  const { v4, v6 } = addressesOfNetworks(config.networks);
  const mac = macOfConfiguredPort(world, vpc, subnet, config);
  const request: Output = {
    kind: 'address-request',
    request: {
      claimant: claimantOfPort(vpc.name, subnet),
      subnets: [subnet],
      families: v4 === '' ? 'v6' : v6 === '' ? 'v4' : 'dual',
      ...(v4 !== '' && { v4 }),
      ...(v6 !== '' && { v6 }),
      mac,
      sharingGroup: claimantOfPort(vpc.name, subnet),
      since: vpc.created,
    },
  };
  const reservation = world.reservations.get(claimantOfPort(vpc.name, subnet));
  const has = reservation?.kind === 'granted' && reservation.v4 === v4 && reservation.v6 === v6;
  if (!has) return [request, ...presentAddresses(world, vpc, external), ...existingPort(world, vpc, subnet)];
  if (world.ask(gatewayChassis, vpc.name).length === 0) return [request];
  return [request, ...rowsOfPort(world, vpc, subnet, config.networks, mac)];
}

/** Holds the addresses of the ports of a Vpc that was removed by force, where their OvnEips are gone as well. */
export function addressesOfLostPorts(world: World, vpc: string): readonly Output[] {
  return world.ask(requestedExternals, vpc).flatMap((subnet): readonly Output[] => {
    const eip = eipOfPort(vpc, subnet);
    const held = world.rows.column(externalPortId(vpc, subnet), 'networks');
    const { v4, v6 } = addressesOfNetworks(held instanceof Set ? [...held].map(String) : splitList(String(held ?? '')));
    if (world.ask(eipExists, eip) || (v4 === '' && v6 === '')) return [];
    return [
      {
        kind: 'address-request',
        request: {
          claimant: claimantOfObject('OvnEip', eip),
          subnets: [subnet],
          families: v4 === '' ? 'v6' : v6 === '' ? 'v4' : 'dual',
          ...(v4 !== '' && { v4 }),
          ...(v6 !== '' && { v6 }),
          withoutMac: true,
          since: '1970-01-01T00:00:00Z',
        },
      },
    ];
  });
}

/** Holds the addresses that the port keeps until it can have those of the ConfigMap: else another object would be given them. */
function presentAddresses(world: World, vpc: VpcView, external: SubnetView): readonly Output[] {
  const { v4, v6, mac } = addressesOfPort(world, vpc, external.name);
  if (!hasAddress({ v4, v6, mac }) || !isWithin(external, { v4, v6 })) return [];
  const claimant = claimantOfPort(vpc.name, external.name);
  return [
    {
      kind: 'address-request',
      request: {
        claimant: `${claimant} (present)`,
        subnets: [external.name],
        families: v4 === '' ? 'v6' : v6 === '' ? 'v4' : 'dual',
        ...(v4 !== '' && { v4 }),
        ...(v6 !== '' && { v6 }),
        withoutMac: true,
        sharingGroup: claimant,
        since: vpc.created,
      },
    },
  ];
}

function macOfConfiguredPort(world: World, vpc: VpcView, subnet: string, { mac }: ExternalGatewayConfig): Mac {
  return parseMac(mac) ?? rowMac(world, externalPortId(vpc.name, subnet), 'mac');
}

/**
 * Without a Subnet the port has a switch with a port into the physical network of the gateways: Kube-OVN's ConfigMap needs no Subnet. If a
 * Subnet of the name comes, it takes the switch over.
 */
function ownSwitch(world: World, vpc: VpcView, subnet: string, config: ExternalGatewayConfig): readonly Output[] {
  if (config.invalid.length > 0) return existingPort(world, vpc, subnet);
  if (world.ask(gatewayChassis, vpc.name).length === 0) return [];
  const row: RowOutput = { kind: 'row', id: switchId(subnet), owner: vpcOwner(vpc), rule: RULE, columns: { name: subnet } };
  const mac = macOfConfiguredPort(world, vpc, subnet, config);
  return [row, localnetRow(world, vpc, subnet), ...rowsOfPort(world, vpc, subnet, config.networks, mac)];
}

/** The port into the physical network of the gateways in the switch of a Subnet that has no Vlan: with one, it has its own. */
function gatewayLocalnet(world: World, vpc: VpcView, { name, vlan, isOvn }: SubnetView): readonly RowOutput[] {
  const isConfigured = vpc.isDefault && name === world.settings.externalSubnet && enabledGatewayConfig(world) !== undefined;
  return isConfigured && isOvn && vlan === '' ? [localnetRow(world, vpc, name)] : [];
}

function localnetRow(world: World, vpc: VpcView, subnet: string): RowOutput {
  const { externalGatewayNet, externalGatewayVlan } = world.settings;
  return {
    kind: 'row',
    id: localnetId(subnet),
    owner: vpcOwner(vpc),
    rule: RULE,
    parent: { id: switchId(subnet), column: 'ports' },
    columns: {
      name: localnetPort(subnet),
      type: 'localnet',
      addresses: ['unknown'],
      options: { network_name: externalGatewayNet },
      tag: externalGatewayVlan === 0 ? null : externalGatewayVlan,
      dhcpv4_options: null,
      dhcpv6_options: null,
    },
    externalIds: { ls: subnet },
  };
}

const subnetExists: Query<boolean> = defineQuery('external-subnet-exists', (world, name) => world.ask(subnetBasics, name) !== undefined);

/** The port as it is, if it exists; its chassis follow the gateway nodes. */
function existingPort(world: World, vpc: VpcView, subnet: string): readonly RowOutput[] {
  const id = externalPortId(vpc.name, subnet);
  if (!isOurs(world, id, vpcOwner(vpc)) || world.ask(gatewayChassis, vpc.name).length === 0) return [];
  const link = rowId('Logical_Switch_Port', switchToRouterPort(subnet, vpc.name));
  const kept = [id, link].flatMap((row) => retainedRow(world, row) ?? []).filter(({ rule }) => rule === RULE);
  return kept.length === 0 ? [] : [...kept, ...gatewayChassisRows(world, vpc.name, { id, owner: vpcOwner(vpc), rule: RULE })];
}

/**
 * The OvnEip of a port that is to be made. If it was removed by force, it gets the addresses that the port has, unless the Subnet has another
 * network now: the request holds them until it exists again.
 */
function missingEip(world: World, vpc: VpcView, external: SubnetView): readonly Output[] {
  const subnet = external.name;
  const name = eipOfPort(vpc.name, subnet);
  const has = addressesOfPort(world, vpc, subnet);
  const { v4, v6, mac } = isWithin(external, has) ? has : { ...has, v4: '', v6: '' };
  const parsedMac = parseMac(mac);
  const object = {
    apiVersion: API_VERSION,
    kind: 'OvnEip',
    metadata: { name, annotations: { [kilnAnnotation.portOf]: vpc.name } },
    spec: {
      externalSubnet: subnet,
      type: 'lrp',
      ...(v4 !== '' && { v4Ip: v4 }),
      ...(v6 !== '' && { v6Ip: v6 }),
      ...(mac !== '' && { macAddress: mac }),
    },
  };
  const create: Output = { kind: 'create', resource: 'ovn-eips', key: name, object };
  if (v4 === '' && v6 === '') return [create];
  const request: Output = {
    kind: 'address-request',
    request: {
      claimant: claimantOfObject('OvnEip', name),
      subnets: [subnet],
      families: v4 === '' ? 'v6' : v6 === '' ? 'v4' : 'dual',
      ...(v4 !== '' && { v4 }),
      ...(v6 !== '' && { v6 }),
      ...(parsedMac !== undefined && { mac: parsedMac }),
      since: vpc.created,
    },
  };
  return [request, create];
}

function addressesOfPort(world: World, vpc: VpcView, subnet: string): AddressTexts {
  const id = externalPortId(vpc.name, subnet);
  const ownership = world.rows.state(id)?.ownership;
  // Also of a Vpc of the name that was removed by force.
  const isOwn = ownership?.kind === 'ours' && ownership.owner === ownerText(vpcOwner(vpc));
  if (!isOwn && ownership?.kind !== 'legacy') return { v4: '', v6: '', mac: '' };
  const networks = world.rows.column(id, 'networks');
  const texts = networks instanceof Set ? [...networks].map(String) : splitList(String(networks ?? ''));
  return { ...addressesOfNetworks(texts), mac: String(world.rows.column(id, 'mac') ?? '') };
}
