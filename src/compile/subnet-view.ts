/**
 * What of a Subnet matters to its ports and to the rules about it: its fields after defaults, in canonical spelling, and
 * whether it can take new holders. Rules about others read these projections, never the object: its status changes with
 * every pod.
 */
import { isTerminating } from '../api/meta.ts';
import { isOvnProvider } from '../api/names.ts';
import type { Subnet, SubnetSpec } from '../api/subnet.ts';
import { DEFAULT_PROVIDER } from '../api/well-known.ts';
import type { Dual, Protocol } from '../net/dual.ts';
import { joinDual, protocolOf } from '../net/dual.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import type { Query } from '../world/world.ts';
import { defineQuery } from '../world/world.ts';
import type { Claimant } from './output.ts';
import type { Network } from './subnet-networks.ts';
import { subnetNetworks } from './subnet-networks.ts';

/** `v4` and `v6` are the networks in effect (`subnet-networks.ts`), each with its gateway. */
export interface SubnetView extends Dual<Network> {
  readonly name: string;
  readonly uid: string;
  readonly created: string;
  readonly terminating: boolean;
  /** Name of its Vpc, there or not; also the name of the router. */
  readonly vpc: string;
  readonly inDefaultVpc: boolean;
  /** `ovn` where the spec says nothing. */
  readonly provider: string;
  /** OVN carries it; others are for addresses only and have no rows. */
  readonly isOvn: boolean;
  /** The Subnet that nodes join the network by. */
  readonly isJoin: boolean;
  /** Of the networks in effect; `Mac` for an underlay Subnet without addresses. */
  readonly protocol: Protocol | 'Mac';
  /** Networks in effect as one text, IPv4 first. */
  readonly cidr: string;
  readonly gateway: string;
  /** Empty for none, as in the join Subnet and in custom Vpcs. */
  readonly gatewayType: string;
  /** Empty for an overlay Subnet. */
  readonly vlan: string;
  readonly logicalGateway: boolean;
  /** It has a router port: overlay, or underlay that OVN routes. */
  readonly routed: boolean;
  readonly enableDHCP: boolean;
  /** 0 for the default. */
  readonly mtu: number;
  readonly private: boolean;
  readonly routeTable: string;
}

/** Undefined where there is no Subnet of that name. */
export const subnetView: Query<SubnetView | undefined> = defineQuery('subnet-view', (world, name) => {
  const subnet = world.subnets.get(name);
  if (subnet === undefined) return undefined;
  const { spec } = subnet;
  const { v4, v6 } = world.ask(subnetNetworks, name);
  const networks = { ...(v4 !== undefined && { v4 }), ...(v6 !== undefined && { v6 }) };
  const provider = orElse(spec.provider, DEFAULT_PROVIDER);
  const vpc = world.vpcOf(subnet);
  const inDefaultVpc = vpc === world.settings.defaultVpc;
  const isJoin = name === world.settings.joinSubnet;
  const isOvn = isOvnProvider(provider);
  const vlan = spec.vlan ?? '';
  const logicalGateway = spec.logicalGateway === true;
  return {
    ...networks,
    name,
    uid: subnet.metadata.uid,
    created: subnet.metadata.creationTimestamp,
    terminating: isTerminating(subnet),
    vpc,
    inDefaultVpc,
    provider,
    isOvn,
    isJoin,
    protocol: protocolOf(networks) ?? 'Mac',
    cidr: joinDual({ ...(v4 !== undefined && { v4: v4.cidr }), ...(v6 !== undefined && { v6: v6.cidr }) }),
    gateway: joinDual({ ...(v4 !== undefined && { v4: v4.gateway }), ...(v6 !== undefined && { v6: v6.gateway }) }),
    gatewayType: orElse(spec.gatewayType, inDefaultVpc && isOvn && !isJoin ? 'distributed' : ''),
    vlan,
    logicalGateway,
    routed: isOvn && (vlan === '' || logicalGateway),
    enableDHCP: spec.enableDHCP === true,
    mtu: spec.mtu ?? 0,
    private: spec.private === true,
    routeTable: spec.routeTable ?? '',
  };
});

/** The spec alone: rules of the Subnet itself read this, so that its status does not run them again. */
export const subnetSpec: Query<SubnetSpec | undefined> = defineQuery('subnet-spec', (world, name) => world.subnets.get(name)?.spec);

/** The row of a Subnet's switch. */
export function switchId(subnet: string): RowId {
  return rowId('Logical_Switch', subnet);
}

/** The Subnet as the owner of its rows. */
export function claimantOfSubnet(view: Pick<SubnetView, 'name' | 'uid' | 'created'>): Claimant {
  return { kind: 'subnet', namespace: '', name: view.name, uid: view.uid, created: view.created };
}

export function subnetClaimant(subnet: Subnet): Claimant {
  const { name, uid, creationTimestamp } = subnet.metadata;
  return claimantOfSubnet({ name, uid, created: creationTimestamp });
}

function orElse(text: string | undefined, otherwise: string): string {
  return text === undefined || text === '' ? otherwise : text;
}
