/** When the kernel is listed: after what `ip monitor` says, seldom otherwise, and often while it does not run. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import type { Programs, Watching } from '../kernel/programs.ts';
import { SILENT } from '../../runtime/log.ts';
import { Changes, type Listing } from './changes.ts';
import { kernelChange, MONITOR, OWN_MONITOR } from './kernel-change.ts';

class Scene {
  readonly clock = new ManualClock();
  readonly monitors: Watching[] = [];
  readonly commands: (readonly string[])[] = [];
  readonly warnings: string[] = [];
  ended = 0;
  readonly changes: Changes;
  /** Names of listings, in the order in which they were called. */
  readonly listed: string[] = [];

  constructor() {
    const programs: Programs = {
      run: () => Promise.reject(new Error('no program is run')),
      converse: () => assert.fail(),
      sleep: () => Promise.resolve(),
      watch: (command, watching) => {
        this.commands.push(command);
        this.monitors.push(watching);
        return () => (this.ended += 1);
      },
    };
    this.changes = new Changes({ programs, clock: this.clock, log: { ...SILENT, warn: (text) => this.warnings.push(text) } });
    this.changes.start();
  }

  add(name: string, concerns?: Listing['concerns']): Listing {
    const listing = { list: () => Promise.resolve(void this.listed.push(name)), ...(concerns && { concerns }) };
    this.changes.add(listing);
    return listing;
  }

  /** @returns what was listed in that time */
  async pass(ms: number): Promise<readonly string[]> {
    for (let passed = 0; passed < ms; passed += 50) {
      this.clock.advance(Math.min(50, ms - passed));
      await new Promise((resolve) => setImmediate(resolve));
    }
    return this.listed.splice(0);
  }
}

test('one program and one timer: a change is listed once shortly after it, and without a change each minute', async () => {
  const scene = new Scene();
  scene.add('links', ({ part }) => part === 'LINK');
  scene.add('rules', ({ part }) => part === 'RULE');
  assert.deepEqual(await scene.pass(50), ['links', 'rules']);
  assert.equal(scene.clock.timers, 1);
  // The monitor listens by then.
  assert.deepEqual(await scene.pass(1_000), ['links', 'rules']);
  for (let burst = 0; burst < 30; burst++) scene.monitors[0]?.line('[LINK]4: eth0: <UP>');
  scene.monitors[0]?.line('[NEIGH]192.0.2.1 dev eth0');
  assert.deepEqual(await scene.pass(1_000), ['links']);
  assert.deepEqual(await scene.pass(50_000), []);
  assert.deepEqual(await scene.pass(12_000), ['rules', 'links']);
  assert.deepEqual([scene.monitors.length, scene.clock.timers], [1, 1]);
});

test('however much changes, there is a pause between two lists', async () => {
  const scene = new Scene();
  scene.add('links', () => true);
  await scene.pass(3_000);
  let lists = 0;
  for (let passed = 0; passed < 5_000; passed += 50) {
    scene.monitors[0]?.line('[ROUTE]192.0.2.0/24 dev eth0');
    lists += (await scene.pass(50)).length;
  }
  assert.ok(lists >= 9 && lists <= 11, `${lists} lists`);
});

test('what the monitor missed is listed, and all that it tells of is listed often while it does not run', async () => {
  const scene = new Scene();
  scene.add('links', () => false);
  const filter = scene.add('filter');
  await scene.pass(2_000);
  scene.monitors[0]?.warned('netlink receive error No buffer space available (105)');
  assert.deepEqual(await scene.pass(500), ['links']);
  // Nothing tells of it.
  assert.deepEqual(await scene.pass(10_000), ['filter', 'filter']);
  await scene.changes.remove(filter);
  scene.monitors[0]?.ended('it ended with 1');
  assert.deepEqual(await scene.pass(900), ['links']);
  await scene.pass(200);
  assert.equal(scene.monitors.length, 2);
  scene.monitors[1]?.ended('it ended with 1');
  scene.monitors.at(-1)?.ended('spawn setpriv ENOENT');
  assert.ok((await scene.pass(10_000)).length >= 2);
  scene.changes.stop();
  assert.deepEqual(await scene.pass(60_000), []);
  assert.equal(scene.clock.timers, 0);
});

test('a line is of a pod by the name of its device', () => {
  assert.deepEqual(kernelChange('[LINK]Deleted 8: 0123456789ab_h@if2: <BROADCAST,MULTICAST> mtu 1400'), {
    part: 'LINK',
    text: 'Deleted 8: 0123456789ab_h@if2: <BROADCAST,MULTICAST> mtu 1400',
    ofPod: true,
  });
  for (const [line, ofPod] of [
    ['[ADDR]8: c0ffee0_net1_h    inet6 fe80::1/64 scope link', true],
    ['[ROUTE]fe80::/64 dev 0123456789ab_h proto kernel metric 256 pref medium', true],
    ['[LINK]2: eth0: <BROADCAST> mtu 1500 \\    link/ether 02:00:00:00:00:01', false],
    ['[LINK]2: br_hosts: <BROADCAST> mtu 1500', false],
  ] as const)
    assert.equal(kernelChange(line)?.ofPod, ofPod, line);
  assert.equal(kernelChange('something else'), undefined);
});

test('changes in namespaces of pods list nothing: they go to those that ask for them', async () => {
  const scene = new Scene();
  const [inside, missed]: [string[], number[]] = [[], []];
  scene.changes.add({
    list: () => Promise.resolve(void scene.listed.push('links')),
    concerns: () => true,
    inside: ({ inside: number, part, text }) => inside.push(`${number} ${part} ${text}`),
    missed: () => missed.push(scene.clock.now()),
  });
  await scene.pass(2_000);
  assert.deepEqual(scene.commands, [MONITOR]);
  scene.monitors[0]?.line('[nsid 3][ADDR]Deleted 2: eth0    inet 10.16.0.5/16 scope global eth0');
  assert.deepEqual([await scene.pass(500), inside, missed], [[], ['3 ADDR Deleted 2: eth0    inet 10.16.0.5/16 scope global eth0'], []]);
  scene.monitors[0]?.line('[nsid current][LINK]4: eth0: <UP>');
  assert.deepEqual(await scene.pass(500), ['links']);
  // It may have missed what happened in a pod, and so may one that died.
  scene.monitors[0]?.warned('netlink receive error No buffer space available (105)');
  assert.equal(missed.length, 1);
  scene.monitors[0]?.ended('it was ended by SIGKILL');
  await scene.pass(2_000);
  assert.deepEqual([scene.commands, missed.length], [[MONITOR, MONITOR], 2]);
});

test('a pod that changes its network without an end fills no log', async () => {
  const scene = new Scene();
  for (let at = 0; at < 100; at += 1) scene.monitors[0]?.warned('netlink receive error No buffer space available (105)');
  assert.equal(scene.warnings.length, 1);
  await scene.pass(60_000);
  scene.monitors[0]?.warned('netlink receive error No buffer space available (105)');
  assert.equal(scene.warnings.length, 2);
});

test('without capability NET_BROADCAST the node itself is watched on', async () => {
  const scene = new Scene();
  scene.add('links', ({ part }) => part === 'LINK');
  scene.monitors[0]?.warned('NETLINK_LISTEN_ALL_NSID: Operation not permitted');
  scene.monitors[0]?.ended('it ended with 1');
  assert.deepEqual(scene.commands, [MONITOR, OWN_MONITOR]);
  await scene.pass(2_000);
  scene.monitors[1]?.line('[LINK]4: eth0: <UP>');
  assert.deepEqual(await scene.pass(500), ['links']);
});
