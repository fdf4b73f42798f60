/** Each edit of a rule in effect replaces the old translation by the new one in one step: one of both works at each moment. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../testing/nat-scene.ts';

const DUAL = { inside: '10.5.0.0/24,fd05::/64', external: '172.20.0.0/24,fd20::/64' };

function scene(): NatScene {
  const made = new NatScene(DUAL);
  for (const name of ['web', 'api']) made.pods.pod(name);
  made.bench.converge();
  for (const name of ['e1', 'e2']) made.eip(name);
  return made;
}

const DNAT = { ovnEip: 'e1', ipName: 'web.shop', protocol: 'tcp', externalPort: '80', internalPort: '8080' };
const EDITS = [
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { ovnEip: 'e2' }],
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { ipName: 'api.shop' }],
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { type: 'distributed' }],
  ['ovn-fips', { ovnEip: 'e1', ipName: 'web.shop' }, { ipName: '', vpc: 'blue', v4Ip: '10.5.0.99', v6Ip: 'fd05::99' }],
  ['ovn-snat-rules', { ovnEip: 'e1', ipName: 'web.shop' }, { ovnEip: 'e2' }],
  ['ovn-snat-rules', { ovnEip: 'e1', ipName: 'web.shop' }, { ipName: '', vpcSubnet: 'inside' }],
  ['ovn-dnat-rules', DNAT, { ovnEip: 'e2' }],
  ['ovn-dnat-rules', DNAT, { ipName: 'api.shop' }],
  ['ovn-dnat-rules', DNAT, { externalPort: '443' }],
  ['ovn-dnat-rules', DNAT, { internalPort: '8443' }],
  ['ovn-dnat-rules', DNAT, { protocol: 'udp' }],
] as const;

/** What the rule translates in OVN, of both families. */
function translated({ bench }: NatScene): string {
  const nat = bench
    .rows('NAT')
    .map((row) => [row['type'], row['external_ip'], row['logical_ip'], JSON.stringify(row['options'])].join(' '));
  const balancer = bench.row('Load_Balancer', 'r1');
  return [...nat, ...(balancer === undefined ? [] : [`${String(balancer['protocol'])} ${JSON.stringify(balancer['vips'])}`])].join('\n');
}

for (const [resource, before, edit] of EDITS)
  test(`one of ${resource} is edited to ${JSON.stringify(edit)}: old or new at each step, and its status follows`, () => {
    const made = scene();
    const { bench } = made;
    made.put(resource, 'r1', before);
    const old = translated(made);
    const uids = bench.rowIds('Load_Balancer').filter((id) => id === 'r1');
    const expected = scene();
    expected.put(resource, 'r1', { ...before, ...edit });
    const now = translated(expected);
    assert.notEqual(old, now);
    bench.edit(resource, 'r1', edit);
    while (bench.step()) assert.ok([old, now].includes(translated(made)), translated(made));
    assert.equal(translated(made), now);
    assert.deepEqual(
      bench.rowIds('Load_Balancer').filter((id) => id === 'r1'),
      uids,
    );
    const { conditions: _one, ...status } = bench.object(resource, 'r1')?.status ?? {};
    const { conditions: _other, ...want } = expected.bench.object(resource, 'r1')?.status ?? {};
    assert.deepEqual(status, want);
    assert.equal(status['ready'], true);
    assert.equal(bench.writesAfterRestart(), 0);
  });
