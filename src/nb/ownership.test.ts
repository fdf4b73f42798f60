import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ParentRow, Ownership } from './ownership.ts';
import { mayAdopt, OWNER_KEY, ownershipOf, UID_KEY } from './ownership.ts';

const OURS: Ownership = { kind: 'ours', owner: 'vpc//v1', uid: 'u', rule: '' };
const LEGACY: Ownership = { kind: 'legacy' };
const NEUTRON: Ownership = { kind: 'foreign', family: 'neutron' };
const UNKNOWN: Ownership = { kind: 'foreign', family: 'unknown' };

function keys(held: Readonly<Record<string, string>>): ReadonlyMap<string, string> {
  return new Map(Object.entries(held));
}

function inside(ownership: Ownership, wasAdopted = false): readonly ParentRow[] {
  return [{ name: 'v1', ownership, wasAdopted }];
}

function kindOf(table: string, held: Readonly<Record<string, string>>, parents: readonly ParentRow[] = []): string {
  const ownership = ownershipOf(keys(held), { table, parents });
  return ownership.kind === 'foreign' ? ownership.family : ownership.kind;
}

test('the keys of vendor and owner count before all else', () => {
  assert.equal(kindOf('NAT', { vendor: 'kube-ovn', [OWNER_KEY]: 'vpc//v1', [UID_KEY]: 'u' }, inside(NEUTRON)), 'ours');
  assert.equal(kindOf('NAT', { vendor: 'kube-ovn' }, inside(NEUTRON)), 'legacy');
  assert.equal(kindOf('NAT', { vendor: 'other' }, inside(LEGACY)), 'unknown');
});

for (const table of ['ACL', 'Gateway_Chassis', 'Logical_Router_Policy', 'Logical_Router_Static_Route']) {
  test(`a ${table} without keys is Kube-OVN's in a legacy row that was not adopted yet, and nowhere else`, () => {
    assert.equal(kindOf(table, {}, inside(LEGACY)), 'legacy');
    assert.equal(kindOf(table, {}, inside(LEGACY, true)), 'unknown');
    assert.equal(kindOf(table, {}, inside(OURS, true)), 'unknown');
    assert.equal(kindOf(table, {}, inside(UNKNOWN)), 'unknown');
    assert.equal(kindOf(table, {}, inside(NEUTRON)), 'unknown');
    assert.equal(kindOf(table, {}), 'unknown');
  });
}

test("a NAT row without keys is Kube-OVN's in each row with its vendor key: no release writes a key into NAT rows", () => {
  for (const parents of [inside(LEGACY), inside(LEGACY, true), inside(OURS, true)]) assert.equal(kindOf('NAT', {}, parents), 'legacy');
  for (const parents of [inside(UNKNOWN), inside(NEUTRON), []]) assert.equal(kindOf('NAT', {}, parents), 'unknown');
  assert.equal(kindOf('NAT', { 'neutron:fip_id': 'x' }, inside(OURS, true)), 'neutron');
  assert.equal(kindOf('NAT', { 'k8s.ovn.org/name': 'x' }, inside(OURS, true)), 'ovn-kubernetes');
  assert.equal(kindOf('NAT', { owner: 'me' }, inside(OURS, true)), 'unknown');
});

test("a row with another program's key is that program's, in whatever row of Kube-OVN", () => {
  assert.equal(kindOf('ACL', { 'neutron:security_group_rule_id': 'x' }, inside(LEGACY)), 'neutron');
  assert.equal(kindOf('Logical_Router_Static_Route', { 'ic-learned-route': 'x' }, inside(LEGACY)), 'ovn-ic');
  assert.equal(kindOf('ACL', { 'k8s.ovn.org/name': 'x', parent: 'v1' }, inside(LEGACY)), 'ovn-kubernetes');
  assert.equal(kindOf('ACL', { owner: 'me' }, inside(LEGACY)), 'unknown');
  assert.equal(kindOf('Port_Group', { np: 'a/b', 'neutron:x': 'y' }), 'neutron');
});

test('ports, switches and routers without keys are foreign', () => {
  for (const table of ['Logical_Switch_Port', 'Logical_Router_Port', 'QoS', 'Forwarding_Group'])
    assert.equal(kindOf(table, {}, inside(LEGACY)), 'unknown');
  for (const table of ['Logical_Switch', 'Logical_Router', 'Load_Balancer', 'Port_Group', 'Address_Set'])
    assert.equal(kindOf(table, {}), 'unknown');
});

test("a row that names the vendor row which contains it is Kube-OVN's also when that was adopted", () => {
  for (const key of ['parent', 'subnet', 'lrp']) {
    assert.equal(kindOf('ACL', { [key]: 'v1' }, inside(OURS, true)), 'legacy');
    assert.equal(kindOf('ACL', { [key]: 'other' }, inside(OURS, true)), 'unknown');
    assert.equal(kindOf('ACL', { [key]: 'v1' }, inside(NEUTRON)), 'unknown');
  }
});

test('port groups and address sets are recognised by the keys that only Kube-OVN writes', () => {
  for (const table of ['Port_Group', 'Address_Set'])
    for (const key of ['np', 'sg', 'anp', 'banp', 'cnp']) assert.equal(kindOf(table, { [key]: 'x' }), 'legacy');
  assert.equal(kindOf('Port_Group', { type: 'security_group', sg: 'a', name: 'a' }), 'legacy');
  assert.equal(kindOf('Port_Group', { type: 'security_group' }), 'unknown');
  assert.equal(kindOf('Load_Balancer', { np: 'x' }), 'unknown');
});

test('a row without keys that a rule emits is adopted in a row of ours, or where a status names it', () => {
  assert.equal(mayAdopt(keys({}), { table: 'NAT', parents: inside(OURS) }, false), true);
  assert.equal(mayAdopt(keys({}), { table: 'NAT', parents: inside(NEUTRON) }, false), false);
  assert.equal(mayAdopt(keys({ owner: 'me' }), { table: 'NAT', parents: inside(OURS) }, false), false);
  assert.equal(mayAdopt(keys({}), { table: 'Logical_Switch_Port', parents: inside(OURS) }, false), false);
  assert.equal(mayAdopt(keys({}), { table: 'Load_Balancer', parents: [] }, true), true);
  assert.equal(mayAdopt(keys({ owner: 'me' }), { table: 'Load_Balancer', parents: [] }, true), false);
  assert.equal(mayAdopt(undefined, { table: 'Load_Balancer', parents: [] }, false), false);
});
