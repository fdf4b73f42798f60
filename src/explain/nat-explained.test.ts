/** What `kiln explain` and `kiln status` say of NAT rules and their EIPs. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { NatScene } from '../testing/nat-scene.ts';
import type { ResourceName } from '../world/resources.ts';
import { blockedDeletions } from '../invariants/blocked-deletions.ts';
import { blockersOf } from '../blockers/blockers.ts';
import { deniedDeletionSentence } from '../blockers/sentences.ts';
import { cascadeOf } from './cascade.ts';
import type { Explanation } from './explanation.ts';
import { explain } from './explanation.ts';
import { statusOf } from './status.ts';

const TARGET = { vpc: 'blue', v4Ip: '10.5.0.9' };

function scene(): NatScene {
  const made = new NatScene();
  made.put('vpcs', 'blue', { enableExternal: true, staticRoutes: [{ policy: 'policyDst', cidr: '0.0.0.0/0', nextHopIP: '172.20.0.1' }] });
  for (const name of ['e1', 'e2']) made.eip(name);
  made.put('ovn-fips', 'f1', { ovnEip: 'e1', ...TARGET });
  return made;
}

function explained({ bench }: NatScene, resource: ResourceName, key: string): Explanation {
  const object = bench.object(resource, key) ?? assert.fail();
  return explain(bench.world, resource, object, {
    limits: { children: 10 },
    rows: true,
    unimplemented: () => undefined,
  });
}

const named = (objects: Explanation['dependents']['objects']): readonly string[] =>
  objects.map(({ resource, name }) => `${resource}/${name}`);
const found = ({ bench }: NatScene): readonly string[] =>
  statusOf(bench.world, true).findings.map(({ what, kind, key }) => `${what} ${kind} ${key}`);

test('an OvnEip shows its Subnet and the rules that use it; a rule its EIP, its Vpc and its rows', () => {
  const made = scene();
  const eip = explained(made, 'ovn-eips', 'e1');
  assert.deepEqual([named(eip.dependencies.objects), named(eip.dependents.objects)], [['subnets/external'], ['ovn-fips/f1']]);
  const rule = explained(made, 'ovn-fips', 'f1');
  assert.deepEqual(named(rule.dependencies.objects), ['ovn-eips/e1', 'vpcs/blue']);
  assert.deepEqual(
    rule.rows?.rows.map(({ table, name }) => `${table} ${name}`),
    ['NAT blue|dnat_and_snat|172.20.0.3|10.5.0.9'],
  );
  assert.deepEqual([rule.waiting, rule.notes, found(made)], [undefined, [], []]);
  // Edited to an EIP that does not exist it uses both.
  made.bench.edit('ovn-fips', 'f1', { ovnEip: 'later' });
  made.bench.converge();
  assert.deepEqual(named(explained(made, 'ovn-fips', 'f1').dependencies.objects), ['ovn-eips/e1', 'ovn-eips/later', 'vpcs/blue']);
  assert.equal(explained(made, 'ovn-fips', 'f1').waiting?.reason, 'EipMissing');
  assert.deepEqual(found(made), ['not ready OvnFip f1']);
});

test('a conflict is said of both rules, with the command that shows the other one', () => {
  const made = scene();
  made.put('ovn-fips', 'f2', { ovnEip: 'e1', vpc: 'blue', v4Ip: '10.5.0.10' });
  assert.deepEqual(found(made), ['conflict OvnFip f1', 'not ready OvnFip f2']);
  const second = explained(made, 'ovn-fips', 'f2');
  assert.deepEqual([second.waiting?.reason, second.next], ['NatConflict', ['kubectl describe ovn-fips.kubeovn.io f1']]);
  assert.match(explained(made, 'ovn-fips', 'f1').notes[0]?.message ?? '', /OvnFip f2 waits for it, since OVN cannot translate both/);
});

test('two sources of one address inside are said of both', () => {
  const made = scene();
  made.put('ovn-fips', 'f2', { ovnEip: 'e2', ...TARGET });
  assert.deepEqual(found(made), ['conflict OvnFip f1', 'conflict OvnFip f2']);
  made.bench.delete('ovn-fips', 'f1');
  made.bench.converge();
  assert.deepEqual(found(made), []);
});

test('an external Subnet that is deleted names the setting that frees it, and no cascade leads to the Vpcs of tenants', () => {
  const made = new NatScene();
  const { bench } = made;
  made.put('vpcs', 'red', { enableExternal: true, extraExternalSubnets: ['external'] });
  const command = 'kubectl edit vpc blue';
  const inBlue = 'OvnEip blue-external is the port of Vpc blue in Subnet external, and goes when spec.enableExternal of Vpc blue is false';
  const inRed =
    'OvnEip red-external is the port of Vpc red in Subnet external, and goes when spec.extraExternalSubnets of Vpc red does not list external';
  const { steps, obstacles } = cascadeOf(bench.world, 'subnets', 'external');
  assert.deepEqual(obstacles, [
    `${inBlue}, and this command edits no other object: ${command}`,
    `${inRed}, and this command edits no other object: kubectl edit vpc red`,
  ]);
  assert.ok(!steps.some(({ resource }) => resource === 'vpcs'));
  assert.deepEqual(cascadeOf(bench.world, 'vpcs', 'outside').obstacles, obstacles, 'nor from the Vpc that the Subnet lies in');
  const denied = deniedDeletionSentence(bench.world.settings, 'subnets', 'external', blockersOf(bench.world, 'subnets', 'external'));
  assert.ok(denied.includes(`${inBlue}: ${command}. ${inRed}: kubectl edit vpc red. `), denied);
  assert.doesNotMatch(denied, /cascade/);

  bench.delete('subnets', 'external');
  bench.converge();
  const { message = '' } = bench.condition('subnets', 'external', 'DeletionBlocked') ?? {};
  assert.ok(message.includes(`${inBlue}: ${command}. `), message);
  assert.deepEqual(blockedDeletions(bench.world), [], 'each object that the message names exists');
  assert.deepEqual(explained(made, 'subnets', 'external').next.slice(0, 2), [command, 'kubectl edit vpc red']);
  bench.edit('vpcs', 'blue', { enableExternal: false });
  bench.edit('vpcs', 'red', { extraExternalSubnets: [], enableExternal: false });
  bench.converge();
  assert.equal(bench.object('subnets', 'external'), undefined);
  assert.ok(bench.object('vpcs', 'blue') !== undefined && bench.object('vpcs', 'red') !== undefined);
});

test('of the default Vpc the ConfigMap is the setting', () => {
  const made = new NatScene();
  const { bench } = made;
  bench.put('configmaps', {
    metadata: { namespace: 'kube-system', name: 'ovn-external-gw-config' },
    spec: { 'enable-external-gw': 'true', type: 'distributed' },
  });
  made.put('vpcs', 'blue', {});
  bench.converge();
  assert.deepEqual(
    blockersOf(bench.world, 'subnets', 'external').edits.map(({ command }) => command),
    ['kubectl edit configmap -n kube-system ovn-external-gw-config'],
  );
  bench.delete('subnets', 'external');
  bench.converge();
  assert.match(
    bench.condition('subnets', 'external', 'DeletionBlocked')?.message ?? '',
    /when ConfigMap \S+ has enable-external-gw "false"/,
  );
  assert.deepEqual(blockedDeletions(bench.world), []);
});
