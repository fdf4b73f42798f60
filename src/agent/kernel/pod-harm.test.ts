/** Lines of `ip monitor` from the namespace of a pod: which of them are worth a look, and how often. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { kernelChange } from '../listing/kernel-change.ts';
import { POD_DEVICE } from '../testing/pod-device.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import { isHarm } from './pod-harm.ts';
import { Suspects } from './suspects.ts';

const OUTPUT: DeviceOutput = {
  ...POD_DEVICE,
  addresses: ['10.16.0.5/16', 'fd00:10:16::5/112'],
  routes: [
    { destination: '0.0.0.0/0', gateway: '10.16.0.1' },
    { destination: '::/0', gateway: 'fd00:10:16::1' },
    { destination: '10.99.0.1/32', gateway: '10.16.0.1' },
  ],
};
const LINK =
  '2: eth0@if7: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1400 qdisc noqueue state UP group default \\    link/ether 00:00:00:aa:bb:01 brd ff:ff:ff:ff:ff:ff link-netnsid 0';

/** As the kernel told them; names of devices in addresses and routes are those of the node. */
for (const [line, harm] of [
  [`[LINK]${LINK}`, false],
  [`[LINK]${LINK.replace('UP,LOWER_UP', 'M-DOWN')}`, true],
  [`[LINK]${LINK.replace('1400', '1300')}`, true],
  [`[LINK]${LINK.replace('bb:01', 'bb:77')}`, true],
  [`[LINK]${LINK.replace('eth0', 'net1').replace('1400', '1300')}`, false],
  ['[ADDR]2: v0_h    inet 10.16.0.5/16 scope global eth0', false],
  ['[ADDR]Deleted 2: v0_h    inet 10.16.0.5/16 scope global eth0\\       valid_lft forever', true],
  ['[ADDR]Deleted 2: v0_h    inet6 fd00:10:16::5/112 scope global', true],
  ['[ADDR]Deleted 2: v0_h    inet 10.16.0.77/16 scope global secondary eth0', false],
  ['[ROUTE]default via 10.16.0.1 dev v0_h ', false],
  ['[ROUTE]Deleted default via 10.16.0.1 dev v0_h ', true],
  ['[ROUTE]default via 10.16.0.9 dev v0_h ', true],
  ['[ROUTE]Deleted default via 10.16.0.9 dev v0_h ', false],
  ['[ROUTE]Deleted default via fd00:10:16::1 dev v0_h metric 1024 pref medium', true],
  ['[ROUTE]Deleted 10.99.0.1 via 10.16.0.1 dev v0_h ', true],
  ['[ROUTE]default via 10.16.0.9 dev v0_h table 100 ', false],
  ['[ROUTE]10.44.0.0/16 via 10.16.0.9 dev v0_h ', false],
  ['[NETCONF]inet v0_h forwarding off', false],
] as const)
  test(`${harm ? 'harm' : 'none'}: ${line.slice(0, 70)}`, () => {
    const change = kernelChange(`[nsid 0]${line}`);
    assert.ok(change?.inside === 0);
    assert.equal(isHarm(change, OUTPUT), harm);
  });

test('a device that is changed over and over is looked at less and less often', () => {
  const clock = new ManualClock();
  const looks: number[] = [];
  const suspects = new Suspects(clock, () => looks.push(clock.now()));
  const flap = (ms: number): number => {
    looks.splice(0);
    for (let passed = 0; passed < ms; passed += 50) {
      suspects.notice(OUTPUT.name);
      clock.advance(50);
    }
    return looks.length;
  };
  const first = flap(1_000);
  assert.ok(first > 4 && first < 8, String(first));
  assert.ok(flap(600_000) < 35);
  clock.advance(300_000);
  assert.equal(flap(100), 1);
  suspects.forget(OUTPUT.name);
  looks.splice(0);
  suspects.notice(OUTPUT.name);
  suspects.stop();
  clock.advance(60_000);
  assert.deepEqual(looks, []);
});
