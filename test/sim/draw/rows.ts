/** Draws changes of rows. */
import type { Operation, RowChange } from '../steps/step.ts';
import type { Random } from '../cluster/random.ts';

export const KEYS: RowChange = { kind: 'keys', column: 'external_ids', keys: { drifted: 'yes', 'neutron:port_name': 'theirs' } };
const EMPTY = ['set', []];

export function set(columns: Extract<RowChange, { readonly kind: 'set' }>['columns']): RowChange {
  return { kind: 'set', columns };
}

/** By table: possible changes to a row, beside deletion, duplication and removal of its row owner. */
const CHANGES: Readonly<Record<string, readonly RowChange[]>> = {
  Logical_Switch_Port: [
    set({ addresses: 'unknown' }),
    set({ port_security: '00:00:00:00:00:09' }),
    set({ dhcpv4_options: EMPTY }),
    set({ enabled: false }),
    set({ tag: 7 }),
    { kind: 'keys', column: 'options', keys: { 'requested-chassis': 'n9' } },
    KEYS,
  ],
  Address_Set: [],
  Gateway_Chassis: [],
  // Not the networks: they alone show which network is in effect while the spec asks for another one.
  Logical_Router_Port: [set({ mac: '0a:00:00:00:0d:01' }), set({ enabled: false }), set({ ipv6_prefix: '2001:db8::/64' }), KEYS],
  Logical_Switch: [
    { kind: 'keys', column: 'other_config', keys: { mcast_snoop: 'true' } },
    { kind: 'clear-members', column: 'load_balancer' },
    { kind: 'clear-members', column: 'acls' },
    { kind: 'put', column: 'ports', of: 'Logical_Switch_Port', at: 5 },
    KEYS,
  ],
  Logical_Router: [
    set({ options: ['map', []] }),
    set({ enabled: false }),
    { kind: 'put', column: 'policies', of: 'Logical_Router_Policy', at: 9 },
    { kind: 'put', column: 'static_routes', of: 'Logical_Router_Static_Route', at: 3 },
    { kind: 'clear-members', column: 'policies' },
    KEYS,
  ],
  Logical_Router_Policy: [set({ action: 'drop', nexthops: EMPTY }), set({ nexthops: ['set', ['10.250.0.1', '10.250.0.2']] }), KEYS],
  Logical_Router_Static_Route: [set({ route_table: 'drifted' }), set({ nexthop: '10.250.0.1' }), KEYS],
  Port_Group: [
    { kind: 'clear-members', column: 'ports' },
    { kind: 'put', column: 'ports', of: 'Logical_Switch_Port', at: 3 },
    { kind: 'put', column: 'ports', of: 'Logical_Switch_Port', at: 8 },
    KEYS,
  ],
  ACL: [set({ log: true, severity: 'debug' }), set({ action: 'reject' })],
  DHCP_Options: [set({ options: ['map', []] }), { kind: 'keys', column: 'options', keys: { mtu: '576' } }],
  Load_Balancer: [set({ protocol: 'sctp' }), KEYS],
};

/** A user's change to a row of ours with ovn-nbctl. */
export function drawRowChange(random: Random): Operation {
  const table = random.pick(Object.keys(CHANGES));
  const whole: RowChange = { kind: random.pick(['delete', 'delete', 'duplicate', 'forget-owner']) };
  return {
    do: 'row',
    table,
    place: random.below(60),
    change: random.chance(0.5) ? whole : random.pick([whole, ...(CHANGES[table] ?? [])]),
  };
}
