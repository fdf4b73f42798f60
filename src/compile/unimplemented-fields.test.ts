import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ipPoolKind } from '../api/kinds/ip-pool.ts';
import { ipKind } from '../api/kinds/ip.ts';
import { iptablesEipKind } from '../api/kinds/iptables-eip.ts';
import type { Kind } from '../api/schema/kind.ts';
import { ovnEipKind } from '../api/kinds/ovn-eip.ts';
import { subnetKind } from '../api/kinds/subnet.ts';
import { vipKind } from '../api/kinds/vip.ts';
import { vpcKind } from '../api/kinds/vpc.ts';
import { PodScene } from '../testing/pod-scene.ts';
import { conditionsOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';

interface Fields {
  readonly kind: Kind<unknown, unknown>;
  /** A rule reads it, or the node agent does. */
  readonly implemented: string;
  /** Reported on the object when it is set, each with such a value. */
  readonly reported: Readonly<Record<string, unknown>>;
  /** Other fields that the object needs. */
  readonly base: object;
}

const KINDS: Readonly<Partial<Record<ResourceName, Fields>>> = {
  vpcs: {
    kind: vpcKind,
    implemented:
      'bfdPort defaultSubnet enableBfd enableExternal extraExternalSubnets namespaces policyRoutes.action policyRoutes.match policyRoutes.nextHopIP policyRoutes.priority staticRoutes.bfdId staticRoutes.cidr staticRoutes.ecmpMode staticRoutes.nextHopIP staticRoutes.policy staticRoutes.routeTable vpcPeerings.localConnectIP vpcPeerings.remoteVpc',
    reported: {},
    base: {},
  },
  subnets: {
    kind: subnetKind,
    implemented:
      'acls allowEWTraffic allowSubnets cidrBlock default dhcpV4Options dhcpV6Options disableGatewayCheck disableInterConnection enableDHCP enableEcmp enableIPv6RA enableLb excludeIps externalEgressGateway gateway gatewayNode gatewayNodeSelectors gatewayType ipv6RAConfigs logicalGateway mtu namespaceSelectors namespaces natOutgoing natOutgoingPolicyRules policyRoutingPriority policyRoutingTableID private protocol provider routeTable u2oFeatures u2oInterconnection u2oInterconnectionIP vips vlan vpc',
    reported: {
      enableExternalLBAddress: true,
      enableMulticastSnoop: true,
      nodeNetwork: 'default',
    },
    base: { cidrBlock: '10.110.0.0/24' },
  },
  ips: {
    kind: ipKind,
    implemented: 'ipAddress macAddress namespace nodeName podName podType subnet v4IpAddress v6IpAddress',
    reported: { attachIps: ['10.0.0.1'], attachMacs: ['00:00:00:00:00:01'], attachSubnets: ['other'], containerID: 'c1' },
    base: { subnet: 'ovn-default', podName: 'kept', namespace: 'shop' },
  },
  ippools: { kind: ipPoolKind, implemented: 'enableAddressSet ips namespaces subnet', reported: {}, base: {} },
  vips: {
    kind: vipKind,
    implemented: 'macAddress namespace selector subnet type v4ip v6ip',
    reported: { attachSubnets: ['other'] },
    base: { subnet: 'ovn-default' },
  },
  'ovn-eips': {
    kind: ovnEipKind,
    implemented: 'externalSubnet macAddress type v4Ip v6Ip',
    reported: {},
    base: {},
  },
  'iptables-eips': {
    kind: iptablesEipKind,
    implemented: 'externalSubnet macAddress v4ip',
    reported: { namespace: 'gateways', natGwDp: 'gw', qosPolicy: 'slow', v6ip: 'fd00::9' },
    base: {},
  },
};

for (const [resource, fields] of Object.entries(KINDS) as [ResourceName, Fields][]) {
  test(`${fields.kind.kind}: every field of the spec is implemented, or reported when it is set`, () => {
    const implemented = fields.implemented.split(' ');
    const listed = new Set([...implemented, ...Object.keys(fields.reported)]);
    const properties = fields.kind.spec.node.properties ?? {};
    for (const [name, node] of Object.entries(properties)) {
      if (listed.has(name)) continue;
      const inner = Object.keys(node.items?.properties ?? {});
      assert.ok(inner.length > 0 && inner.every((one) => listed.has(`${name}.${one}`)), `spec.${name} is in neither list`);
    }
    for (const field of listed) {
      const [name = '', inner] = field.split('.');
      const node = properties[name];
      assert.ok(node !== undefined && (inner === undefined || node.items?.properties?.[inner] !== undefined), `there is no spec.${field}`);
    }
    for (const [field, value] of Object.entries(fields.reported)) {
      const [name = '', inner = ''] = field.split('.');
      const { bench } = new PodScene();
      const reported = (): readonly string[] =>
        bench.events
          .filter(({ object, reason }) => object === `${resource}/one` && ['UnsupportedField', 'NotCarriedOut'].includes(reason))
          .map(({ message }) => message);
      bench.put(resource, { metadata: { name: 'one' }, spec: { ...fields.base, [name]: value } });
      bench.converge();
      const named = new RegExp(`: spec\\.${name}${inner === '' ? '' : `\\[\\]\\.${inner}`}\\b`);
      assert.ok(
        reported().some((message) => named.test(message)),
        `spec.${field}: ${reported().join('; ')}`,
      );
      // The API server drops an Event after an hour.
      const conditions = conditionsOf(resource, bench.object(resource, 'one') as never);
      assert.ok(
        conditions.some(({ reason, message }) => ['UnsupportedField', 'NotCarriedOut'].includes(reason ?? '') && named.test(message ?? '')),
        `spec.${field} has no condition: ${JSON.stringify(conditions)}`,
      );
    }
  });
}

test('a plain object gets no report', () => {
  const { bench } = new PodScene();
  bench.put('vpcs', { metadata: { name: 'plain' } });
  bench.put('subnets', { metadata: { name: 'plain' }, spec: { vpc: 'plain', cidrBlock: '10.110.0.0/24' } });
  bench.put('vips', { metadata: { name: 'plain' }, spec: { subnet: 'plain' } });
  bench.converge();
  assert.deepEqual(
    bench.events.filter(({ object, reason }) => reason === 'UnsupportedField' && object.endsWith('/plain')),
    [],
  );
});

test('the condition of an IP object is removed with the field', () => {
  const { bench } = new PodScene();
  bench.put('ips', {
    metadata: { name: 'kept.shop' },
    spec: { subnet: 'ovn-default', podName: 'kept', namespace: 'shop', containerID: 'c1' },
  });
  bench.converge();
  const types = (): readonly string[] => conditionsOf('ips', bench.object('ips', 'kept.shop') as never).map(({ type }) => type);
  assert.deepEqual(types(), ['NotCarriedOut']);
  bench.edit('ips', 'kept.shop', { containerID: '' });
  bench.converge();
  assert.deepEqual(types(), []);
});

test('the report on an invalid Subnet or Vpc does not claim that all other fields are in effect', () => {
  const { bench } = new PodScene();
  const message = (): string =>
    conditionsOf('subnets', bench.object('subnets', 'one') as never).find(({ type }) => type === 'NotCarriedOut')?.message ?? '';
  bench.put('subnets', { metadata: { name: 'one' }, spec: { cidrBlock: '10.110.0.0/24', vpc: 'absent', enableMulticastSnoop: true } });
  bench.converge();
  assert.equal(
    message(),
    'Subnet one: spec.enableMulticastSnoop is set, but this version does not implement it. All else waits: condition Accepted says for what',
  );
  bench.put('vpcs', { metadata: { name: 'absent' } });
  bench.converge();
  assert.match(message(), /does not implement it\. All else of the Subnet is in effect$/);
});
