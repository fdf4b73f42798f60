/**
 * Columns that Kiln never writes, and reads so that the journal has its rows whole: another program may have filled them. Source: ovn-nb(5),
 * schemas 7.0 to 7.11. What ovn-northd itself writes (`up`, `status`) comes back by itself and is left out.
 */
export const JOURNALED_COLUMNS: Readonly<Record<string, readonly string[]>> = {
  Logical_Switch: ['load_balancer_group', 'dns_records', 'copp'],
  Logical_Router: ['load_balancer_group', 'copp'],
  Logical_Router_Port: ['ha_chassis_group', 'dhcp_relay'],
  Logical_Switch_Port: ['mirror_rules', 'ha_chassis_group', 'peer'],
  Gateway_Chassis: ['options'],
  Logical_Router_Static_Route: ['selection_fields'],
  Logical_Router_Policy: ['bfd_sessions', 'chain', 'jump_chain'],
  ACL: ['sample_new', 'sample_est', 'network_function_group'],
  NAT: ['external_port_range', 'allowed_ext_ips', 'exempted_ext_ips', 'gateway_port', 'match', 'priority'],
  Load_Balancer_Health_Check: ['options'],
};
