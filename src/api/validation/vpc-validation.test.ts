import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { vpcFindings, vpcNamedAsSubnet } from './vpc-validation.ts';
import type { PolicyRoute, StaticRoute, VpcPeering, VpcSpec } from '../kinds/vpc.ts';

const found = (spec: VpcSpec): string[] => vpcFindings({ name: 'v1', spec }).map(({ field }) => field);
const staticRoute = (route: StaticRoute): string[] =>
  found({ staticRoutes: [{ cidr: '0.0.0.0/0', nextHopIP: '10.0.0.1', ...route }] }).map((field) =>
    field.replace('spec.staticRoutes[0].', ''),
  );
const policyRoute = (route: PolicyRoute): string[] =>
  found({ policyRoutes: [{ action: 'allow', match: 'ip4', priority: 1, ...route }] }).map((field) =>
    field.replace('spec.policyRoutes[0].', ''),
  );
const peering = (link: VpcPeering): string[] =>
  found({ vpcPeerings: [{ remoteVpc: 'v2', localConnectIP: '169.254.0.1/30', ...link }] }).map((field) =>
    field.replace('spec.vpcPeerings[0].', ''),
  );

describe('vpcFindings', () => {
  test('an empty Vpc is valid', () => assert.deepEqual(found({}), []));

  test('static routes', () => {
    assert.deepEqual(staticRoute({}), []);
    assert.deepEqual(staticRoute({ policy: 'policySrc', cidr: '10.1.0.5' }), []);
    assert.deepEqual(staticRoute({ cidr: '::/0', nextHopIP: 'fd00::1' }), []);
    assert.deepEqual(staticRoute({ policy: 'src' }), ['policy']);
    assert.deepEqual(staticRoute({ cidr: '10.1.0.0/33' }), ['cidr']);
    assert.deepEqual(staticRoute({ cidr: '' }), ['cidr']);
    assert.deepEqual(staticRoute({ nextHopIP: '10.0.0.1,10.0.0.2' }), ['nextHopIP']);
    assert.deepEqual(staticRoute({ nextHopIP: 'fd00::1' }), ['nextHopIP']);
    assert.deepEqual(staticRoute({ bfdId: 'x' }), ['bfdId']);
    assert.deepEqual(staticRoute({ routeTable: 'red\udc00' }), ['routeTable']);
    assert.deepEqual(staticRoute({ bfdId: '6b1e9a46-44e4-4a8f-9d6a-8a43a7a5f0cd' }), []);
  });

  test('a route is given once, however it is written; next hops and tables make a difference', () => {
    const route = { cidr: '10.1.0.5', nextHopIP: '10.0.0.1' };
    const twice = (other: StaticRoute): string[] => found({ staticRoutes: [route, { ...route, ...other }] });
    assert.deepEqual(twice({ cidr: '10.1.0.5/32', policy: 'policyDst' }), ['spec.staticRoutes[1].cidr']);
    assert.deepEqual(twice({ nextHopIP: '10.0.0.2' }), []);
    assert.deepEqual(twice({ routeTable: 't' }), []);
    assert.deepEqual(twice({ policy: 'policySrc' }), []);
  });

  test('policy routes', () => {
    assert.deepEqual(policyRoute({}), []);
    assert.deepEqual(policyRoute({ action: 'reroute', nextHopIP: '10.0.0.1,10.0.0.2' }), []);
    assert.deepEqual(policyRoute({ action: 'reroute' }), ['nextHopIP']);
    assert.deepEqual(policyRoute({ action: 'reroute', nextHopIP: '10.0.0.1,x' }), ['nextHopIP']);
    assert.deepEqual(policyRoute({ action: 'reroute', nextHopIP: '10.0.0.1,fd00::1' }), ['nextHopIP']);
    assert.deepEqual(policyRoute({ action: 'drop', nextHopIP: 'ignored' }), []);
    assert.deepEqual(policyRoute({ action: 'deny' }), ['action']);
    assert.deepEqual(policyRoute({ match: ' ' }), ['match']);
    assert.deepEqual(policyRoute({ match: 'ip4\0' }), ['match']);
    assert.deepEqual(policyRoute({ priority: 32_768 }), ['priority']);
    assert.deepEqual(policyRoute({ priority: -1 }), ['priority']);
  });

  test('a router has one policy of a priority and match', () => {
    const route = { action: 'allow', match: 'ip4', priority: 1 };
    assert.deepEqual(found({ policyRoutes: [route, { ...route, action: 'drop' }] }), ['spec.policyRoutes[1].match']);
    assert.deepEqual(found({ policyRoutes: [route, { ...route, priority: 2 }] }), []);
  });

  test('peerings', () => {
    assert.deepEqual(peering({}), []);
    assert.deepEqual(peering({ localConnectIP: '169.254.0.1/30,fd00::1/126' }), []);
    assert.deepEqual(peering({ localConnectIP: '169.254.0.1' }), ['localConnectIP']);
    assert.deepEqual(peering({ localConnectIP: '' }), ['localConnectIP']);
    assert.deepEqual(peering({ localConnectIP: '169.254.0.1/30,169.254.0.5/30' }), ['localConnectIP']);
    assert.deepEqual(peering({ remoteVpc: '' }), ['remoteVpc']);
    assert.deepEqual(peering({ remoteVpc: 'v1' }), ['remoteVpc']);
    const link = { remoteVpc: 'v2', localConnectIP: '169.254.0.1/30' };
    assert.deepEqual(found({ vpcPeerings: [link, link] }), ['spec.vpcPeerings[1].remoteVpc']);
  });

  test('BFD port', () => {
    assert.deepEqual(found({ bfdPort: { enabled: true, ip: '10.0.0.1,fd00::1' } }), []);
    assert.deepEqual(found({ bfdPort: { enabled: false } }), []);
    assert.deepEqual(found({ bfdPort: { enabled: true } }), ['spec.bfdPort.ip']);
    assert.deepEqual(found({ bfdPort: { nodeSelector: { matchExpressions: [{ key: 'a', operator: 'Gt', values: ['1'] }] } } }), [
      'spec.bfdPort.nodeSelector',
    ]);
  });
});

test('a Vpc is not named as a Subnet', () => {
  assert.match(vpcNamedAsSubnet('s1').message, /^Vpc s1: metadata.name "s1" is also the name of a Subnet; /);
});
