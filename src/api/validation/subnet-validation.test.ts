import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { subnetFindings } from './subnet-validation.ts';
import type { SubnetSpec } from '../kinds/subnet.ts';

const sound: SubnetSpec = { cidrBlock: '10.1.0.0/16' };
const dual: SubnetSpec = { cidrBlock: '10.1.0.0/16,fd00:1::/64' };

/** Codes and fields of the findings about a Subnet `s`. */
const found = (spec: SubnetSpec, name = 's'): string[] => subnetFindings({ name, spec }).map(({ code, field }) => `${code} ${field}`);

const accepted: readonly [string, SubnetSpec][] = [
  ['a network alone', sound],
  ['both families', dual],
  ['IPv6 before IPv4', { cidrBlock: 'fd00:1::/64,10.1.0.0/16' }],
  ['host bits', { cidrBlock: '10.1.2.3/16' }],
  ['a /31', { cidrBlock: '10.1.0.0/31', gateway: '10.1.0.0' }],
  ['an IPv6 gateway at the last address', { cidrBlock: 'fd00::/64', gateway: 'fd00::ffff:ffff:ffff:ffff' }],
  ['a /127', { cidrBlock: 'fd00::/127', gateway: 'fd00::' }],
  ['a gateway of one family of two', { ...dual, gateway: 'fd00:1::1' }],
  ['exclusions beyond the network', { ...sound, excludeIps: ['10.1.0.1', '10.1.0.5..10.1.0.9', '192.168.0.1'] }],
  ['an underlay without addresses', { vlan: 'v' }],
  ['words', { ...sound, gatewayType: 'centralized', protocol: 'Dual' }],
  ['MTU', { ...dual, mtu: 1280 }],
  ['MTU by default', { ...dual, mtu: 0 }],
  ['an egress gateway', { ...dual, externalEgressGateway: '172.18.0.1,fd00:9::1' }],
  ['virtual addresses', { ...sound, gateway: '10.1.0.1', vips: ['10.1.0.10'] }],
  [
    'an underlay connected to the overlay',
    { ...sound, vlan: 'v', u2oInterconnection: true, u2oInterconnectionIP: '10.1.0.5', u2oFeatures: { overlayOnlyRouting: true } },
  ],
  [
    'NAT rules',
    { ...sound, natOutgoingPolicyRules: [{ action: 'forward', match: { srcIPs: '10.1.0.1,10.1.1.0/24', dstIPs: '0.0.0.0/0' } }] },
  ],
  ['ACLs', { ...sound, acls: [{ direction: 'to-lport', action: 'drop', match: 'ip', priority: 0 }] }],
  ['gateway nodes', { ...sound, gatewayNode: 'node1:172.18.0.2, node2:fd00::2,node3' }],
];

const refused: readonly [string, SubnetSpec, string][] = [
  ['no network', {}, 'SubnetCidrInvalid spec.cidrBlock'],
  ['no prefix', { cidrBlock: '10.1.0.0' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['two networks of a family', { cidrBlock: '10.1.0.0/16,10.2.0.0/16' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['a single address', { cidrBlock: '10.1.0.1/32' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['a single IPv6 address', { cidrBlock: '10.1.0.0/16,fd00::1/128' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['loopback', { cidrBlock: '127.1.0.0/16' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['multicast', { cidrBlock: 'ff02::/64' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['link-local', { cidrBlock: '169.254.1.0/24' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['everything', { cidrBlock: '0.0.0.0/0' }, 'SubnetCidrInvalid spec.cidrBlock'],
  ['a gateway elsewhere', { ...sound, gateway: '10.2.0.1' }, 'SubnetGatewayInvalid spec.gateway'],
  ['a gateway of a family that is not there', { ...sound, gateway: '10.1.0.1,fd00::1' }, 'SubnetGatewayInvalid spec.gateway'],
  ['the network address as gateway', { ...sound, gateway: '10.1.0.0' }, 'SubnetGatewayInvalid spec.gateway'],
  ['the broadcast address as gateway', { ...sound, gateway: '10.1.255.255' }, 'SubnetGatewayInvalid spec.gateway'],
  ['a gateway that is no address', { ...sound, gateway: '10.1.0.256' }, 'SubnetGatewayInvalid spec.gateway'],
  [
    'a range written with a dash',
    { ...sound, excludeIps: ['10.1.0.1', '10.1.0.5-10.1.0.9'] },
    'SubnetExcludeIpsInvalid spec.excludeIps[1]',
  ],
  ['a range backwards', { ...sound, excludeIps: ['10.1.0.9..10.1.0.5'] }, 'SubnetExcludeIpsInvalid spec.excludeIps[0]'],
  ['an allowed network that is none', { ...sound, allowSubnets: ['10.2.0.0/33'] }, 'SubnetAllowSubnetsInvalid spec.allowSubnets[0]'],
  ['an unknown kind of gateway', { ...sound, gatewayType: 'shared' }, 'SubnetGatewayTypeInvalid spec.gatewayType'],
  ['an unknown protocol', { ...sound, protocol: 'ipv4' }, 'SubnetProtocolInvalid spec.protocol'],
  ['an MTU too small for IPv6', { ...dual, mtu: 1279 }, 'SubnetMtuInvalid spec.mtu'],
  ['a negative MTU', { ...sound, mtu: -1 }, 'SubnetMtuInvalid spec.mtu'],
  [
    'two ways out',
    { ...sound, natOutgoing: true, externalEgressGateway: '172.18.0.1' },
    'SubnetExternalEgressGatewayInvalid spec.externalEgressGateway',
  ],
  [
    'a way out of another family',
    { ...sound, externalEgressGateway: 'fd00::1' },
    'SubnetExternalEgressGatewayInvalid spec.externalEgressGateway',
  ],
  ['a virtual address elsewhere', { ...sound, vips: ['10.2.0.1'] }, 'SubnetVipInvalid spec.vips[0]'],
  ['a virtual address that is the gateway', { ...sound, gateway: '10.1.0.1', vips: ['10.1.0.1'] }, 'SubnetVipInvalid spec.vips[0]'],
  ['two gateways', { ...sound, logicalGateway: true, u2oInterconnection: true }, 'SubnetU2oWithLogicalGateway spec.u2oInterconnection'],
  [
    'the gateway as connecting address',
    { ...sound, gateway: '10.1.0.1', u2oInterconnectionIP: '10.1.0.1' },
    'SubnetU2oIpInvalid spec.u2oInterconnectionIP',
  ],
  ['a connecting address elsewhere', { ...sound, u2oInterconnectionIP: '10.2.0.1' }, 'SubnetU2oIpInvalid spec.u2oInterconnectionIP'],
  [
    'overlay-only routing without Vlan',
    { ...sound, u2oInterconnection: true, u2oFeatures: { overlayOnlyRouting: true } },
    'SubnetOverlayOnlyWithoutU2o spec.u2oFeatures.overlayOnlyRouting',
  ],
  [
    'an unknown NAT action',
    { ...sound, natOutgoingPolicyRules: [{ action: 'drop', match: {} }] },
    'SubnetNatOutgoingPolicyRuleInvalid spec.natOutgoingPolicyRules[0].action',
  ],
  [
    'a NAT rule of both families',
    { ...dual, natOutgoingPolicyRules: [{ action: 'nat', match: { srcIPs: '10.1.0.1', dstIPs: 'fd00::/8' } }] },
    'SubnetNatOutgoingPolicyRuleInvalid spec.natOutgoingPolicyRules[0].match',
  ],
  [
    'a NAT rule of names',
    { ...sound, natOutgoingPolicyRules: [{ action: 'nat', match: { srcIPs: 'pod' } }] },
    'SubnetNatOutgoingPolicyRuleInvalid spec.natOutgoingPolicyRules[0].match.srcIPs',
  ],
  [
    'an ACL priority beyond OVN',
    { ...sound, acls: [{ direction: 'to-lport', action: 'drop', match: 'ip', priority: 32_768 }] },
    'SubnetAclInvalid spec.acls[0].priority',
  ],
  [
    'an ACL direction',
    { ...sound, acls: [{ direction: 'in', action: 'drop', match: 'ip', priority: 1 }] },
    'SubnetAclInvalid spec.acls[0].direction',
  ],
  [
    'an ACL action',
    { ...sound, acls: [{ direction: 'to-lport', action: 'deny', match: 'ip', priority: 1 }] },
    'SubnetAclInvalid spec.acls[0].action',
  ],
  [
    'an empty ACL match',
    { ...sound, acls: [{ direction: 'to-lport', action: 'drop', priority: 1 }] },
    'SubnetAclInvalid spec.acls[0].match',
  ],
  [
    'a zero byte in an ACL match',
    { ...sound, acls: [{ direction: 'to-lport', action: 'drop', match: 'ip\0', priority: 1 }] },
    'SubnetAclInvalid spec.acls[0].match',
  ],
  [
    'an ACL match with a comment that swallows its end',
    { ...sound, acls: [{ direction: 'to-lport', action: 'drop', match: 'ip4 // all', priority: 1 }] },
    'SubnetAclInvalid spec.acls[0].match',
  ],
  [
    'two ACLs that contradict each other',
    {
      ...sound,
      acls: [
        { direction: 'to-lport', action: 'drop', match: 'ip', priority: 1 },
        { direction: 'to-lport', action: 'allow', match: ' ip', priority: 1 },
      ],
    },
    'SubnetAclInvalid spec.acls[1].action',
  ],
  ['half a letter in DHCP options', { ...sound, dhcpV4Options: 'hostname=\ud83d' }, 'SubnetOptionsInvalid spec.dhcpV4Options'],
  ['a gateway node without name', { ...sound, gatewayNode: 'node1,:172.18.0.2' }, 'SubnetGatewayNodeInvalid spec.gatewayNode'],
  [
    'a selector',
    { ...sound, namespaceSelectors: [{ matchExpressions: [{ key: 'a', operator: 'In' }] }] },
    'SubnetSelectorInvalid spec.namespaceSelectors[0]',
  ],
  ['a gateway without addresses', { vlan: 'v', gateway: '10.1.0.1' }, 'SubnetMacOnlyWithAddresses spec.gateway'],
  ['exclusions without addresses', { vlan: 'v', excludeIps: ['10.1.0.1'] }, 'SubnetMacOnlyWithAddresses spec.excludeIps'],
  ['its own name as Vpc', { ...sound, vpc: 's' }, 'SubnetNamedAsVpc metadata.name'],
];

describe('subnetFindings', () => {
  for (const [what, spec] of accepted) test(`takes ${what}`, () => assert.deepEqual(found(spec), []));
  for (const [what, spec, finding] of refused) test(`refuses ${what}`, () => assert.deepEqual(found(spec), [finding]));

  test('names object, field, value, problem and rule', () => {
    const [finding] = subnetFindings({ name: 'web', spec: { ...sound, gateway: '10.1.255.255' } });
    assert.deepEqual(finding, {
      code: 'SubnetGatewayInvalid',
      field: 'spec.gateway',
      value: '10.1.255.255',
      rule: 'hosts of this network can have 10.1.0.1-10.1.255.254',
      message:
        'Subnet web: spec.gateway "10.1.255.255" is the first or last address of 10.1.0.0/16; hosts of this network can have 10.1.0.1-10.1.255.254',
    });
  });

  test('does not repeat a value without end', () => {
    const [finding] = subnetFindings({ name: 'web', spec: { cidrBlock: 'x'.repeat(1_000_000) } });
    assert.ok(finding !== undefined && finding.value.length < 200 && finding.message.length < 500);
  });

  test('reports all faults together', () => {
    assert.equal(found({ ...sound, gateway: 'x', mtu: 1, gatewayType: 'x', excludeIps: ['x', 'y'] }).length, 5);
  });
});
