/** The fields of a Subnet after defaults, without its networks: no other object changes them. */
import { isTerminating } from '../../../api/kubernetes/meta.ts';
import { isOvnProvider } from '../../../api/names.ts';
import type { SubnetSpec } from '../../../api/kinds/subnet.ts';
import { DEFAULT_PROVIDER, EXTERNAL_PROVIDER } from '../../../api/well-known.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { SubnetIntent } from '../../../world/intent.ts';
import { subnetIntent } from '../../../world/intent.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { RowOwner } from '../../output.ts';
import { isOurs } from '../../vpc/vpc-view.ts';
import { isExternalSubnet } from './external-network.ts';

export interface SubnetBasics {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  /** Name of its Vpc, which need not exist; also the name of the router. */
  readonly vpc: string;
  readonly inDefaultVpc: boolean;
  /** `ovn` if the spec names none. */
  readonly provider: string;
  /** It shows a switch of another program, in which pods of admitted namespaces have ports. */
  readonly external: boolean;
  /** It has a network in OVN, or had one before its provider was edited. Others are for addresses only, without rows. */
  readonly isOvn: boolean;
  /** The join Subnet, which has the nodes' ports. */
  readonly isJoin: boolean;
  /** Empty for none, as in the join Subnet and in custom Vpcs. */
  readonly gatewayType: string;
  /** Empty for an overlay Subnet. */
  readonly vlan: string;
  readonly logicalGateway: boolean;
  /** It has a router port: overlay, or underlay with a logical gateway. */
  readonly routed: boolean;
  /** An underlay Subnet connected to the overlay: its pods are in the port groups of their nodes, like those of an overlay Subnet. */
  readonly interconnected: boolean;
  /** Such a one of the default Vpc without load balancers of OVN: its pods reach Services through their nodes. */
  readonly servicesByNode: boolean;
  readonly enableDHCP: boolean;
  /** 0 for the default. */
  readonly mtu: number;
  readonly private: boolean;
  readonly routeTable: string;
}

/** As its present spec requests, accepted or not; for what is in effect: `subnetBasics`. Undefined if no Subnet has that name. */
export const requestedBasics: Query<SubnetBasics | undefined> = defineQuery('subnet-requested-basics', (world, name) => {
  const subnet = world.ask(subnetIntent, name);
  return subnet === undefined ? undefined : basicsOf(world, subnet);
});

export function basicsOf(world: World, subnet: SubnetIntent): SubnetBasics {
  const { name } = subnet.metadata;
  const { spec } = subnet;
  const requested = orElse(spec.provider, DEFAULT_PROVIDER);
  // Pods in another program's switch have ports of the default provider.
  const provider = requested === EXTERNAL_PROVIDER ? DEFAULT_PROVIDER : requested;
  const vpc = world.vpcOf(subnet);
  const inDefaultVpc = vpc === world.settings.defaultVpc;
  const isJoin = name === world.settings.joinSubnet;
  // A running network stays if a user edits the provider to one outside of OVN.
  const marked = isExternalSubnet(subnet);
  const isOvn = (!marked && isOvnProvider(provider)) || hasSwitch(world, name, subnetIntentOwner(subnet));
  const vlan = spec.vlan ?? '';
  const logicalGateway = spec.logicalGateway === true;
  const interconnected = isOvn && vlan !== '' && spec.u2oInterconnection === true;
  const balanced = world.settings.enableLb && (spec.enableLb ?? true);
  return {
    name,
    uid: subnet.metadata.uid,
    created: subnet.metadata.creationTimestamp,
    terminating: isTerminating(subnet),
    vpc,
    inDefaultVpc,
    provider,
    external: marked && !isOvn,
    isOvn,
    isJoin,
    gatewayType: orElse(spec.gatewayType, inDefaultVpc && isOvn && !isJoin ? 'distributed' : ''),
    vlan,
    logicalGateway,
    routed: isOvn && (vlan === '' || logicalGateway),
    interconnected,
    servicesByNode: interconnected && !logicalGateway && inDefaultVpc && !balanced,
    enableDHCP: spec.enableDHCP === true,
    mtu: spec.mtu ?? 0,
    private: spec.private === true,
    routeTable: spec.routeTable ?? '',
  };
}

/** The present spec, accepted or not; for the one in effect: `subnetSpec`. */
export const requestedSpec: Query<SubnetSpec | undefined> = defineQuery(
  'subnet-requested-spec',
  (world, name) => world.ask(subnetIntent, name)?.spec,
);

/** The row of a Subnet's switch. */
export function switchId(subnet: string): RowId {
  return rowId('Logical_Switch', subnet);
}

/** Whether its switch is ours, or is a row of ours that lost its ownership keys, which are restored while the network runs on. */
export function isRunning(world: World, name: string): boolean {
  const subnet = world.ask(subnetIntent, name);
  return subnet !== undefined && hasSwitch(world, name, subnetIntentOwner(subnet));
}

/** The same, or its switch is a legacy row, which an accepted Subnet adopts. */
export function runsOnceAdopted(world: World, name: string): boolean {
  return isRunning(world, name) || world.rows.state(switchId(name))?.ownership.kind === 'legacy';
}

function hasSwitch(world: World, name: string, owner: RowOwner): boolean {
  const id = switchId(name);
  return isOurs(world, id, owner) || hasLostOwnershipKeys(world.rows, { id, owner });
}

/** The Subnet as row owner. */
export function subnetOwner({ name, uid, created }: Pick<SubnetBasics, 'name' | 'uid' | 'created'>): RowOwner {
  return { kind: 'subnet', namespace: '', name, uid, created };
}

export function subnetIntentOwner(subnet: SubnetIntent): RowOwner {
  const { name, uid, creationTimestamp } = subnet.metadata;
  return subnetOwner({ name, uid, created: creationTimestamp });
}

function orElse(text: string | undefined, otherwise: string): string {
  return text === undefined || text === '' ? otherwise : text;
}
