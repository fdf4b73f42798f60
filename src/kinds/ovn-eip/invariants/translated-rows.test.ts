import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../../../testing/nat-scene.ts';
import { translatedRows } from './translated-rows.ts';

function scene(): NatScene {
  const made = new NatScene({ inside: '10.5.0.0/24,fd05::/64', external: '172.20.0.0/24,fd20::/64' });
  made.eip('e', { v4Ip: '172.20.0.9', v6Ip: 'fd20::9' });
  made.eip('other', { v4Ip: '172.20.0.10', v6Ip: 'fd20::10' });
  made.put('ovn-fips', 'f', { ovnEip: 'e', vpc: 'blue', v4Ip: '10.5.0.7', v6Ip: 'fd05::7' });
  made.put('ovn-dnat-rules', 'd', {
    ...{ ovnEip: 'e', vpc: 'blue', v4Ip: '10.5.0.8', v6Ip: 'fd05::8' },
    ...{ protocol: 'tcp', externalPort: '80', internalPort: '8080' },
  });
  return made;
}

/** After a change of the status of a rule. */
function broken(resource: 'ovn-fips' | 'ovn-dnat-rules', name: string, status: object, spec: object = {}): readonly string[] {
  const { bench } = scene();
  const rules = bench.world.natRules[resource];
  const rule = rules.peek(name) ?? assert.fail();
  rules.set(name, { ...rule, spec: { ...rule.spec, ...spec }, status: { ...rule.status, ...status } });
  return translatedRows(bench.world).map(({ message }) => message);
}

test('a rule in effect has the rows that its status says', () => {
  assert.deepEqual(translatedRows(scene().bench.world), []);
  assert.deepEqual(broken('ovn-fips', 'f', { v4Ip: '10.5.0.99' }), [
    'OvnFip f says that it translates 172.20.0.9=10.5.0.99,fd20::9=fd05::7, and OVN has 172.20.0.9=10.5.0.7,fd20::9=fd05::7',
  ]);
  assert.deepEqual(broken('ovn-dnat-rules', 'd', { v6Eip: '', v6Ip: '' }), [
    'OvnDnatRule d says that it translates 172.20.0.9=10.5.0.8, and OVN has 172.20.0.9=10.5.0.8,fd20::9=fd05::8',
  ]);
});

test('its addresses outside are those of the EIP that it names', () => {
  assert.deepEqual(broken('ovn-fips', 'f', {}, { ovnEip: 'other' }), [
    'OvnFip f translates 172.20.0.9, which is no address of OvnEip other',
    'OvnFip f translates fd20::9, which is no address of OvnEip other',
  ]);
});

test('a rule that is ready has a row', () => {
  const { bench } = scene();
  const rule = bench.world.natRules['ovn-fips'].peek('f') ?? assert.fail();
  bench.world.natRules['ovn-fips'].set('g', { ...rule, metadata: { ...rule.metadata, name: 'g', uid: 'g' }, status: { ...rule.status } });
  assert.match(
    translatedRows(bench.world)
      .map(({ message }) => message)
      .join('\n'),
    /OvnFip g is ready, and nothing of it is in OVN/,
  );
});
