import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

/** A rule behind each of two external Subnets; the result: which is ready, and the message of the other. */
function scene(version: string): readonly [string, readonly string[]] {
  const made = new NatScene();
  const { bench } = made;
  const [uuid] = [...bench.northbound.table('NB_Global').keys()];
  assert.ok(uuid !== undefined);
  const set = { northd_internal_version: version };
  const change = bench.northbound.apply([{ kind: 'keys', table: 'NB_Global', uuid, column: 'options', set, remove: [] }]);
  bench.world.rows.apply(bench.northbound, change);
  made.put('subnets', 'second', { cidrBlock: '172.21.0.0/24', vpc: 'outside' });
  bench.edit('vpcs', 'blue', { enableExternal: true, extraExternalSubnets: ['external', 'second'] });
  made.eip('e1', { v4Ip: '172.20.0.40' });
  made.eip('e2', { externalSubnet: 'second', v4Ip: '172.21.0.40' });
  const port = { vpc: 'blue', v4Ip: '10.5.0.9', protocol: 'tcp', externalPort: '80', internalPort: '8080' };
  for (const [name, ovnEip] of [
    ['d1', 'e1'],
    ['d2', 'e2'],
  ] as const)
    made.put('ovn-dnat-rules', name, { ovnEip, ...port });
  made.put('ovn-snat-rules', 's2', { ovnEip: 'e2', vpcSubnet: 'inside' });
  assert.equal(bench.condition('ovn-snat-rules', 's2', 'Ready')?.status, 'True', 'NAT rows are at the port of their address');
  const [[, first] = []] = [...bench.northbound.table('Logical_Router_Port')]
    .map(([uuid, row]) => [String(uuid), String(row['name'])] as const)
    .filter(([, name]) => ['blue-external', 'blue-second'].includes(name))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  assert.equal(bench.writesAfterRestart(), 0);
  const texts = ['d1', 'd2'].map((name) => {
    const { status, reason, message } = bench.condition('ovn-dnat-rules', name, 'Ready') ?? {};
    return `${name} ${status} ${reason} ${message}`;
  });
  return [first ?? '', texts];
}

test('with OVN 23.03 an OvnDnatRule that is not behind the first gateway port is not ready, and says which port and what to do', () => {
  const [first, texts] = scene('23.03.1-20.27.0-70.6');
  const [dead, works] = first === 'blue-external' ? ['d2', 'd1'] : ['d1', 'd2'];
  assert.ok(texts.includes(`${works} True Translated `), texts.join('\n'));
  const text = texts.find((one) => one.startsWith(dead)) ?? '';
  assert.match(text, new RegExp(`False GatewayPortNotFirst .*OVN 23\\.03\\.1 translates it at router port ${first} alone`));
});

for (const version of ['25.03.0-20.41.0-78.8', 'nonsense'])
  test(`with OVN ${version} both are ready`, () => {
    const [, texts] = scene(version);
    assert.deepEqual(texts, ['d1 True Translated ', 'd2 True Translated ']);
  });
