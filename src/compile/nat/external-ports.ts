/**
 * The ports of a Vpc's router in external Subnets: each has an OvnEip with its addresses, a port in the Subnet's switch, and the chassis of
 * gateway nodes that host it. Without a gateway node there is no port: one without a chassis would answer on every node at once.
 */
import { API_VERSION } from '../../api/schema/kind.ts';
import { routerToSwitchPort, switchToRouterPort } from '../../api/names.ts';
import { kilnAnnotation } from '../../api/well-known.ts';
import { familiesOf, ofFamily, splitList } from '../../net/dual.ts';
import { parseAddress } from '../../net/address.ts';
import { parseMac } from '../../net/mac.ts';
import type { RowId } from '../../nb/row-id.ts';
import { rowId } from '../../nb/row-id.ts';
import type { AddressTexts } from '../../world/address-objects.ts';
import { claimantOfObject, hasAddress } from '../../world/address-objects.ts';
import { eipOfPort, requestedExternals } from '../../world/external-subnets.ts';
import type { Query, World } from '../../world/world.ts';
import { defineQuery } from '../../world/world.ts';
import type { Rule } from '../compiler.ts';
import type { Output, RowOutput } from '../output.ts';
import { retainedRow } from '../retained-row.ts';
import { linkRow } from '../subnet/rows/subnet-switch.ts';
import { owningSubnet } from '../subnet/validity/subnet-state.ts';
import type { SubnetView } from '../subnet/validity/subnet-view.ts';
import { isWithin } from '../subnet/validity/subnet-view.ts';
import { vpcRowsRule } from '../vpc/vpc-rows-rule.ts';
import type { VpcView } from '../vpc/vpc-view.ts';
import { isOurs, isOursOnceAdopted, routerId, vpcOwner } from '../vpc/vpc-view.ts';
import { externalProblem } from './external-problem.ts';
import { gatewayChassis, gatewayChassisRows } from './gateway-chassis.ts';

const RULE = 'vpc-external';

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
  const external = owningSubnet(world, subnet);
  // The network stays for its addresses after a removal of the Subnet by force, and so does the port in it.
  if (external === undefined) return existingPort(world, vpc, subnet);
  if (externalProblem(world, vpc.name, subnet) !== undefined) return [];
  const eip = eipOfPort(vpc.name, subnet);
  const exists = world.ask(eipExists, eip);
  // Until the OvnEip has its address the port keeps its own: with a release of Kube-OVN that gives it no finalizer, say.
  const addresses = (exists ? world.ask(eipOfPortHolds, eip) : undefined) ?? addressesOfPort(world, vpc, subnet);
  const missing = exists ? [] : missingEip(world, vpc, subnet);
  if (!hasAddress(addresses)) return missing;
  if (!isWithin(external, addresses)) return [...missing, ...existingPort(world, vpc, subnet)];
  return world.ask(gatewayChassis, vpc.name).length === 0 ? missing : [...missing, ...portRows(world, vpc, external, addresses)];
}

function portRows(world: World, vpc: VpcView, external: SubnetView, held: AddressTexts): readonly RowOutput[] {
  const owner = vpcOwner(vpc);
  const id = externalPortId(vpc.name, external.name);
  const name = routerToSwitchPort(vpc.name, external.name);
  const networks = familiesOf(external).flatMap((family) => {
    const address = family === 4 ? held.v4 : held.v6;
    const cidr = ofFamily(external, family)?.cidr ?? '';
    return address === '' ? [] : [address + cidr.slice(cidr.indexOf('/'))];
  });
  const port: RowOutput = {
    kind: 'row',
    id,
    owner,
    rule: RULE,
    parent: { id: routerId(vpc.router), column: 'ports' },
    columns: { name, mac: held.mac, networks, options: {} },
    externalIds: { lr: vpc.router },
  };
  const link = linkRow(owner, external.name, switchToRouterPort(external.name, vpc.name), name);
  // The node that hosts an address says so to the physical network: when the port moves, or a rule changes its type, neighbours know the other MAC.
  const columns = { ...link.columns, options: { 'router-port': name, 'nat-addresses': 'router' } };
  return [port, { ...link, rule: RULE, columns }, ...gatewayChassisRows(world, vpc.name, port)];
}

/** The port as it is, if it exists; its chassis follow the gateway nodes. */
function existingPort(world: World, vpc: VpcView, subnet: string): readonly RowOutput[] {
  const id = externalPortId(vpc.name, subnet);
  if (!isOurs(world, id, vpcOwner(vpc)) || world.ask(gatewayChassis, vpc.name).length === 0) return [];
  const link = rowId('Logical_Switch_Port', switchToRouterPort(subnet, vpc.name));
  const kept = [id, link].flatMap((row) => retainedRow(world, row) ?? []).filter(({ rule }) => rule === RULE);
  return kept.length === 0 ? [] : [...kept, ...gatewayChassisRows(world, vpc.name, { id, owner: vpcOwner(vpc), rule: RULE })];
}

/**
 * The OvnEip of a port that is to be made. If it was removed by force, it gets the addresses that the port has: the request holds them until
 * it exists again.
 */
function missingEip(world: World, vpc: VpcView, subnet: string): readonly Output[] {
  const name = eipOfPort(vpc.name, subnet);
  const { v4, v6, mac } = addressesOfPort(world, vpc, subnet);
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
  if (!isOursOnceAdopted(world, id, vpcOwner(vpc))) return { v4: '', v6: '', mac: '' };
  const networks = world.rows.column(id, 'networks');
  const texts = networks instanceof Set ? [...networks] : splitList(String(networks ?? ''));
  const addresses = texts.map((text) => String(text).split('/', 1)[0] ?? '');
  const ofFamilyIn = (family: 4 | 6): string => addresses.find((text) => parseAddress(text)?.family === family) ?? '';
  return { v4: ofFamilyIn(4), v6: ofFamilyIn(6), mac: String(world.rows.column(id, 'mac') ?? '') };
}
