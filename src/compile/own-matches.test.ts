/** Every match that the rules write must be valid, whatever the objects are named. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { matchProblem } from '../match-language/match-problem.ts';
import { PodScene } from '../testing/pod-scene.ts';

test('every match that Kiln writes is valid for OVN, also with names that begin with a digit', () => {
  const made = new PodScene();
  const node = { spec: {}, status: { addresses: [{ type: 'InternalIP', address: '192.168.1.12' }] } };
  made.bench.put('nodes', { metadata: { name: '9-node' }, ...node });
  made.bench.put('vpcs', { metadata: { name: '8-vpc' }, spec: {} });
  const cidrBlock = '10.77.0.0/24,fd00:77::/64';
  const acls = [{ direction: 'to-lport', match: 'ip4.src == $_7.pool', priority: 1, action: 'drop' }];
  made.subnet('10-net', { cidrBlock, private: true, allowSubnets: ['10.9.0.0/16', 'fd00:1::/64'], acls, allowEWTraffic: true });
  made.subnet('11-net', { cidrBlock: '10.78.0.0/24', gatewayType: 'centralized', gatewayNode: '9-node' });
  made.subnet('12-net', { vpc: '8-vpc', cidrBlock: '10.79.0.0/24', private: true });
  made.bench.put('ippools', { metadata: { name: '7-pool' }, spec: { subnet: '10-net', ips: ['10.77.0.9'], enableAddressSet: true } });
  for (const [i, subnet] of ['10-net', '11-net', '12-net'].entries())
    for (const on of ['n1', '9-node'])
      made.pod(`pod-${i}-${on}`, { node: on, annotations: { 'ovn.kubernetes.io/logical_switch': subnet } });
  made.bench.converge();

  const written = ['ACL', 'Logical_Router_Policy'].flatMap((table) =>
    [...made.bench.northbound.table(table).values()].map((row) => String(row['match'])),
  );
  assert.ok(written.length > 20);
  assert.deepEqual(
    written.filter((match) => matchProblem(match) !== undefined),
    [],
  );
  const groups = new Set([...made.bench.northbound.table('Port_Group').values()].map(({ name }) => String(name)));
  const sets = new Set([...made.bench.northbound.table('Address_Set').values()].map(({ name }) => String(name)));
  const named = written.flatMap((match) => [...match.matchAll(/\$([\w.]+)/g)].map(([, name = '']) => name));
  assert.ok(named.some((name) => name.startsWith('_10.net.')));
  assert.deepEqual(
    named.filter((name) => !sets.has(name) && !groups.has(name.replace(/_ip[46]$/, ''))),
    [],
  );
});
