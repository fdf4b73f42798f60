/** DHCP options of all supported OVN versions (ovn-nb(5), DHCP_Options), and whether a value is valid for one. */
import { valueProblem } from './match-problem.ts';

type ValueKind = 'number' | 'string' | 'any';

const words = (text: string): readonly string[] => text.split(/\s+/);

function* kinds(names: Readonly<Partial<Record<ValueKind, string>>>): Iterable<readonly [string, ValueKind]> {
  for (const [kind, list] of Object.entries(names)) for (const name of words(list)) yield [name, kind as ValueKind];
}

/** By family; `server_mac` is no option on the wire, but the MAC that OVN answers with. */
const OPTIONS = {
  4: new Map(
    kinds({
      number: `T1 T2 arp_cache_timeout broadcast_address classless_static_route default_ttl dns_server ethernet_encap ip_forward_enable lease_time
        log_server lpr_server ms_classless_static_route mtu netbios_name_server netbios_node_type netmask next_server nis_server ntp_server offerip
        policy_filter router router_discovery router_solicitation server_id server_mac swap_server tcp_keepalive_interval tcp_ttl
        tftp_server_address`,
      string: 'bootfile_name bootfile_name_alt domain_name domain_search_list hostname path_prefix wpad',
      any: 'tftp_server',
    }),
  ),
  6: new Map(
    kinds({
      number: 'dns_server ia_addr server_id',
      string: 'bootfile_name bootfile_name_alt domain_search fqdn',
      any: 'dhcpv6_stateless',
    }),
  ),
} as const;

const DASHED_MAC = /^[0-9a-f]{2}(?:-[0-9a-f]{2}){5}$/i;

/** The value in OVN's syntax: a list in braces, a quoted string. */
export function dhcpOptionValue(family: 4 | 6, name: string, text: string): string {
  if (OPTIONS[family].get(name) === 'string') return /^[\w.:/-]+$/.test(text) ? `"${text}"` : text;
  return text.includes(',') && !/^[{"]/.test(text) ? `{${text}}` : text;
}

/**
 * Why an option is invalid, or undefined. With one invalid option OVN answers no DHCP request of the Subnet.
 * @param value in OVN's syntax: a list in braces, with commas
 */
export function dhcpOptionProblem(family: 4 | 6, name: string, value: string): string | undefined {
  const kind = OPTIONS[family].get(name);
  if (kind === undefined) return `no DHCPv${family} option of OVN is named ${name}`;
  if (DASHED_MAC.test(value)) return `the value of ${name} is not accepted by OVN: a MAC address is written with colons`;
  const wrong = valueProblem(value, name === 'dhcpv6_stateless' ? 'any' : kind);
  return wrong === undefined ? undefined : `the value of ${name} is not accepted by OVN: ${wrong.problem}`;
}
