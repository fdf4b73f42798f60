/** The requested DHCP options of a pod that its port may have if the setting `tenancy` is `namespaced`. */
import { splitList } from '../../../net/dual.ts';
import { dhcpOptionsId } from '../../../nb/tables.ts';
import type { World } from '../../../world/world.ts';
import type { DhcpProtocol } from '../../subnet/rows/subnet-dhcp.ts';
import { subnetView } from '../../subnet/validity/subnet-view.ts';
import type { PodInterface } from '../interface/pod-interface.ts';
import { annotationOf } from '../interface/pod-interface.ts';
import { isObservedAsPods } from '../interface/existing-port.ts';

export const DHCP_SUFFIX = { IPv4: 'dhcp-v4-options', IPv6: 'dhcp-v6-options' } as const;
/** The field of a Subnet for all its ports. */
export const DHCP_FIELD = { IPv4: 'spec.dhcpV4Options', IPv6: 'spec.dhcpV6Options' } as const;

/** Options that set the router, a server or the client's address. */
const EXCLUDED_OPTIONS: Readonly<Record<DhcpProtocol, ReadonlySet<string>>> = {
  IPv4: new Set([
    ...['router', 'classless_static_route', 'ms_classless_static_route', 'router_solicitation'],
    ...['server_id', 'server_mac', 'next_server', 'tftp_server', 'tftp_server_address', 'offerip'],
  ]),
  IPv6: new Set(['server_id', 'ia_addr']),
};

/** The excluded options of a pod, each with a problem. */
export function dhcpProblems(
  world: World,
  nic: PodInterface,
  subnet: string,
  protocol: DhcpProtocol,
): readonly { readonly item: string; readonly problem: string }[] {
  return itemsOf(dhcpText(nic, protocol)).flatMap((item) => {
    const name = nameOf(item);
    if (!EXCLUDED_OPTIONS[protocol].has(name) || isRouterOf(world, subnet, protocol, item)) return [];
    return [{ item, problem: `names option ${name}, and the Subnet says which router and which server its ports have` }];
  });
}

function isRouterOf(world: World, subnet: string, protocol: DhcpProtocol, item: string): boolean {
  const gateway = protocol === 'IPv4' ? world.ask(subnetView, subnet)?.v4?.gateway : undefined;
  return nameOf(item) === 'router' && gateway !== undefined && valueOf(item) === gateway;
}

function dhcpText(nic: PodInterface, protocol: DhcpProtocol): string {
  return annotationOf(nic, DHCP_SUFFIX[protocol]);
}

function itemsOf(text: string): readonly string[] {
  return splitList(text);
}

function nameOf(item: string): string {
  return (item.split('=')[0] ?? '').trim();
}

function valueOf(item: string): string {
  return item.slice(item.indexOf('=') + 1).trim();
}

/** The allowed DHCP options of a port. */
export function ownDhcpText(world: World, nic: PodInterface, subnet: string, protocol: DhcpProtocol): string {
  const text = dhcpText(nic, protocol);
  if (text === '' || world.settings.tenancy === 'open') return text;
  const excluded = dhcpProblems(world, nic, subnet, protocol).map(({ item }) => item);
  if (excluded.length === 0) return text;
  const before = optionsBefore(world, nic, subnet, protocol);
  return itemsOf(text)
    .filter((item) => !excluded.includes(item) || before.get(nameOf(item)) === valueOf(item))
    .join(',');
}

/** The DHCP options that the port has now. */
function optionsBefore(world: World, nic: PodInterface, subnet: string, protocol: DhcpProtocol): ReadonlyMap<string, string> {
  const id = dhcpOptionsId(subnet, protocol, nic.port);
  const options = isObservedAsPods(world, id, nic) ? world.rows.column(id, 'options') : undefined;
  return new Map(options instanceof Map ? [...options].map(([name, value]) => [String(name), String(value)]) : []);
}
