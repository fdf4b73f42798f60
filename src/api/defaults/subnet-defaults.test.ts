import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { defaultSubnetSettings as settings, subnetDefaults, withSubnetDefaults } from './subnet-defaults.ts';
import type { SubnetDefaults } from './subnet-defaults.ts';
import { subnetFindings } from '../validation/subnet-validation.ts';
import type { SubnetSpec } from '../kinds/subnet.ts';

const defaultsOf = (spec: SubnetSpec, name = 's'): SubnetDefaults => subnetDefaults({ name, spec }, settings);

describe('subnetDefaults', () => {
  test('fills a Subnet that names its network only', () => {
    assert.deepEqual(defaultsOf({ cidrBlock: '10.1.2.3/16' }), {
      cidrBlock: '10.1.0.0/16',
      gateway: '10.1.0.1',
      excludeIps: ['10.1.0.1'],
      protocol: 'IPv4',
      provider: 'ovn',
      vpc: 'ovn-cluster',
      gatewayType: 'distributed',
      private: false,
      natOutgoing: false,
      default: false,
      enableLb: true,
    });
  });

  test('completes the gateway of the other family, IPv4 first', () => {
    const { gateway, cidrBlock, protocol, excludeIps } = defaultsOf({ cidrBlock: 'FD00:1::/64,10.1.0.0/24', gateway: '10.1.0.254' });
    assert.deepEqual(
      { gateway, cidrBlock, protocol, excludeIps },
      {
        gateway: '10.1.0.254,fd00:1::1',
        cidrBlock: '10.1.0.0/24,fd00:1::/64',
        protocol: 'Dual',
        excludeIps: ['10.1.0.254', 'fd00:1::1'],
      },
    );
  });

  test('takes both addresses of a /31 for usable', () => {
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/31' }).gateway, '10.1.0.0');
    assert.equal(defaultsOf({ cidrBlock: 'fd00::/127' }).gateway, 'fd00::');
  });

  test('emits nothing once the defaults are in place', () => {
    const cidr = fc.tuple(fc.ipV4(), fc.integer({ min: 8, max: 31 })).map(([ip, n]) => `${ip}/${n}`);
    const cidr6 = fc.tuple(fc.ipV6(), fc.integer({ min: 8, max: 127 })).map(([ip, n]) => `${ip}/${n}`);
    const cidrBlock = fc.oneof(
      cidr,
      cidr6,
      fc.tuple(cidr, cidr6).map((both) => both.join(',')),
      fc.string(),
    );
    const excludeIps = fc.array(fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant('10.0.0.1..10.0.0.9'), fc.string()), { maxLength: 5 });
    const spec = fc.record(
      {
        cidrBlock,
        excludeIps,
        gateway: fc.oneof(fc.ipV4(), fc.ipV6(), fc.constant('')),
        vlan: fc.constantFrom('', 'vlan1'),
        provider: fc.constantFrom('', 'ovn', 'a.b', 'a.b.ovn'),
        default: fc.boolean(),
        enableLb: fc.boolean(),
      },
      { requiredKeys: [] },
    );
    fc.assert(
      fc.property(spec, fc.constantFrom('s', 'join', 'ovn-default'), (given, name) => {
        const full = withSubnetDefaults({ name, spec: given }, settings);
        assert.deepEqual(subnetDefaults({ name, spec: full }, settings), {});
      }),
    );
  });

  test('leaves alone what is canonical, in whatever order', () => {
    const spec = {
      ...withSubnetDefaults({ name: 's', spec: { cidrBlock: '10.1.0.0/16' } }, settings),
      excludeIps: ['10.1.0.20..10.1.0.30', '10.1.0.1', '10.1.0.2..10.1.0.9'],
    };
    assert.deepEqual(defaultsOf(spec), {});
  });

  test('joins excluded ranges that share an address and puts the gateway in once', () => {
    const { excludeIps } = defaultsOf({
      cidrBlock: '10.1.0.0/16',
      gateway: '10.1.0.5',
      excludeIps: ['10.1.0.100', '10.1.0.8..10.1.0.20', '10.1.0.2..10.1.0.9'],
    });
    assert.deepEqual(excludeIps, ['10.1.0.2..10.1.0.20', '10.1.0.100']);
  });

  test('leaves invalid values unchanged', () => {
    assert.equal(defaultsOf({ cidrBlock: 'nonsense' }).gateway, undefined);
    assert.equal(defaultsOf({ cidrBlock: 'nonsense' }).protocol, undefined);
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/16', gateway: '10.2.0.1' }).excludeIps, undefined);
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/16', gateway: 'fd00::1' }).gateway, undefined);
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/16', excludeIps: ['10.1.0.9-10.1.0.12'] }).excludeIps, undefined);
  });

  test('an underlay Subnet without network is Mac', () => {
    assert.deepEqual(defaultsOf({ vlan: 'vlan1' }), {
      protocol: 'Mac',
      provider: 'ovn',
      vpc: 'ovn-cluster',
      gatewayType: 'distributed',
      private: false,
      natOutgoing: false,
      default: false,
      enableLb: true,
    });
  });

  test('a Subnet that OVN does not serve gets no Vpc', () => {
    const { vpc, gatewayType } = defaultsOf({ cidrBlock: '10.1.0.0/16', provider: 'macvlan.default' });
    assert.deepEqual([vpc, gatewayType], [undefined, undefined]);
  });

  test('a custom Vpc has no kind of gateway', () => {
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/16', vpc: 'v1' }).gatewayType, undefined);
  });

  test('the join Subnet has no load balancers and no kind of gateway', () => {
    const wanted = defaultsOf({ cidrBlock: '100.64.0.0/16', enableLb: true }, 'join');
    assert.equal(wanted.enableLb, null);
    assert.equal(wanted.gatewayType, undefined);
    assert.ok(!('enableLb' in withSubnetDefaults({ name: 'join', spec: { enableLb: true } }, settings)));
  });

  test('one Subnet is the default', () => {
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/16', default: true }).default, false);
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/16', default: true }, 'ovn-default').default, undefined);
    assert.equal(defaultsOf({ cidrBlock: '10.1.0.0/16', default: true, vpc: 'v1' }, 'ovn-default').default, false);
  });

  test('a valid Subnet stays valid', () => {
    const spec = withSubnetDefaults({ name: 's', spec: { cidrBlock: '10.1.2.3/16,FD00::1/64' } }, settings);
    assert.deepEqual(subnetFindings({ name: 's', spec }), []);
  });

  test('fills in missing booleans only, and none of a Subnet that a client applies server-side', () => {
    const booleans = (spec: SubnetSpec, name = 's', applied: readonly string[] = []): readonly unknown[] => {
      const { private: isPrivate, natOutgoing, default: isDefault } = subnetDefaults({ name, spec }, settings, applied);
      return [isPrivate, natOutgoing, isDefault];
    };
    const cidrBlock = '10.1.0.0/16';
    assert.deepEqual(booleans({ cidrBlock, private: true, natOutgoing: true, default: false }), [undefined, undefined, undefined]);
    assert.deepEqual(booleans({ cidrBlock, private: true }), [undefined, false, false]);
    assert.deepEqual(booleans({ cidrBlock }, 'ovn-default'), [false, false, undefined]);
    assert.deepEqual(booleans({ cidrBlock, provider: 'macvlan.default' }), [false, false, false]);
    assert.deepEqual(booleans({ cidrBlock }, 's', ['cidrBlock']), [undefined, undefined, undefined]);
    assert.deepEqual(booleans({ cidrBlock, default: true }, 's', ['cidrBlock', 'default']), [undefined, undefined, false]);
  });
});
