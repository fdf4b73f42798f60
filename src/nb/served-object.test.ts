import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { LegacyRow } from './served-object.ts';
import { servedObject } from './served-object.ts';

function row(table: string, name: string, keys: Readonly<Record<string, string>> = {}, parent?: LegacyRow): LegacyRow {
  return { table, name, externalIds: new Map(Object.entries(keys)), ...(parent !== undefined && { parent }) };
}

function served(...args: Parameters<typeof row>): string {
  const found = servedObject(row(...args));
  return found === undefined ? '-' : [found.owner, ...(found.node === '' ? [] : [found.node])].join(' on ');
}

const ROUTER = row('Logical_Router', 'v1', { vendor: 'kube-ovn' });
const SWITCH = row('Logical_Switch', 's1', { vendor: 'kube-ovn' });

test('what a router contains serves its Vpc, unless a key names another object', () => {
  for (const table of ['Logical_Router_Static_Route', 'NAT', 'Logical_Router_Policy'])
    assert.equal(served(table, '', {}, ROUTER), 'vpc//v1');
  assert.equal(served('Logical_Router_Policy', '', { subnet: 's1' }, ROUTER), 'subnet//s1');
  assert.equal(served('Logical_Router_Policy', '', { subnet: 's1', node: 'n1' }, ROUTER), 'subnet//s1 on n1');
  assert.equal(served('Logical_Router_Policy', '', { node: 'n1', 'address-family': '4' }, ROUTER), 'node//n1');
  assert.equal(served('Logical_Router_Port', 'v1-s1', {}, ROUTER), 'subnet//s1');
  assert.equal(served('Logical_Router_Port', 'bfd@v1', {}, ROUTER), 'vpc//v1');
  assert.equal(served('Gateway_Chassis', '', {}, row('Logical_Router_Port', 'v1-external', {}, ROUTER)), 'subnet//external');
});

test('groups and sets serve what their keys name, and ACLs what their group does', () => {
  const group = row('Port_Group', 'node.n1', { np: 'node/n1' });
  assert.equal(served('Port_Group', 'node.n1', { np: 'node/n1' }), 'node//n1');
  assert.equal(served('ACL', '', { parent: 'node.n1' }, group), 'node//n1');
  assert.equal(served('Port_Group', 'my.net.n.1', { np: 'my-net/n-1' }), 'subnet//my-net on n-1');
  assert.equal(served('Port_Group', 'web.shop', { np: 'shop/web' }), 'networkpolicy/shop/web');
  assert.equal(served('Port_Group', 'np1web.shop', { np: 'shop/1web' }), 'networkpolicy/shop/1web');
  assert.equal(served('Address_Set', 'web.shop.ingress.allow.IPv4.0', { np: 'shop/web/ingress' }), 'networkpolicy/shop/web');
  assert.equal(served('Port_Group', 'ovn.sg.a', { sg: 'a', type: 'security_group' }), 'securitygroup//a');
  assert.equal(served('ACL', '', {}, row('Port_Group', 'ovn.sg.a', { sg: 'a' })), 'securitygroup//a');
  assert.equal(served('ACL', '', { parent: 's1' }, SWITCH), 'subnet//s1');
  assert.equal(served('Address_Set', 'v1.u2o_overlay_cidrs.ip4', { vpc: 'v1', vendor: 'kube-ovn' }), 'vpc//v1');
  assert.equal(served('Address_Set', 'unknown', { vendor: 'kube-ovn' }), '-');
});

test('load balancers and chassis groups serve what they are named after', () => {
  assert.equal(served('Load_Balancer', 'vpc-my-vpc-tcp-sess-load'), 'vpc//my-vpc');
  assert.equal(served('Load_Balancer', 'vpc-v1-sctp-load'), 'vpc//v1');
  assert.equal(served('Load_Balancer', 'cluster-tcp-session-loadbalancer'), '-');
  assert.equal(served('Load_Balancer', 'my-dnat'), 'ovndnatrule//my-dnat');
  assert.equal(served('HA_Chassis_Group', 'bfd@v1'), 'vpc//v1');
  assert.equal(served('HA_Chassis_Group', 'another'), '-');
});

test('options of one port, ports and switches are of no object here', () => {
  assert.equal(served('DHCP_Options', '', { ls: 's1', protocol: 'IPv4' }), 'subnet//s1');
  assert.equal(served('DHCP_Options', '', { ls: 's1', protocol: 'IPv4', port: 'a.b' }), '-');
  for (const table of ['Logical_Switch', 'Logical_Router', 'Logical_Switch_Port']) assert.equal(served(table, 's1', {}, SWITCH), '-');
});
