/**
 * The gateways of Subnets in the default Vpc: traffic leaves the cluster through each pod's own node (distributed), or through chosen nodes
 * (centralized). Policies of priority 29000 send it to the nodes' addresses in the join Subnet.
 */
import { selectorMatches } from '../../../api/kubernetes/label-selector.ts';
import { portGroupAddressSet, subnetNodePortGroup } from '../../../api/names.ts';
import type { Subnet } from '../../../api/kinds/subnet.ts';
import { isOvnProvider } from '../../../api/names.ts';
import { familiesOf, ofFamily, splitList } from '../../../net/dual.ts';
import type { Dual } from '../../../net/dual.ts';
import type { Family } from '../../../net/address.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { rowId } from '../../../nb/row-id.ts';
import type { Domain } from '../../../engine/domain.ts';
import { bothOf, keysOf, pairsOf, splitPair } from '../../../engine/domain.ts';
import type { Query, World } from '../../../world/world.ts';
import { defineQuery } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import { joinAddresses } from '../../node/node-join.ts';
import { nodeReady } from '../../node/node-ready.ts';
import { nodeView } from '../../node/node-view.ts';
import type { RowOutput } from '../../output.ts';
import { prefixOf } from './subnet-acls.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, subnetNetworks, subnetSpec } from '../validity/subnet-view.ts';
import { policyRow } from '../../vpc/vpc-policy-routes.ts';

export const GATEWAY_PRIORITY = 29000;

/** A node's addresses in the join Subnet; empty until its port exists. */
export const nodeJoinAddresses: Query<Dual<string>> = defineQuery('node-join-addresses', (world, node) => {
  const view = world.ask(nodeView, node);
  const addresses = view === undefined ? undefined : joinAddresses(world, view);
  if (addresses === undefined) return {};
  const { v4, v6 } = addresses;
  return { ...(v4 !== '' && { v4 }), ...(v6 !== '' && { v6 }) };
});

/** Families of the join Subnet: only their traffic can leave through a node. */
const joinFamilies: Query<readonly Family[]> = defineQuery('join-families', (world) =>
  familiesOf(world.ask(subnetNetworks, world.settings.joinSubnet)),
);

/** Networks of a Subnet in a family that the join Subnet lacks, so that they have no gateway. None without a join Subnet. */
export const networksWithoutGateway: Query<readonly string[]> = defineQuery('subnet-networks-without-gateway', (world, name) => {
  const view = emittedSubnet(world, name);
  if (view === undefined || !view.inDefaultVpc || !view.routed || view.isJoin) return [];
  const joined = world.ask(joinFamilies, '');
  if (joined.length === 0) return [];
  return familiesOf(view)
    .filter((family) => !joined.includes(family))
    .flatMap((family) => ofFamily(view, family)?.cidr ?? []);
});

/** The port group of a distributed Subnet's pods on one node. */
export function subnetNodeGroupId(subnet: string, node: string): RowId {
  return rowId('Port_Group', subnetNodePortGroup(subnet, node));
}

/** Whether traffic of a Subnet leaves through each pod's own node, so that a pod's port is in `subnetNodeGroupId`. */
export function isDistributed(view: SubnetView): boolean {
  return view.inDefaultVpc && view.routed && !view.isJoin && view.gatewayType === 'distributed' && view.protocol !== 'Mac';
}

export const distributedGateway: Rule = {
  name: 'subnet-distributed-gateway',
  over: (world) => pairsOf(distributedSubnets(world), keysOf(world.nodes)),
  run: (world, pair) => {
    const [subnet, node] = splitPair(pair);
    const view = emittedSubnet(world, subnet);
    return view === undefined ? [] : distributedRows(world, view, node);
  },
};

export function distributedRows(world: World, view: SubnetView, node: string): readonly RowOutput[] {
  if (!isDistributed(view)) return [];
  const subnet = view.name;
  const owner = subnetOwner(view);
  const group = subnetNodePortGroup(subnet, node);
  const rule = 'subnet-distributed-gateway';
  const externalIds = { subnet, node, np: `${subnet}/${node}` };
  const rows: RowOutput[] = [{ kind: 'row', id: subnetNodeGroupId(subnet, node), owner, rule, columns: { name: group }, externalIds }];
  const joined = world.ask(nodeJoinAddresses, node);
  for (const family of familiesOf(view)) {
    const nexthop = ofFamily(joined, family);
    if (nexthop === undefined) continue;
    const match = `${prefixOf(family)}.src == $${portGroupAddressSet(group, family)}`;
    const policy = { priority: GATEWAY_PRIORITY, match, action: 'reroute', nexthops: [nexthop] };
    rows.push(policyRow(view.vpc, policy, owner, rule, { subnet, node }));
  }
  return rows;
}

/** Subnets that may be distributed. The domain has no pairs of other Subnets with nodes, so these cost nothing. */
function distributedSubnets(world: World): Domain {
  const may = (subnet: Subnet): boolean => {
    const { gatewayType = '', vlan = '', logicalGateway, provider = '' } = subnet.spec;
    if (subnet.metadata.name === world.settings.joinSubnet) return false;
    return isOvnProvider(provider) && gatewayType !== 'centralized' && (vlan === '' || logicalGateway === true);
  };
  return bothOf(keysOf(world.subnets, may), world.subnetVpcs.within(world.settings.defaultVpc));
}

export interface CentralizedGateway {
  /** The present gateway nodes, in the order of the spec. */
  readonly nodes: readonly string[];
}

/** Undefined if the Subnet has no centralized gateway. A gateway node needs an address in the join Subnet, in a family of the Subnet. */
export const centralizedGateway: Query<CentralizedGateway | undefined> = defineQuery('subnet-centralized-gateway', (world, name) => {
  const view = emittedSubnet(world, name);
  return view === undefined ? undefined : centralizedGatewayOf(world, view);
});

export function centralizedGatewayOf(world: World, view: SubnetView): CentralizedGateway | undefined {
  const { name } = view;
  if (!view.inDefaultVpc || !view.routed || view.isJoin || view.gatewayType !== 'centralized') return undefined;
  if (familiesOf(view).length === 0) return undefined;
  const able = gatewayCandidates(world, view).flatMap(({ node, state }) => (state === 'able' ? [node] : []));
  if (world.ask(subnetSpec, name)?.enableEcmp === true) return { nodes: able };
  const active = world.ask(activeGateway, name);
  const chosen = able.includes(active) ? active : able[0];
  return { nodes: chosen === undefined ? [] : [chosen] };
}

export interface GatewayCandidate {
  readonly node: string;
  /** `not joined`: the node has no address in the join Subnet in a family of the Subnet. */
  readonly state: 'able' | 'missing' | 'not ready' | 'not joined';
}

/** Nodes that the spec of a Subnet with a centralized gateway names or selects, in its order. */
export function gatewayCandidates(world: World, view: SubnetView): readonly GatewayCandidate[] {
  const families = familiesOf(view);
  return candidatesOf(world, view.name).map((node) => {
    if (world.ask(nodeView, node) === undefined) return { node, state: 'missing' };
    if (!world.ask(nodeReady, node)) return { node, state: 'not ready' };
    return {
      node,
      state: familiesOf(world.ask(nodeJoinAddresses, node)).some((family) => families.includes(family)) ? 'able' : 'not joined',
    };
  });
}

export const subnetCentralizedGateway: Rule = {
  name: 'subnet-centralized-gateway',
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    const gateway = world.ask(centralizedGateway, name);
    return view === undefined || gateway === undefined ? [] : centralizedRows(world, view, gateway);
  },
};

export function centralizedRows(world: World, view: SubnetView, gateway: CentralizedGateway): readonly RowOutput[] {
  return familiesOf(view).flatMap((family) => {
    const hops = gateway.nodes.flatMap((node) => {
      const nexthop = ofFamily(world.ask(nodeJoinAddresses, node), family);
      return nexthop === undefined ? [] : [[node, nexthop] as const];
    });
    if (hops.length === 0) return [];
    const match = `${prefixOf(family)}.src == ${ofFamily(view, family)?.cidr ?? ''}`;
    const policy = { priority: GATEWAY_PRIORITY, match, action: 'reroute', nexthops: hops.map(([, nexthop]) => nexthop) };
    // In Kube-OVN's format the keys are node names and `subnet`: a node of that name must not override it.
    const keys = { ...Object.fromEntries(hops), subnet: view.name };
    return [policyRow(view.vpc, policy, subnetOwner(view), 'subnet-centralized-gateway', keys)];
  });
}

/** Names override selectors. A name may have an egress address appended, which the node agent reads. */
function candidatesOf(world: World, name: string): readonly string[] {
  const spec = world.ask(subnetSpec, name);
  const named = splitList(spec?.gatewayNode ?? '').map((item) => (item.split(':', 1)[0] ?? '').trim());
  if (named.length > 0) return [...new Set(named)];
  const selectors = spec?.gatewayNodeSelectors ?? [];
  if (selectors.length === 0) return [];
  return [...world.nodes.keys()]
    .toSorted()
    .filter((node) => selectors.some((selector) => selectorMatches(selector, world.ask(nodeLabels, node))));
}

const activeGateway: Query<string> = defineQuery(
  'subnet-active-gateway',
  (world, name) => world.subnets.get(name)?.status?.activateGateway ?? '',
);

const nodeLabels: Query<Readonly<Record<string, string>>> = defineQuery(
  'node-labels',
  (world, name) => world.nodes.get(name)?.metadata.labels ?? {},
);
