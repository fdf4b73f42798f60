import assert from 'node:assert/strict';
import { test } from 'node:test';
import { kilnAnnotation } from '../../api/well-known.ts';
import { Compiler } from '../../engine/compiler.ts';
import { Desired } from '../../compile/desired.ts';
import { RULES } from '../../compile/rules.ts';
import { DEFAULT_SETTINGS } from '../../world/settings.ts';
import { World } from '../../world/world.ts';
import { EarlyRules } from './early-rules.ts';

const META = { resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' };

function bind(world: World, name: string): void {
  const address = `10.0.0.${name}`;
  world.pods.set(`ns/p-${name}`, {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `p-${name}`,
      namespace: 'ns',
      uid: `uid-${name}`,
      ...META,
      annotations: {
        'ovn.kubernetes.io/allocated': 'true',
        'ovn.kubernetes.io/ip_address': address,
        'ovn.kubernetes.io/logical_switch': 's1',
      },
    },
    spec: { nodeName: 'n1' },
  });
}

function giveIp(world: World, name: string): void {
  const address = `10.0.0.${name}`;
  world.ips.set(`p-${name}.ns`, {
    apiVersion: 'kubeovn.io/v1',
    kind: 'IP',
    metadata: { name: `p-${name}.ns`, uid: `ip-${name}`, ...META, annotations: { [kilnAnnotation.podUid]: `uid-${name}` } },
    spec: { podName: `p-${name}`, namespace: 'ns', subnet: 's1', v4IpAddress: address, ipAddress: address },
  });
}

test('rules run once for each pod with an IP object', () => {
  const world = new World(DEFAULT_SETTINGS);
  const desired = new Desired(world);
  const compiler = new Compiler(world, desired, RULES, ({ error }) => assert.fail(String(error)));
  const early = new EarlyRules(world, compiler, () => 0);
  for (const name of ['2', '3', '4']) bind(world, name);
  giveIp(world, '2');
  giveIp(world, '3');
  const isRequested = (name: string): boolean => desired.addresses.request(`p-${name}.ns#uid-${name}`) !== undefined;

  assert.equal(
    early.run(() => true),
    false,
  );
  assert.equal(isRequested('2') || isRequested('3'), false);
  assert.equal(
    early.run(() => false),
    true,
  );
  assert.deepEqual(['2', '3', '4'].map(isRequested), [true, true, false]);

  giveIp(world, '4');
  early.end();
  early.run(() => false);
  assert.equal(isRequested('4'), false);
  world.reactor.runDue();
  assert.equal(isRequested('4'), true);
});

test('slow rules wait until all lists are complete', () => {
  const world = new World(DEFAULT_SETTINGS);
  const desired = new Desired(world);
  const compiler = new Compiler(world, desired, RULES, ({ error }) => assert.fail(String(error)));
  let now = 0;
  const early = new EarlyRules(world, compiler, () => (now += 100));
  const names = Array.from({ length: 20 }, (_, at) => String(at + 2));
  for (const name of names) {
    bind(world, name);
    giveIp(world, name);
  }
  early.run(() => false);
  const requested = names.filter((name) => desired.addresses.request(`p-${name}.ns#uid-${name}`) !== undefined);
  assert.equal(requested.length, 11);
});
