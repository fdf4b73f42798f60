/** Rows that Kube-OVN made for NAT rules carry no ownership: they are adopted by their identity, with their UUID, and nothing is translated anew. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const UUIDS = ['a0000000-0000-4000-8000-000000000001', 'a0000000-0000-4000-8000-000000000002', 'a0000000-0000-4000-8000-000000000003'];

test('the rows of an OvnFip, an OvnSnatRule and an OvnDnatRule, and each goes with its rule', () => {
  const made = new NatScene();
  const { bench } = made;
  made.pods.pod('web');
  bench.converge();
  const ip = String(bench.object('ips', 'web.shop')?.spec['ipAddress']);
  for (const [name, v4Ip] of [
    ['e1', '172.20.0.50'],
    ['e2', '172.20.0.60'],
  ] as const)
    made.eip(name, { v4Ip });
  const [router] = [...bench.northbound.table('Logical_Router')].find(([, row]) => row['name'] === 'blue') ?? assert.fail();
  const into = (column: string): { table: string; uuid: string; column: string } => ({ table: 'Logical_Router', uuid: router, column });
  // Kube-OVN gives each OvnFip the MAC of its port, and NAT rows no keys.
  const options = new Map([['stateless', 'false']]);
  const fip = {
    type: 'dnat_and_snat',
    external_ip: '172.20.0.50',
    logical_ip: ip,
    logical_port: 'web.shop',
    external_mac: '00:00:00:aa:bb:cc',
  };
  bench.foreignRow('NAT', UUIDS[0] ?? '', { ...fip, options }, into('nat'));
  bench.foreignRow('NAT', UUIDS[1] ?? '', { type: 'snat', external_ip: '172.20.0.60', logical_ip: '10.5.0.0/24' }, into('nat'));
  const vips = new Map([['172.20.0.60:80', `${ip}:8080`]]);
  const balancer = { name: 'd1', protocol: 'tcp', vips, external_ids: new Map([['vendor', 'kube-ovn']]) };
  bench.foreignRow('Load_Balancer', UUIDS[2] ?? '', balancer);
  const present = (): readonly string[] =>
    ['NAT', 'Load_Balancer'].flatMap((table) =>
      [...bench.northbound.table(table).keys()].map(String).filter((uuid) => UUIDS.includes(uuid)),
    );
  const rule = (name: string, ovnEip: string, spec: object): object => ({
    metadata: { name, annotations: { 'ovn.kubernetes.io/vpc_eip': ovnEip } },
    spec: { ovnEip, ...spec },
  });
  bench.put('ovn-fips', rule('f1', 'e1', { ipName: 'web.shop' }) as never);
  bench.put('ovn-snat-rules', rule('s1', 'e2', { vpcSubnet: 'inside' }) as never);
  const port = { protocol: 'tcp', externalPort: '80', internalPort: '8080' };
  bench.put('ovn-dnat-rules', rule('d1', 'e2', { ipName: 'web.shop', ...port }) as never);
  while (bench.step()) assert.deepEqual(present().toSorted(), UUIDS, 'no row goes meanwhile');
  assert.equal(bench.rows('NAT').length, 2);
  const owners = [...bench.rows('NAT'), bench.row('Load_Balancer', 'd1')].map(
    (row) => (row?.['external_ids'] as Readonly<Record<string, string>> | undefined)?.['kiln.io/owner'],
  );
  assert.deepEqual(owners, ['ovnfip//f1', 'ovnsnatrule//s1', 'ovndnatrule//d1']);
  assert.equal(bench.rows('NAT')[0]?.['external_mac'], null, 'a centralized one has none');
  assert.ok(bench.list('Logical_Router', 'blue', 'load_balancer').includes('Load_Balancer/d1'));
  for (const [resource, name] of [
    ['ovn-fips', 'f1'],
    ['ovn-snat-rules', 's1'],
    ['ovn-dnat-rules', 'd1'],
  ] as const) {
    assert.equal(bench.object(resource, name)?.status?.['ready'], true);
    bench.delete(resource, name);
  }
  bench.converge();
  assert.deepEqual(present(), []);
});
