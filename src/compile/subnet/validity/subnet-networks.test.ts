import assert from 'node:assert/strict';
import { test } from 'node:test';
import { RuleBench } from '../../../testing/rule-bench.ts';
import { NETWORK_RULES } from '../../../testing/network-rules.ts';

function setUp(cidrBlock: string, ...addresses: readonly string[]): RuleBench {
  const bench = new RuleBench({ rules: NETWORK_RULES });
  bench.put('vpcs', { metadata: { name: 'blue' } });
  bench.put('subnets', { metadata: { name: 'red' }, spec: { vpc: 'blue', cidrBlock } });
  for (const [i, address] of addresses.entries()) {
    const [v4IpAddress = '', v6IpAddress = ''] = address.split(',');
    bench.put('ips', { metadata: { name: `p${i}.shop` }, spec: { subnet: 'red', v4IpAddress, v6IpAddress, ipAddress: address } });
  }
  bench.converge();
  return bench;
}

function networks(bench: RuleBench): unknown {
  return bench.row('Logical_Router_Port', 'blue-red')?.['networks'];
}

test('a Subnet gains a family, and its rows follow', () => {
  const bench = setUp('10.0.0.0/24', '10.0.0.5');
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/24,fd00::/112' });
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/24', 'fd00::1/112']);
  const { spec, status } = bench.object('subnets', 'red') ?? {};
  assert.deepEqual([spec?.['protocol'], spec?.['gateway'], spec?.['excludeIps']], ['Dual', '10.0.0.1,fd00::1', ['10.0.0.1', 'fd00::1']]);
  assert.equal(status?.['v6availableIPs'], 65533n);
});

test('a larger Subnet hides the source route of a smaller one while it has a network, and not while it is invalid', () => {
  const bench = setUp('10.0.0.0/24');
  const waysOut = (): readonly string[] => bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue|'));
  const own = 'blue||src-ip|10.0.0.0/24|10.0.0.1';
  bench.put('subnets', { metadata: { name: 'large' }, spec: { vpc: 'blue', cidrBlock: '10.9.0.0/16', gateway: '10.8.0.1' } });
  bench.converge();
  assert.deepEqual(waysOut(), [own]);
  bench.edit('subnets', 'large', { gateway: '10.9.0.1' });
  bench.converge();
  assert.deepEqual(waysOut(), ['blue||src-ip|10.9.0.0/16|10.9.0.1']);
  bench.delete('subnets', 'large');
  bench.converge();
  assert.deepEqual(waysOut(), [own]);
});

test('a dropped family counts its addresses in use until they are released', () => {
  const bench = setUp('10.0.0.0/24,fd00::/112', '10.0.0.5,fd00::5', '10.0.0.6,fd00::6');
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' });
  bench.converge();
  const counts = (): unknown => {
    const { v4usingIPs, v6usingIPs, v6usingIPrange, v6availableIPs } = bench.object('subnets', 'red')?.status ?? {};
    return [v4usingIPs, v6usingIPs, v6usingIPrange, v6availableIPs];
  };
  assert.match(bench.condition('subnets', 'red', 'Accepted')?.message ?? '', /p0\.shop/);
  assert.deepEqual(counts(), [2n, 2n, 'fd00::5-fd00::6', 0n]);
  bench.delete('ips', 'p0.shop');
  bench.converge();
  assert.deepEqual(counts(), [1n, 1n, 'fd00::6', 0n]);
});

test('a dropped family without addresses in use is removed at once', () => {
  const bench = setUp('10.0.0.0/24,fd00::/112', '10.0.0.5');
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' });
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/24']);
  assert.deepEqual(
    bench.rowIds('Logical_Router_Static_Route').filter((id) => id.startsWith('blue')),
    ['blue||src-ip|10.0.0.0/24|10.0.0.1'],
  );
  assert.deepEqual(
    [bench.object('subnets', 'red')?.spec['protocol'], bench.object('subnets', 'red')?.status?.['v6availableIPs']],
    ['IPv4', 0n],
  );
});

test('a dropped family in use stays in the rows until its last address is released, and new addresses do not have it', () => {
  const bench = setUp('10.0.0.0/24,fd00::/112', '10.0.0.5,fd00::5');
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/24', gateway: '10.0.0.1' });
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/24', 'fd00::1/112']);
  const accepted = bench.condition('subnets', 'red', 'Accepted');
  assert.equal(accepted?.reason, 'CidrInUse');
  assert.match(
    accepted?.message ?? '',
    /Subnet red: spec\.cidrBlock leaves out addresses in use; fd00::\/112 stays in effect until these are gone: IP p0\.shop;/,
  );
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
  assert.deepEqual([bench.desired.addresses.pool('red')?.v4, bench.desired.addresses.pool('red')?.v6], ['10.0.0.0/24', undefined]);
  bench.removeByForce('ips', 'p0.shop');
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/24']);
  assert.equal(bench.condition('subnets', 'red', 'Accepted')?.status, 'True');
});

test('a narrowed CIDR waits for addresses outside of it, and allocates only addresses inside', () => {
  const bench = setUp('10.0.0.0/16', '10.0.0.5', '10.0.9.9');
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/24' });
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/16']);
  assert.match(bench.condition('subnets', 'red', 'Accepted')?.message ?? '', /IP p1\.shop;/);
  assert.equal(bench.desired.addresses.pool('red')?.v4, '10.0.0.0/24');
  bench.removeByForce('ips', 'p1.shop');
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/24']);
});

test('a widened CIDR takes effect at once', () => {
  const bench = setUp('10.0.0.0/24', '10.0.0.5');
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/16' });
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/16']);
});

test('a mistyped CIDR does not take a running network down', () => {
  const bench = setUp('10.0.0.0/24', '10.0.0.5');
  const rows = bench.world.rows.ownedBy('subnet//red').size;
  const { writes } = bench;
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.300/24' });
  bench.converge();
  assert.deepEqual([networks(bench), bench.world.rows.ownedBy('subnet//red').size], [['10.0.0.1/24'], rows]);
  assert.equal(bench.desired.addresses.pool('red')?.v4, '10.0.0.0/24');
  const validated = bench.condition('subnets', 'red', 'Validated');
  assert.deepEqual([validated?.status, validated?.reason], ['False', 'ValidateLogicalSwitchFailed']);
  assert.match(validated?.message ?? '', /Subnet red: spec\.cidrBlock "10\.0\.0\.300\/24"/);
  assert.deepEqual(
    bench.events.filter(({ object, type }) => object === 'subnets/red' && type === 'Warning').map(({ reason }) => reason),
    ['ValidateLogicalSwitchFailed'],
  );
  assert.equal(bench.writes, writes + 1);
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/24' });
  bench.converge();
  assert.equal(bench.condition('subnets', 'red', 'Error')?.status, 'Unknown');
});

test('a Subnet that was never valid has no rows', () => {
  const bench = setUp('nonsense');
  assert.deepEqual([bench.row('Logical_Switch', 'red'), bench.desired.addresses.pool('red')], [undefined, undefined]);
  assert.deepEqual(
    [bench.condition('subnets', 'red', 'Ready')?.status, bench.condition('subnets', 'red', 'Error')?.status],
    ['False', 'True'],
  );
  bench.delete('subnets', 'red');
  bench.converge();
  assert.equal(bench.object('subnets', 'red'), undefined);
});

test('a gateway whose address is in use waits, names its user, and takes effect once it is released', () => {
  const bench = setUp('10.0.0.0/24,fd00::/112', '10.0.0.5', '10.0.0.6,fd00::6');
  bench.edit('subnets', 'red', { gateway: '10.0.0.5,fd00::9' });
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/24', 'fd00::9/112'], 'the other family does not wait');
  const accepted = bench.condition('subnets', 'red', 'Accepted');
  assert.equal(accepted?.reason, 'SubnetGatewayInUse');
  assert.equal(
    accepted?.message,
    'Subnet red: spec.gateway "10.0.0.5" is in use; 10.0.0.1 stays the gateway until it is released: IP p0.shop; ' +
      'delete their pods or them, or kubectl edit subnet red and name a free address',
  );
  assert.equal(bench.condition('subnets', 'red', 'Ready')?.status, 'True');
  bench.removeByForce('ips', 'p0.shop');
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.5/24', 'fd00::9/112']);
  assert.equal(bench.condition('subnets', 'red', 'Accepted')?.status, 'True');
});

test('a CIDR that waits for addresses in use still waits when the router port loses its ownership keys', () => {
  const bench = setUp('10.0.0.0/24', '10.0.0.200');
  bench.edit('subnets', 'red', { cidrBlock: '10.0.0.0/25' });
  bench.converge();
  const { northbound, world } = bench;
  const port = [...northbound.table('Logical_Router_Port').values()].find(({ name }) => name === 'blue-red');
  assert.ok(port?.['external_ids'] instanceof Map);
  const row = { external_ids: new Map([...port['external_ids']].filter(([key]) => key !== 'kiln.io/owner' && key !== 'kiln.io/uid')) };
  world.rows.apply(northbound, northbound.apply([{ kind: 'update', table: 'Logical_Router_Port', uuid: port._uuid, row }]));
  bench.converge();
  assert.deepEqual(networks(bench), ['10.0.0.1/24']);
  assert.equal(bench.externalIds('Logical_Router_Port', 'blue-red')['kiln.io/owner'], 'subnet//red');
});
