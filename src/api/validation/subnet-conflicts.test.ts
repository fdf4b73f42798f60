import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Finding } from './finding.ts';
import { subnetConflicts, subnetUpdateFindings } from './subnet-conflicts.ts';
import type { SubnetSurroundings } from './subnet-conflicts.ts';
import { defaultSubnetSettings as settings } from '../defaults/subnet-defaults.ts';
import type { SubnetSpec } from '../kinds/subnet.ts';

const codes = (findings: readonly Finding[]): string[] => findings.map(({ code }) => code);
const conflicts = (spec: SubnetSpec, around: Omit<SubnetSurroundings, 'settings'>): string[] =>
  codes(subnetConflicts({ name: 's', spec }, { settings, ...around }));
const beside = (spec: SubnetSpec, other: SubnetSpec): string[] => conflicts(spec, { subnets: [{ name: 'other', spec: other }] });

describe('subnetConflicts', () => {
  const spec: SubnetSpec = { cidrBlock: '10.1.0.0/16' };

  test('networks of one Vpc must be apart', () => {
    assert.deepEqual(beside(spec, { cidrBlock: '10.1.128.0/17' }), ['SubnetCidrOverlap']);
    assert.deepEqual(beside(spec, { cidrBlock: '10.2.0.0/16' }), []);
    assert.deepEqual(beside(spec, { cidrBlock: '10.1.128.0/17', vpc: 'v1' }), []);
    assert.deepEqual(beside(spec, { cidrBlock: '10.1.128.0/17', vlan: 'vlan1' }), []);
  });

  test('the default Vpc is the same whether it is named or not', () => {
    assert.deepEqual(beside({ ...spec, vpc: 'ovn-cluster' }, spec), ['SubnetCidrOverlap']);
  });

  test('each family is compared', () => {
    const [a, b] = [{ cidrBlock: '10.1.0.0/16,fd00::/64' }, { cidrBlock: '10.2.0.0/16,fd00::/80' }];
    assert.deepEqual(beside(a, b), ['SubnetCidrOverlap']);
  });

  test('a Subnet does not conflict with itself', () => {
    assert.deepEqual(conflicts(spec, { subnets: [{ name: 's', spec }] }), []);
  });

  test('the sentence names the other Subnet', () => {
    const [finding] = subnetConflicts({ name: 's', spec }, { settings, subnets: [{ name: 'old', spec: { cidrBlock: '10.1.0.0/24' } }] });
    assert.match(finding?.message ?? '', /^Subnet s: spec.cidrBlock "10.1.0.0\/16" overlaps 10.1.0.0\/24 of Subnet old;/);
  });

  test('names of Vpcs are taken', () => {
    assert.deepEqual(conflicts(spec, { vpcNames: new Set(['s']) }), ['SubnetNamedAsVpc']);
    assert.deepEqual(conflicts(spec, { vpcNames: new Set(['t']) }), []);
  });

  test('API server and nodes stay reachable from the default Vpc', () => {
    const around = { apiServerAddresses: ['10.1.0.9'], nodeAddresses: [{ node: 'n1', address: '10.1.0.10' }] };
    assert.deepEqual(conflicts(spec, around), ['SubnetHoldsApiServer', 'SubnetHoldsNode']);
    assert.deepEqual(conflicts({ ...spec, vpc: 'v1' }, around), []);
    assert.deepEqual(conflicts({ ...spec, vlan: 'vlan1' }, { nodeAddresses: around.nodeAddresses }), []);
    assert.deepEqual(conflicts({ cidrBlock: '10.2.0.0/16' }, around), []);
  });

  test('namespaces of a custom Vpc', () => {
    const around = { vpc: { name: 'v1', namespaces: ['a'] } };
    assert.deepEqual(conflicts({ ...spec, vpc: 'v1', namespaces: ['a', 'b'] }, around), ['SubnetNamespaceNotOfVpc']);
    assert.deepEqual(conflicts({ ...spec, vpc: 'v1', namespaces: ['a'] }, around), []);
    assert.deepEqual(conflicts({ ...spec, namespaces: ['b'] }, { vpc: { name: 'ovn-cluster', namespaces: [] } }), []);
  });

  test('routing tables of egress gateways', () => {
    const one = { ...spec, externalEgressGateway: '172.18.0.1', policyRoutingTableID: 1001 };
    const other = { ...one, cidrBlock: '10.2.0.0/16' };
    assert.deepEqual(beside(one, other), ['SubnetRoutingTableTaken']);
    assert.deepEqual(beside(one, { ...other, policyRoutingTableID: 1002 }), []);
    assert.deepEqual(beside(one, { cidrBlock: '10.2.0.0/16', policyRoutingTableID: 1001 }), []);
  });
});

describe('subnetUpdateFindings', () => {
  const change = (before: SubnetSpec, after: SubnetSpec): string[] =>
    codes(subnetUpdateFindings({ name: 's', spec: before }, { name: 's', spec: after }, settings));
  const spec: SubnetSpec = { cidrBlock: '10.1.0.0/16', gateway: '10.1.0.1' };

  test('an underlay Subnet cannot gain or lose addresses', () => {
    assert.deepEqual(change({ ...spec, vlan: 'v' }, { vlan: 'v' }), ['SubnetCidrComesOrGoes']);
    assert.deepEqual(change({ vlan: 'v' }, { ...spec, vlan: 'v' }), ['SubnetCidrComesOrGoes']);
  });

  test('a Subnet stays in its Vpc', () => {
    assert.deepEqual(change(spec, { ...spec, vpc: 'ovn-cluster' }), []);
    assert.deepEqual(change(spec, { ...spec, vpc: 'v1' }), ['SubnetVpcChanged']);
    assert.deepEqual(change({ ...spec, vpc: 'v1' }, spec), ['SubnetVpcChanged']);
  });
});
