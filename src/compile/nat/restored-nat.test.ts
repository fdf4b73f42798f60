/** NAT rows that an undo restored: until their object is back, or a person lets them go, their external address is in use. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../explain/status.ts';
import { ownerKeys } from '../../nb/ownership.ts';
import { restoredUuid, rowId } from '../../nb/row-id.ts';
import { NatScene } from '../../testing/nat-scene.ts';

const ADDRESS = '172.20.0.4';

/** Another Vpc on the same external Subnet; the router of `blue` has the row of OvnFip `gone`, as `kiln undo` restores it. */
function setUp(): NatScene {
  const scene = new NatScene({ external: '172.20.0.0/28' });
  scene.put('vpcs', 'green', { enableExternal: true });
  scene.pods.subnet('meadow', { cidrBlock: '10.6.0.0/24', vpc: 'green', namespaces: ['field'] });
  scene.bench.converge();
  const fip = { kind: 'ovnfip', namespace: '', name: 'gone', uid: 'uid-gone' };
  const uuid = restoredUuid(rowId('NAT', 'blue', 'dnat_and_snat', ADDRESS, '10.5.0.66'), { owner: 'ovnfip//gone', uid: fip.uid });
  const [router] = [...scene.bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? assert.fail();
  scene.bench.foreignRow(
    'NAT',
    uuid,
    {
      ...{ type: 'dnat_and_snat', external_ip: ADDRESS, logical_ip: '10.5.0.66' },
      external_ids: new Map(Object.entries(ownerKeys(fip, 'ovn-fip'))),
    },
    { table: 'Logical_Router', uuid: router, column: 'nat' },
  );
  scene.bench.converge();
  return scene;
}

const routersOf = (scene: NatScene): readonly string[] =>
  scene.bench.rowIds('NAT').flatMap((id) => (id.includes(`|${ADDRESS}|`) ? [id.split('|', 1)[0] ?? ''] : []));
const statusText = ({ bench }: NatScene): readonly string[] =>
  statusOf(bench.world, true)
    .findings.filter(({ what }) => what === 'left over')
    .map(({ what, kind, key, message, next }) => `${what} ${kind} ${key}: ${message} (${next})`);

test('kiln status names it, with what is held and the command that lets it go; once the object is back there is nothing to say', () => {
  const scene = setUp();
  assert.deepEqual(statusText(scene), [
    `left over OvnFip gone: OvnFip gone does not exist, and kiln undo restored a row of it; it is in effect until it is back, or until a person lets go: NAT blue|dnat_and_snat|${ADDRESS}|10.5.0.66 (kiln undo --owner ovnfip/gone --let-go)`,
  ]);
  scene.eip('back', { v4Ip: ADDRESS });
  scene.put('ovn-fips', 'gone', { ovnEip: 'back', vpc: 'blue', v4Ip: '10.5.0.66' });
  assert.deepEqual([routersOf(scene), statusText(scene)], [['blue'], []]);
  assert.equal(scene.bench.condition('ovn-fips', 'gone', 'Ready')?.status, 'True');
  assert.equal(scene.bench.writesAfterRestart(), 0);
});

test('its external address is given to no OvnEip, unless that asks for it', () => {
  const scene = setUp();
  for (let at = 0; at < 14; at++) scene.eip(`e${at}`);
  const given = scene.bench.keys('ovn-eips').map((name) => scene.bench.object('ovn-eips', name)?.status?.['v4Ip']);
  assert.ok(!given.includes(ADDRESS), given.join());
  assert.match(scene.bench.conditionText('ovn-eips', 'e13'), /every free IPv4 address .* is excluded/);
  scene.eip('asks', { v4Ip: ADDRESS });
  assert.equal(scene.bench.object('ovn-eips', 'asks')?.status?.['v4Ip'], ADDRESS);
});

for (const [resource, spec] of [
  ['ovn-fips', { v4Ip: '10.6.0.9' }],
  ['ovn-snat-rules', { v4IpCidr: '10.6.0.0/24' }],
  ['ovn-dnat-rules', { v4Ip: '10.6.0.9', protocol: 'tcp', externalPort: '80', internalPort: '8080' }],
] as const)
  test(`${resource}: another router translates it only when the row is gone; the rule says what it waits for`, () => {
    const scene = setUp();
    const { bench } = scene;
    scene.eip('asks', { v4Ip: ADDRESS });
    scene.put(resource, 'r1', { ovnEip: 'asks', vpc: 'green', ...spec });
    const { status, reason, message = '' } = bench.condition(resource, 'r1', 'Accepted') ?? {};
    assert.deepEqual([status, reason, routersOf(scene)], ['False', 'RowConflict', ['blue']], message);
    assert.match(
      message,
      /which kiln undo restored, translates 172\.20\.0\.4 until ovnfip\/gone is back.*kiln undo --owner ovnfip\/gone --let-go$/,
    );
    assert.equal(bench.writesAfterRestart(), 0);
    const [uuid = '', row] = [...bench.northbound.table('NAT')].find(([, one]) => one['external_ip'] === ADDRESS) ?? [];
    assert.ok(row !== undefined);
    bench.removeForeignRow('NAT', uuid);
    bench.converge();
    assert.equal(bench.condition(resource, 'r1', 'Ready')?.status, 'True');
  });

test('a rule in the same router with another inner address waits as well', () => {
  const scene = setUp();
  scene.eip('asks', { v4Ip: ADDRESS });
  scene.put('ovn-fips', 'r1', { ovnEip: 'asks', vpc: 'blue', v4Ip: '10.5.0.9' });
  assert.equal(scene.bench.condition('ovn-fips', 'r1', 'Accepted')?.reason, 'RowConflict');
  assert.deepEqual(routersOf(scene), ['blue']);
});
