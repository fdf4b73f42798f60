/** What `ip -json` shows of a pod's device, compared with what it should be. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { POD_DEVICE } from '../testing/pod-device.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import { deviceDifferences } from './device-differences.ts';
import type { RouteJson } from './host-network.ts';
import { hasRoutes } from './ip-commands.ts';
import { innerEndOf, podDevice } from './ip-observation.ts';

const OUTPUT: DeviceOutput = {
  ...POD_DEVICE,
  addresses: [],
  routes: [
    { destination: '0.0.0.0/0', gateway: '10.16.0.1' },
    { destination: '::/0', gateway: 'fd00:10:16::1' },
    { destination: '10.99.0.1/32', gateway: '10.16.0.1' },
    { destination: 'fd00:99::1/128', gateway: 'fd00:10:16::1' },
  ],
};
const LINK = { ifname: 'eth0', address: OUTPUT.mac, mtu: 1_400, flags: ['UP'], addr_info: [] };
const V4: RouteJson = { dst: 'default', gateway: '10.16.0.1', dev: 'eth0' };
const V6: RouteJson = { dst: 'default', gateway: 'fd00:10:16::1', dev: 'eth0', metric: 1_024, pref: 'medium' };
const HOSTS: readonly RouteJson[] = [
  { dst: '10.99.0.1', gateway: '10.16.0.1', dev: 'eth0' },
  { dst: 'fd00:99::1', gateway: 'fd00:10:16::1', dev: 'eth0', metric: 1_024, pref: 'medium' },
];

for (const [what, routes, found] of [
  ['a route to a host, which ip shows without the length of its prefix', [V4, V6, ...HOSTS], true],
  ['the default route is lost', [V6, ...HOSTS], false],
  [
    'a VPN in the pod has the default routes',
    [{ ...V4, dev: 'tun0', gateway: '10.8.0.1' }, { dst: 'default', dev: 'tun0', metric: 1_024, pref: 'medium' }, ...HOSTS],
    true,
  ],
  ['a route with another metric stands beside', [{ ...V4, dev: 'tun0', metric: 50 }, V6, ...HOSTS], false],
  ['one of another table', [{ ...V4, dev: 'net1', table: '100' }, V6, ...HOSTS], false],
  ['another gateway on the same device', [{ ...V4, gateway: '10.16.0.9' }, V6, ...HOSTS], false],
] as const)
  test(`routes of a pod are ${found ? '' : 'not '}as they should be: ${what}`, () => {
    const inner = innerEndOf([[LINK], routes].map((list) => `${JSON.stringify(list)}\n`).join(''));
    const observed = podDevice(inner, { links: [{ ...LINK, ifname: OUTPUT.name }], routes: [], otherRoutes: [] }, OUTPUT.name);
    assert.ok(observed.kind === 'present');
    assert.equal(hasRoutes(OUTPUT, observed), found);
    assert.equal(deviceDifferences(OUTPUT, observed, { mac: '', addresses: [], routes: OUTPUT.routes }).length === 0, found);
  });
