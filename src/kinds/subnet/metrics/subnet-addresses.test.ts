import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Metrics } from '../../../runtime/metrics.ts';
import { DEFAULT_SETTINGS } from '../../../world/settings.ts';
import { World } from '../../../world/world.ts';
import { exposeSubnetAddresses } from './subnet-addresses.ts';

const usage = (using: bigint, available: bigint) => ({ using, available, usingRange: '', availableRange: '' });

function subnet(world: World, name: string, cidrBlock: string): void {
  world.subnets.set(name, {
    apiVersion: 'kubeovn.io/v1',
    kind: 'Subnet',
    metadata: { name, uid: name, resourceVersion: '1', creationTimestamp: '2026-01-01T00:00:00Z' },
    spec: { cidrBlock },
  });
}

async function shown(metrics: Metrics): Promise<string[]> {
  return (await metrics.text()).split('\n').filter((line) => line.startsWith('kiln_subnet_addresses'));
}

const line = (name: string, family: string, state: string, value: number): string =>
  `kiln_subnet_addresses{subnet="${name}",family="${family}",state="${state}"} ${value}`;

test('the addresses of a Subnet are exposed from its first counts until it is gone, and follow its networks', async () => {
  const world = new World(DEFAULT_SETTINGS);
  const metrics = new Metrics();
  subnet(world, 'a', '10.0.0.0/29');
  exposeSubnetAddresses(metrics, world, true);
  assert.deepEqual(await shown(metrics), []);
  world.usage.set('a', { v4: usage(2n, 3n), v6: usage(0n, 0n) });
  const v4 = [['capacity', 8] as const, ['used', 2] as const, ['reserved', 3] as const, ['available', 3] as const];
  assert.deepEqual(
    await shown(metrics),
    v4.map(([state, value]) => line('a', 'IPv4', state, value)),
  );
  subnet(world, 'a', '10.0.0.0/28,fd00::/126');
  world.usage.set('a', { v4: usage(2n, 11n), v6: usage(1n, 1n) });
  assert.ok((await shown(metrics)).includes(line('a', 'IPv4', 'capacity', 16)));
  assert.ok((await shown(metrics)).includes(line('a', 'IPv6', 'reserved', 2)));
  world.subnets.delete('a');
  world.usage.delete('a');
  assert.deepEqual(await shown(metrics), []);
});

test('without names the counts of all Subnets are added exactly, also with one of 2^64 addresses', async () => {
  const world = new World(DEFAULT_SETTINGS);
  const metrics = new Metrics();
  exposeSubnetAddresses(metrics, world, false);
  for (const [name, cidr] of [
    ['a', 'fd00::/64'],
    ['b', 'fd01::/125'],
    ['c', 'fd02::/126'],
  ] as const) {
    subnet(world, name, cidr);
    world.usage.set(name, { v4: usage(0n, 0n), v6: usage(1n, 2n) });
  }
  assert.ok((await shown(metrics)).includes(line('', 'IPv6', 'used', 3)));
  world.subnets.delete('a');
  world.usage.delete('a');
  const expected = [
    ['capacity', 12],
    ['used', 2],
    ['reserved', 6],
    ['available', 4],
  ] as const;
  assert.deepEqual(
    await shown(metrics),
    expected.map(([state, value]) => line('', 'IPv6', state, value)),
  );
});
