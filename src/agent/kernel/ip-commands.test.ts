import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceName } from '../world/attachment.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import { linkChange, surplusAddresses, withdrawalLines } from './ip-commands.ts';

test('a node forwards packets of each family that it has in the join network, and of no other; it still hears the routers that it heard', () => {
  const commands = (...addresses: readonly string[]): readonly unknown[] => {
    const advertised = ['eth0.5'];
    const device = { mac: '00:00:00:00:00:01', mtu: 1_400, addresses, routes: [] };
    const output = { kind: 'link', name: 'ovn0' as DeviceName, ...device } as const;
    return linkChange(output, { kind: 'present', up: true, forwards: false, advertised, ...device }).keys;
  };
  assert.deepEqual(commands('100.64.0.2/16'), ['net.ipv4.ip_forward=1']);
  const both = ['net.ipv6.conf.eth0/5.accept_ra=2', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'];
  assert.deepEqual(commands('100.64.0.2/16', 'fd00:64::2/112'), both);
});

test('N23: the link-local address and the route to the network of an address are made again, before routes by its gateways', () => {
  const device = { mac: '00:00:00:00:00:01', mtu: 1_400, addresses: ['100.64.0.2/16', 'fd00:64::2/112'] };
  const routes = [{ destination: '10.16.0.0/16', gateway: '100.64.0.1' }];
  const observed = {
    kind: 'present',
    up: true,
    forwards: true,
    ...device,
    routes: [],
    unconnected: device.addresses,
    withoutLinkLocal: true,
  } as const;
  assert.deepEqual(linkChange({ kind: 'link', name: 'ovn0' as DeviceName, ...device, routes }, observed).lines, [
    'address add fe80::200:ff:fe00:1/64 dev ovn0 scope link',
    'route append 100.64.0.0/16 dev ovn0 proto kernel scope link src 100.64.0.2',
    'route append fd00:64::/112 dev ovn0 proto kernel metric 256',
    'route add 10.16.0.0/16 via 100.64.0.1 dev ovn0 proto 111',
  ]);
});

test('a device that is to have no other addresses loses those that it has, one of a pod keeps them', () => {
  const present = { kind: 'present', mac: '', mtu: 1400, up: true, addresses: ['10.0.0.5/24', '10.0.0.6/24'], routes: [] } as const;
  const output = { innerName: 'eth0', addresses: ['10.0.0.6/24', '10.0.0.7/24'] } as unknown as DeviceOutput;
  assert.deepEqual(surplusAddresses(output, present), []);
  assert.deepEqual(surplusAddresses({ ...output, exclusive: true }, present), ['10.0.0.5/24']);
  assert.deepEqual(withdrawalLines(output, ['10.0.0.5/24']), ['address delete 10.0.0.5/24 dev eth0']);
});
