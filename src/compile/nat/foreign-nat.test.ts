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

const BALANCER = 'a0000000-0000-4000-8000-0000000000f2';

/** Puts a row into the router of `blue`, as another program or Kube-OVN would. */
function put({ bench }: NatScene, table: 'NAT' | 'Load_Balancer', columns: object, uuid = table === 'NAT' ? OTHER : BALANCER): void {
  const [router] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? assert.fail();
  const parent = { table: 'Logical_Router', uuid: router, column: table === 'NAT' ? 'nat' : 'load_balancer' };
  bench.foreignRow(table, uuid, { ...columns }, parent);
  bench.converge();
}

const THEIRS = { external_ids: new Map([['owner', 'me']]) };
const PORT = { protocol: 'tcp', externalPort: '80', internalPort: '8080' };
const RULES = [
  ['ovn-fips', 'OvnFip', { v4Ip: '10.5.0.9' }],
  ['ovn-snat-rules', 'OvnSnatRule', { v4IpCidr: '10.5.0.0/24' }],
  ['ovn-dnat-rules', 'OvnDnatRule', { v4Ip: '10.5.0.9', ...PORT }],
] as const;

for (const [resource, kind, spec] of RULES)
  test(`${kind}: a NAT row or load balancer of another program, or a leftover of Kube-OVN, with its address is a conflict`, () => {
    const rows = [
      [
        'NAT',
        { type: 'snat', external_ip: '172.20.0.50', logical_ip: '10.5.0.77', ...THEIRS },
        /NAT row snat .* belongs to another program/,
      ],
      [
        'NAT',
        { type: 'dnat_and_snat', external_ip: '172.20.0.50', logical_ip: '10.5.0.66' },
        /left over from Kube-OVN, or a person made it.*ovn-nbctl lr-nat-list blue$/,
      ],
      [
        'Load_Balancer',
        { name: 'theirs', vips: new Map([['172.20.0.50:80', '10.5.0.66:80']]), ...THEIRS },
        /load balancer theirs of router/,
      ],
      [
        'Load_Balancer',
        { name: 'left', vips: new Map([['172.20.0.50', '10.5.0.66']]), external_ids: new Map([['vendor', 'kube-ovn']]) },
        /left over/,
      ],
    ] as const;
    for (const [table, columns, expected] of rows) {
      const scene = new NatScene();
      const { bench } = scene;
      scene.eip('e1', { v4Ip: '172.20.0.50' });
      put(scene, table, columns);
      scene.put(resource, 'r1', { ovnEip: 'e1', vpc: 'blue', ...spec });
      const { status, reason, message = '' } = bench.condition(resource, 'r1', 'Accepted') ?? {};
      assert.deepEqual([status, reason], ['False', 'RowConflict'], message);
      assert.match(message, expected);
      assert.deepEqual(scene.rowsOf('NAT', `${kind.toLowerCase()}//r1`), []);
      assert.equal(bench.row('Load_Balancer', 'r1'), undefined);
      bench.removeForeignRow(table, table === 'NAT' ? OTHER : BALANCER);
      bench.converge();
      assert.equal(bench.condition(resource, 'r1', 'Ready')?.status, 'True');
      put(scene, table, columns);
      assert.equal(bench.condition(resource, 'r1', 'Ready')?.reason, 'RowConflict', 'one in effect stays');
      assert.equal(bench.object(resource, 'r1')?.status?.['v4Eip'], '172.20.0.50');
      assert.equal(bench.writesAfterRestart(), 0);
    }
  });

test('a load balancer of another program with another port of the address is no conflict of an OvnDnatRule', () => {
  const scene = new NatScene();
  scene.eip('e1', { v4Ip: '172.20.0.50' });
  put(scene, 'Load_Balancer', { name: 'theirs', vips: new Map([['172.20.0.50:443', '10.5.0.66:80']]), ...THEIRS });
  scene.put('ovn-dnat-rules', 'd1', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.9', ...PORT });
  assert.equal(scene.bench.condition('ovn-dnat-rules', 'd1', 'Ready')?.status, 'True');
  scene.bench.edit('ovn-dnat-rules', 'd1', { externalPort: '443' });
  scene.bench.converge();
  assert.match(
    scene.bench.condition('ovn-dnat-rules', 'd1', 'Accepted')?.message ?? '',
    /has tcp 172\.20\.0\.50:443.*Until then router blue/,
  );
  assert.deepEqual(Object.keys(scene.bench.map('Load_Balancer', 'd1', 'vips')), ['172.20.0.50:80']);
});

test('an OvnEip gets no address that another program translates, unless it asks for it', () => {
  const scene = new NatScene({ external: '172.20.0.0/29' });
  put(scene, 'NAT', { type: 'dnat_and_snat', external_ip: '172.20.0.3', logical_ip: '10.5.0.66', ...THEIRS });
  for (const name of ['e1', 'e2', 'e3', 'e4']) scene.eip(name);
  const given = ['e1', 'e2', 'e3', 'e4'].map((name) => scene.bench.object('ovn-eips', name)?.status?.['v4Ip']);
  assert.deepEqual(given, ['172.20.0.4', '172.20.0.5', '172.20.0.6', undefined]);
  assert.match(scene.bench.conditionText('ovn-eips', 'e4'), /every free IPv4 address .* is excluded/);
  scene.bench.removeForeignRow('NAT', OTHER);
  scene.bench.converge();
  assert.equal(scene.bench.object('ovn-eips', 'e4')?.status?.['v4Ip'], '172.20.0.3');
});

test('rules that share an OvnEip adopt the rows that Kube-OVN made for them, though no status names those', () => {
  const scene = new NatScene();
  scene.eip('e1', { v4Ip: '172.20.0.50' });
  const uuids = ['1', '2'].map((digit) => `a0000000-0000-4000-8000-00000000000${digit}`);
  for (const [at, uuid] of uuids.entries())
    put(scene, 'NAT', { type: 'snat', external_ip: '172.20.0.50', logical_ip: `10.5.0.${at}` }, uuid);
  for (const at of uuids.keys())
    scene.bench.put('ovn-snat-rules', { metadata: { name: `s${at}` }, spec: { ovnEip: 'e1', vpc: 'blue', v4IpCidr: `10.5.0.${at}` } });
  scene.bench.converge();
  assert.deepEqual([...scene.bench.northbound.table('NAT').keys()].map(String).toSorted(), uuids);
  for (const at of uuids.keys()) assert.equal(scene.bench.condition('ovn-snat-rules', `s${at}`, 'Ready')?.status, 'True');
});

test('kiln status has a Vpc whose router has no external port, with the cause', () => {
  const { bench } = new NatScene();
  bench.put('vpcs', { metadata: { name: 'red' }, spec: { enableExternal: true, extraExternalSubnets: ['nowhere'] } });
  bench.converge();
  const found = (): readonly string[] =>
    statusOf(bench.world, true)
      .findings.filter(({ kind }) => kind === 'Vpc')
      .map(({ what, key, message }) => `${what} ${key}: ${message}`);
  assert.match(found().join('\n'), /^not ready red: Vpc red: spec\.extraExternalSubnets\[0\] "nowhere" does not exist/m);
  for (const name of ['gw1', 'gw2']) bench.delete('nodes', name);
  bench.edit('vpcs', 'red', { extraExternalSubnets: [] });
  bench.converge();
  assert.match(found().join('\n'), /not ready red: .* needs a gateway node, and there is none/);
});
