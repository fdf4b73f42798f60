import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { DeviceName } from '../world/attachment.ts';
import { linkCommands } from './ip-commands.ts';

test('a node forwards packets of each family that it has in the join network, and of no other', () => {
  const commands = (...addresses: readonly string[]): readonly unknown[] => {
    const device = { mac: '00:00:00:00:00:01', mtu: 1_400, addresses, routes: [] };
    const output = { kind: 'link', name: 'ovn0' as DeviceName, ...device } as const;
    return linkCommands(output, { kind: 'present', up: true, forwards: false, ...device }).map(({ command }) => command);
  };
  assert.deepEqual(commands('100.64.0.2/16'), [['sysctl', '-qw', 'net.ipv4.ip_forward=1']]);
  const both = ['sysctl', '-qw', 'net.ipv4.ip_forward=1', 'net.ipv6.conf.all.forwarding=1'];
  assert.deepEqual(commands('100.64.0.2/16', 'fd00:64::2/112'), [both]);
});
