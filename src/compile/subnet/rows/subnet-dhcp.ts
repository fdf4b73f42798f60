/** DHCP_Options of a Subnet, one row for each family: OVN itself answers its ports. Options of the spec override the defaults. */
import { parseOptions } from '../../../api/values/option-text.ts';
import { parseMac } from '../../../net/mac.ts';
import type { Mac } from '../../../net/mac.ts';
import type { RowId } from '../../../nb/row-id.ts';
import { dhcpOptionsId } from '../../../nb/tables.ts';
import { keysOf } from '../../../engine/domain.ts';
import { hasLostOwnershipKeys } from '../../../world/lost-ownership-keys.ts';
import type { World } from '../../../world/world.ts';
import type { Rule } from '../../rule.ts';
import { rowMac, macExternalId } from '../../row-mac.ts';
import type { RowOutput } from '../../output.ts';
import { gatewayOfPorts } from './subnet-interconnection.ts';
import { emittedSubnet, subnetRows } from '../validity/subnet-state.ts';
import { mtuInEffect } from '../validity/mtu-under-pods.ts';
import type { SubnetView } from '../validity/subnet-view.ts';
import { subnetOwner, subnetSpec } from '../validity/subnet-view.ts';
import { isOurs } from '../../vpc/vpc-view.ts';

const RULE = 'subnet-dhcp';
const LEASE_SECONDS = '3600';
/** Link-local, so that no Subnet has it. */
const SERVER = '169.254.0.254';
const ETHERNET_MTU = 1500;
/** Overhead of the encapsulation, in bytes per packet. */
const TUNNEL_BYTES = { geneve: 100, vxlan: 50, stt: 72 } as const;

export type DhcpProtocol = 'IPv4' | 'IPv6';

/** The row that ports of the Subnet refer to; undefined if it has none and will get none. */
export function subnetDhcpRow(world: World, view: SubnetView, protocol: DhcpProtocol): RowId | undefined {
  const id = dhcpOptionsId(view.name, protocol);
  // For a frozen Subnet the existing row counts, not the spec.
  if (world.ask(subnetRows, view.name) === 'frozen') return isThere(world, view, protocol) ? id : undefined;
  return view.enableDHCP && (protocol === 'IPv4' ? view.v4 : view.v6) !== undefined ? id : undefined;
}

/** Also a row that lost its ownership keys: ports keep it until these are restored. */
function isThere(world: World, view: SubnetView, protocol: DhcpProtocol): boolean {
  const [id, owner] = [dhcpOptionsId(view.name, protocol), subnetOwner(view)];
  return isOurs(world, id, owner) || hasLostOwnershipKeys(world.rows, { id, owner, externalIds: externalIdsOf(view.name, protocol) });
}

function externalIdsOf(ls: string, protocol: DhcpProtocol): Readonly<Record<string, string>> {
  return { ls, protocol };
}

export const subnetDhcp: Rule = {
  name: RULE,
  over: (world) => keysOf(world.subnets),
  run: (world, name) => {
    const view = emittedSubnet(world, name);
    return view === undefined ? [] : dhcpRows(world, view);
  },
};

export function dhcpRows(world: World, view: SubnetView): readonly RowOutput[] {
  if (!view.isOvn || !view.enableDHCP) return [];
  const { name } = view;
  const spec = world.ask(subnetSpec, name);
  const owner = subnetOwner(view);
  const rows: RowOutput[] = [];
  const add = (protocol: DhcpProtocol, cidr: string, text = ''): void => {
    const id = dhcpOptionsId(name, protocol);
    const options = dhcpOptions(world, view, protocol, id, text);
    const mac = macExternalId(id, serverMac(world, protocol, id));
    rows.push({
      kind: 'row',
      id,
      owner,
      rule: RULE,
      columns: { cidr, options },
      externalIds: { ...externalIdsOf(name, protocol), ...mac },
    });
  };
  if (view.v4 !== undefined) add('IPv4', view.v4.cidr, spec?.dhcpV4Options);
  if (view.v6 !== undefined) add('IPv6', view.v6.cidr, spec?.dhcpV6Options);
  return rows;
}

/** The MACs of the Subnet's DHCP servers: no port may have one of them. */
export function dhcpServerMacs(world: World, view: SubnetView): readonly Mac[] {
  const texts = dhcpRows(world, view).flatMap(({ columns: { options } }) => {
    const { server_mac: v4, server_id: v6 } = options as Readonly<Record<string, string | undefined>>;
    return [v4 ?? v6 ?? ''];
  });
  return [...new Set(texts.flatMap((text) => parseMac(text) ?? []))];
}

/**
 * The defaults, overridden by the user's options.
 * @param id the row, which keeps the MAC of its server
 */
export function dhcpOptions(
  world: World,
  view: SubnetView,
  protocol: DhcpProtocol,
  id: RowId,
  text: string,
): Readonly<Record<string, string>> {
  if (protocol === 'IPv6') return { server_id: serverMac(world, protocol, id), ...parseOptions(text, 'DHCPv6') };
  return {
    lease_time: LEASE_SECONDS,
    router: gatewayOfPorts(world, view, 4),
    server_id: SERVER,
    server_mac: serverMac(world, protocol, id),
    mtu: String(mtuOf(world, view)),
    ...parseOptions(text, 'DHCPv4'),
  };
}

function serverMac(world: World, protocol: DhcpProtocol, id: RowId): Mac {
  return rowMac(world, id, 'options', protocol === 'IPv6' ? 'server_id' : 'server_mac');
}

function mtuOf(world: World, { name, vlan }: SubnetView): number {
  const mtu = mtuInEffect(world, name);
  if (mtu > 0) return mtu;
  return vlan === '' ? ETHERNET_MTU - TUNNEL_BYTES[world.settings.networkType] : ETHERNET_MTU;
}
