/** Compares with OVN's own parser, of each installed version. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findOvn } from '../../lab/programs/ovn.ts';
import { dhcpOptionProblem } from './dhcp-option.ts';
import { OvnVerdicts } from './testing/ovn-verdicts.ts';

const VALUES = [
  ...['5', '0', '-1', '70000', '4294967296', 'true', 'abc', '', '"a"', '"a.b,c.d"', '"";', '5;', '{}', '$as', '@pg', '00:00:00:2E:2F:B8'],
  ...[
    '10.0.0.1',
    '10.0.0.1/24',
    'fd00::1',
    '{10.0.0.1,10.0.0.2}',
    '{fd00::1 fd00::2}',
    '{10.0.0.1, "a"}',
    '{30.0.0.0/24,10.0.0.4,0.0.0.0/0,10.0.0.1}',
  ],
  '10.0.0.1); drop; (',
];
const NAMES = {
  4:
    'T1 T2 arp_cache_timeout broadcast_address classless_static_route default_ttl dns_server ethernet_encap ip_forward_enable lease_time ' +
    'log_server lpr_server ms_classless_static_route mtu netbios_name_server netbios_node_type netmask next_server nis_server ntp_server ' +
    'policy_filter router router_discovery router_solicitation server_id swap_server tcp_keepalive_interval tcp_ttl tftp_server_address ' +
    'bootfile_name bootfile_name_alt domain_name domain_search_list hostname path_prefix wpad tftp_server nonsense dns',
  6: 'dns_server server_id bootfile_name bootfile_name_alt domain_search fqdn nonsense lease_time',
} as const;

test('the problem of a MAC address with dashes names the dashes', () => {
  assert.equal(
    dhcpOptionProblem(4, 'server_mac', '00-00-00-2E-2F-B8'),
    'the value of server_mac is not accepted by OVN: a MAC address is written with colons',
  );
  assert.equal(dhcpOptionProblem(4, 'server_mac', '00:00:00:2E:2F:B8'), undefined);
});

test('every DHCP option with every form of value: accepted exactly if OVN accepts it', async (t) => {
  const releases = (['system', '25.03'] as const).filter((release) => findOvn(release) !== undefined);
  const all = ([4, 6] as const).flatMap((family) =>
    NAMES[family].split(' ').flatMap((name) => VALUES.map((value) => ({ family, name, value }))),
  );
  const actions = all.map(({ family, name, value }) => ({
    actions: `reg0[0] = ${family === 4 ? 'put_dhcp_opts(offerip = 10.0.0.5' : 'put_dhcpv6_opts(ia_addr = fd00::5'}, ${name} = ${value}); next;`,
  }));
  const opinions = await Promise.all(
    releases.map(async (release) => {
      await using ovn = await OvnVerdicts.start(release);
      return await ovn.verdictsOn(actions);
    }),
  );
  const wrong = all.filter(({ family, name, value }, i) => {
    const byOvn = opinions.some((opinion) => opinion[i] === undefined);
    const byUs = dhcpOptionProblem(family, name, value) === undefined;
    // An option of another OVN version is accepted.
    return byOvn !== byUs && !(byUs && releases.length === 1);
  });
  const taken = all.filter((_, i) => opinions.some((opinion) => opinion[i] === undefined)).length;
  t.diagnostic(`${all.length} options, of which OVN takes ${taken}; asked: ${releases.join(', ')}`);
  assert.ok(taken > 200 && taken < all.length);
  assert.deepEqual(wrong, []);
});
