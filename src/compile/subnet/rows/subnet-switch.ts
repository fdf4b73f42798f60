/**
 * The Logical_Switch of a Subnet and its link to the router of its Vpc: a port of type router on the switch, a port with the
 * gateway's addresses on the router.
 */
import { parseOptions } from '../../../api/values/option-text.ts';
import { routerToSwitchPort, switchToRouterPort } from '../../../api/names.ts';
import { familiesOf, ofFamily } from '../../../net/dual.ts';
import { MTU_KEY } from '../../../nb/ownership.ts';
import { SWITCH_CONFIG } from '../../../nb/tables.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { identityOf, rowId } from '../../../nb/row-id.ts';
import { keysOf } from '../../../engine/domain.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import { rowMac, macExternalId } from '../../row-mac.ts';
import type { RowOwner, ColumnValue, RowOutput } from '../../output.ts';
import { isLinkedByAnother, mayLink } from '../../port-link.ts';
import { mtuInEffect } from '../validity/mtu-under-pods.ts';
import { emittedSubnet } from '../validity/subnet-state.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, subnetSpec, switchId } from '../validity/subnet-view.ts';
import { isOurs, routerId } from '../../vpc/vpc-view.ts';

const RULE = 'subnet-switch';
const ROUTER_ADVERTISEMENT = 'address_mode=dhcpv6_stateful,max_interval=30,min_interval=5,send_periodic=true';

export const subnetSwitch: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    if (view === undefined || !view.isOvn) return [];
    const owner = subnetOwner(view);
    if (!hasRouterPort(view)) return [switchRow(world, view)];
    const port = switchToRouterPort(name, view.vpc);
    const id = routerPortId(view);
    const link = rowId('Logical_Switch_Port', port);
    // Never two switches behind one router port: another Subnet that links to a port of this name drops its link first.
    const waits = world.rows.state(id) === undefined && isLinkedByAnother(world, id, name);
    const linked = !waits && mayLink(world, id, owner, () => isOurs(world, link, owner));
    return [switchRow(world, view), ...(linked ? [linkRow(owner, name, port, identityOf(id))] : []), routerPortRow(world, view)];
  },
};

export function switchRow(world: World, view: SubnetView): RowOutput {
  const { name } = view;
  const externalIds = { [MTU_KEY]: String(mtuInEffect(world, name)) };
  const columns = { name, other_config: snooping(world, name) };
  return { kind: 'row', id: switchId(name), owner: subnetOwner(view), rule: RULE, columns, externalIds };
}

/** Multicast snooping is not implemented: where the Subnet requests it, what Kube-OVN set stays. */
function snooping(world: World, subnet: string): Readonly<Record<string, string>> {
  if (world.ask(subnetSpec, subnet)?.enableMulticastSnoop !== true) return {};
  const held = world.rows.column(switchId(subnet), 'other_config');
  return held instanceof Map
    ? Object.fromEntries(SWITCH_CONFIG.flatMap((key) => (held.has(key) ? [[key, String(held.get(key))]] : [])))
    : {};
}

/** The router port of a Subnet that has one (`hasRouterPort`). */
export function routerPortRow(world: World, view: SubnetView): RowOutput {
  const id = routerPortId(view);
  const mac = rowMac(world, id, 'mac');
  return {
    kind: 'row',
    id,
    owner: subnetOwner(view),
    rule: RULE,
    parent: { id: routerId(view.vpc), column: 'ports' },
    columns: {
      name: identityOf(id),
      mac,
      networks: networksOf(view),
      options: view.routeTable === '' ? {} : { route_table: view.routeTable },
      ...advertisement(world, view),
    },
    externalIds: { lr: view.vpc, ...macExternalId(id, mac) },
  };
}

export function hasRouterPort({ isOvn, routed, protocol }: SubnetView): boolean {
  return isOvn && routed && protocol !== 'Mac';
}

/** The router's end of a Subnet's link. */
export function routerPortId(view: Pick<SubnetView, 'vpc' | 'name'>): RowId {
  return rowId('Logical_Router_Port', routerToSwitchPort(view.vpc, view.name));
}

/** The switch's end of the link. @param name of this port @param routerPort name of the other end */
export function linkRow(owner: RowOwner, subnet: string, name: string, routerPort: string): RowOutput {
  return {
    kind: 'row',
    id: rowId('Logical_Switch_Port', name),
    owner,
    rule: RULE,
    parent: { id: switchId(subnet), column: 'ports' },
    columns: {
      name,
      type: 'router',
      addresses: ['router'],
      options: { 'router-port': routerPort },
      dhcpv4_options: null,
      dhcpv6_options: null,
    },
    externalIds: { ls: subnet },
  };
}

/** The gateway of each family with the prefix length of its network. */
function networksOf(view: SubnetView): string[] {
  return familiesOf(view).flatMap((family) => {
    const network = ofFamily(view, family);
    return network === undefined ? [] : [network.gateway + network.cidr.slice(network.cidr.indexOf('/'))];
  });
}

function advertisement(world: World, view: SubnetView): Record<string, ColumnValue> {
  const spec = world.ask(subnetSpec, view.name);
  if (spec?.enableIPv6RA !== true || view.v6 === undefined) return { ipv6_prefix: [], ipv6_ra_configs: {} };
  const { cidr } = view.v6;
  const text = (spec.ipv6RAConfigs ?? '').trim();
  return {
    ipv6_prefix: [cidr.slice(cidr.indexOf('/') + 1)],
    ipv6_ra_configs: parseOptions(text === '' ? ROUTER_ADVERTISEMENT : text, 'RA'),
  };
}
