import assert from 'node:assert/strict';
import { test } from 'node:test';
import { statusOf } from '../../explain/status.ts';
import { NatScene } from '../../testing/nat-scene.ts';

const OTHER = 'a0000000-0000-4000-8000-0000000000f1';

test('an OvnFip waits for a row of another program with its external address; one in effect stays, and says so', () => {
  const scene = new NatScene();
  const { bench } = scene;
  scene.eip('e1', { v4Ip: '172.20.0.50' });
  const [router] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? assert.fail();
  const add = (): void => {
    const columns = { type: 'dnat_and_snat', external_ip: '172.20.0.50', logical_ip: '10.5.0.66' };
    const parent = { table: 'Logical_Router', uuid: router, column: 'nat' };
    bench.foreignRow('NAT', OTHER, { ...columns, external_ids: new Map([['owner', 'me']]) }, parent);
    bench.converge();
  };
  const remove = (): void => {
    bench.removeForeignRow('NAT', OTHER);
    bench.converge();
  };
  add();
  bench.put('ovn-fips', { metadata: { name: 'f1' }, spec: { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9' } });
  bench.converge();
  const { status, reason, message = '' } = bench.condition('ovn-fips', 'f1', 'Accepted') ?? {};
  assert.deepEqual([bench.rows('NAT').length, status, reason], [1, 'False', 'RowConflict']);
  assert.match(message, /OvnFip f1: NAT row dnat_and_snat 172\.20\.0\.50 to 10\.5\.0\.66 of router blue belongs to another program/);
  remove();
  assert.deepEqual(
    bench.rows('NAT').map((row) => row['logical_ip']),
    ['10.5.0.9'],
  );
  assert.equal(bench.condition('ovn-fips', 'f1', 'Ready')?.status, 'True');
  add();
  assert.equal(bench.rows('NAT').length, 2);
  assert.equal(bench.condition('ovn-fips', 'f1', 'Ready')?.reason, 'RowConflict');
  assert.equal(bench.writesAfterRestart(), 0);
  remove();
  assert.equal(bench.condition('ovn-fips', 'f1', 'Ready')?.status, 'True');
});

test('kiln status has a Vpc whose router has no external port, with the cause', () => {
  const { bench } = new NatScene();
  bench.put('vpcs', { metadata: { name: 'red' }, spec: { enableExternal: true, extraExternalSubnets: ['nowhere'] } });
  bench.converge();
  const found = (): readonly string[] =>
    statusOf(bench.world, true)
      .findings.filter(({ kind }) => kind === 'Vpc')
      .map(({ what, key, message }) => `${what} ${key}: ${message}`);
  assert.match(found().join('\n'), /^not ready red: Vpc red: spec\.extraExternalSubnets\[0\] "nowhere" does not exist/);
  for (const name of ['gw1', 'gw2']) bench.delete('nodes', name);
  bench.edit('vpcs', 'red', { extraExternalSubnets: [] });
  bench.converge();
  assert.match(found().join('\n'), /not ready red: .* needs a gateway node, and there is none/);
});
