import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENT } from '../../runtime/log.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { Changes } from '../listing/changes.ts';
import { Retries } from '../retries.ts';
import { attachmentKey, type DeviceName } from '../world/attachment.ts';
import { NodeWorld } from '../world/node-world.ts';
import { HostNetwork, type HostState } from './host-network.ts';
import { KernelTarget } from './kernel-target.ts';
import type { Programs } from './programs.ts';

/** With its addresses once they were written; its links and routes are read as one. */
class OneDevice extends HostNetwork {
  addresses: readonly { readonly local: string; readonly prefixlen: number }[] = [];

  override read(): Promise<HostState> {
    const link = { ifname: 'ovn0', address: '00:00:00:00:00:01', mtu: 1_400, flags: ['UP'], addr_info: this.addresses };
    return Promise.resolve({ links: [link], routes: [], otherRoutes: [] });
  }
}

test('a node forwards IPv6 from the first write on, also where it forwarded IPv4 before and the device had no address', async () => {
  const sysctls = new Map([
    ['net.ipv4.ip_forward', '1'],
    ['net.ipv6.conf.all.forwarding', '0'],
  ]);
  const programs: Programs = {
    ...({} as Programs),
    sleep: () => Promise.resolve(),
    run: ([program, ...args]) => {
      if (program === 'sysctl' && args[0] === '-n')
        return Promise.resolve({
          ok: true,
          output: `${args
            .slice(1)
            .map((key) => sysctls.get(key) ?? '')
            .join('\n')}\n`,
        });
      if (program === 'sysctl') for (const [key = '', value = ''] of args.slice(1).map((one) => one.split('='))) sysctls.set(key, value);
      else
        host.addresses = [
          { local: '100.64.0.2', prefixlen: 16 },
          { local: 'fd00:64::2', prefixlen: 112 },
        ];
      return Promise.resolve({ ok: true, output: '' });
    },
  };
  const host = new OneDevice(programs);
  const [world, clock, log] = [new NodeWorld(), new ManualClock(), SILENT];
  const ended = Promise.withResolvers<void>();
  const wake = (): void => ended.resolve();
  const retries = new Retries(clock, world, () => {});
  const changes = new Changes({ programs, clock, log });
  const target = new KernelTarget({ programs, retries, changes, log, wake, world, clock, host, removals: host });
  target.desired.add({
    kind: 'link',
    name: 'ovn0' as DeviceName,
    mac: undefined,
    mtu: undefined,
    addresses: ['100.64.0.2/16', 'fd00:64::2/112'],
    routes: [],
  });
  target.flush();
  await ended.promise;
  assert.deepEqual([...sysctls.values()], ['1', '1']);
});

test('N15: what is only read, as hundreds of devices after a start of the node, does not delay what is made', () => {
  const asked: string[] = [];
  const programs: Programs = {
    ...({} as Programs),
    run: (command) => {
      asked.push(command.join(' '));
      return new Promise(() => {});
    },
  };
  const [world, clock, log] = [new NodeWorld(), new ManualClock(), SILENT];
  const retries = new Retries(clock, world, () => {});
  const host = new OneDevice(programs);
  const changes = new Changes({ programs, clock, log });
  const target = new KernelTarget({ programs, retries, changes, log, wake: () => {}, world, clock, host, removals: host });
  for (let at = 0; at < 200; at += 1)
    target.desired.add({
      kind: 'retained-device',
      name: `old${at}_h` as DeviceName,
      namespacePath: `/run/netns/old${at}`,
      innerName: 'eth0',
    });
  const name = 'new_h' as DeviceName;
  world.devices.set(name, { kind: 'absent' });
  target.desired.add({
    kind: 'device',
    name,
    attachment: attachmentKey('new', 'eth0'),
    alias: 'kiln:new/eth0',
    namespacePath: '/run/netns/new',
    innerName: 'eth0',
    mac: '00:00:00:00:00:01',
    mtu: 1_400,
    addresses: [],
    routes: [],
    checksumOffload: false,
    connected: false,
    detectsDuplicates: false,
    probeMs: 40,
    gateways: [],
    needsGateways: false,
  });
  target.flush();
  assert.match(asked[0] ?? '', /\/run\/netns\/new/);
});
