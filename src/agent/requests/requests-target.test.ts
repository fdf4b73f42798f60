/** What a runtime's list of known interfaces removes, and what it does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../timing/clock.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { POD_DEVICE } from '../testing/pod-device.ts';
import { attachmentKey, deviceOf, type DeviceName, hostDevice, unusualDevice } from '../world/attachment.ts';
import { NodeWorld, type ObservedDevice } from '../world/node-world.ts';
import type { DeviceOutput } from '../world/outputs.ts';
import { RequestsTarget } from './requests-target.ts';

test('N16: an interface that the runtime does not list goes only if its namespace is gone: it may be of another network', () => {
  const world = new NodeWorld();
  const target = new RequestsTarget(world, systemClock, () => {});
  const add = (containerId: string): ReturnType<typeof attachmentKey> => {
    const key = attachmentKey(containerId, 'net1');
    const pod = { namespace: 'shop', name: 'web' };
    world.attachments.set(key, { key, order: 0, containerId, interfaceName: 'net1', namespacePath: '', pod, provider: 'ovn', routes: [] });
    return key;
  };
  const [known, other, gone] = [add('a'), add('b'), add('c')];
  world.devices.set(hostDevice('b', 'net1'), { kind: 'absent' });
  for (const container of ['a', 'c']) world.devices.set(hostDevice(container, 'net1'), { kind: 'no-namespace' });
  target.collect(new Set([known]));
  const removing = [known, other, gone].map((key) => world.attachments.peek(key)?.removing === true);
  assert.deepEqual(removing, [false, false, true]);
});

test('a refused request ends at once with the reason, and what was begun for it is removed', async () => {
  const world = new NodeWorld();
  const target = new RequestsTarget(world, systemClock, () => {});
  const key = attachmentKey('a', 'eth0');
  const pod = { namespace: 'shop', name: 'web' };
  const attachment = { key, containerId: 'a', interfaceName: 'eth0', namespacePath: '', pod, provider: 'ovn', routes: [] };
  const reply = target.add(attachment, new AbortController().signal);
  target.desired.add({ kind: 'answer', attachment: key, answer: { kind: 'refused', reason: 'in use' } });
  target.flush();
  assert.deepEqual(await reply, { ok: false, reason: 'in use' });
  assert.equal(world.attachments.peek(key)?.removing, true);
});

test('N02, N11: a request ends when its pod is deleted, and not while the pod is still unknown', async () => {
  const world = new NodeWorld();
  const target = new RequestsTarget(world, systemClock, () => {});
  const key = attachmentKey('a', 'eth0');
  const pod = { namespace: 'shop', name: 'web' };
  const attachment = { key, containerId: 'a', interfaceName: 'eth0', namespacePath: '', pod, provider: 'ovn', routes: [] };
  const reply = target.add(attachment, new AbortController().signal);
  let ended = false;
  void reply.then(() => (ended = true));
  for (const podUid of [undefined, 'u', 'u', undefined]) {
    await Promise.resolve();
    assert.equal(ended, false);
    for (const output of target.desired.of(key)) target.desired.remove(output);
    target.desired.add({ kind: 'answer', attachment: key, answer: { kind: 'waiting', reason: 'it comes', podUid } });
    target.flush();
  }
  assert.deepEqual(await reply, { ok: false, reason: 'the pod (uid u) was deleted while its interface was made' });
});

test('a DEL that comes before the interfaces of earlier processes are known waits for them', async () => {
  const clock = new ManualClock();
  const target = new RequestsTarget(new NodeWorld(), clock, () => {});
  const removed = target.remove(attachmentKey('a', 'eth0'));
  assert.equal(await Promise.race([removed, Promise.resolve('waits')]), 'waits');
  target.restored();
  assert.deepEqual(await removed, { ok: true, reply: undefined });
  const other = new RequestsTarget(new NodeWorld(), clock, () => {});
  const late = other.check(attachmentKey('a', 'eth0'));
  clock.advance(15_000);
  assert.match(JSON.stringify(await late), /has not read yet which interfaces earlier processes made/);
});

test('a DEL is answered when no write of the interface is under way', async () => {
  const world = new NodeWorld();
  let isWriting = true;
  const devices = { isWriting: () => isWriting, examine: () => {}, look: () => Promise.resolve(undefined) };
  const target = new RequestsTarget(world, new ManualClock(), () => {}, devices);
  const key = attachmentKey('a', 'eth0');
  const pod = { namespace: 'shop', name: 'web' };
  world.attachments.set(key, {
    key,
    order: 0,
    containerId: 'a',
    interfaceName: 'eth0',
    namespacePath: '',
    pod,
    provider: 'ovn',
    routes: [],
  });
  target.restored();
  target.flush();
  const removed = target.remove(key);
  await new Promise(setImmediate);
  target.desired.add({ kind: 'answer', attachment: key, answer: { kind: 'removed' } });
  target.flush();
  assert.equal(await Promise.race([removed, Promise.resolve('waits')]), 'waits');
  isWriting = false;
  target.flush();
  assert.deepEqual([await removed, world.attachments.peek(key)], [{ ok: true, reply: undefined }, undefined]);
});

const POD = { namespace: 'shop', name: 'web' };
const OUTPUT: DeviceOutput = {
  ...POD_DEVICE,
  name: hostDevice('a', 'eth0'),
  attachment: attachmentKey('a', 'eth0'),
  alias: 'kiln:a/eth0',
};
const SOUND = {
  ...{ kind: 'present', mac: OUTPUT.mac, mtu: 1_400, up: true },
  ...{ addresses: ['10.16.0.5/16'], routes: ['0.0.0.0/0 10.16.0.1'] },
} as const satisfies ObservedDevice;

for (const [what, observed, found] of [
  [
    'its address',
    { ...SOUND, addresses: [] },
    /addresses are none, not 10\.16\.0\.5\/16; the node agent sets it again; .*: nsenter --net=\/run\/netns\/a ip monitor$/,
  ],
  ['its route', { ...SOUND, routes: ['0.0.0.0/0 10.16.0.9'] }, /routes are 0\.0\.0\.0\/0 10\.16\.0\.9, not 0\.0\.0\.0\/0 10\.16\.0\.1;/],
  ['its MAC address', { ...SOUND, mac: '02:00:00:00:00:01' }, /MAC address is 02:00:00:00:00:01, not 00:00:00:aa:bb:01;/],
  ['its link', { ...SOUND, up: false }, /link is down, not up;/],
  ['its MTU', { ...SOUND, mtu: 600 }, /MTU is 600, not 1400;/],
  ['all of it', { kind: 'absent' }, /device is none, not eth0 in \/run\/netns\/a;/],
] as const)
  test(`CHECK reads the device: a pod that lost ${what} does not pass, whatever was observed before`, async () => {
    const { target, key } = standing(() => observed);
    const reply = await target.check(key);
    assert.match(reply.ok ? '' : reply.reason, /^interface eth0 of pod shop\/web is not as it should be: /);
    assert.match(reply.ok ? '' : reply.reason, found);
  });

test('CHECK compares with what the runtime was answered, and passes when all is there', async () => {
  const { target, key } = standing(() => SOUND);
  const previous = { mac: SOUND.mac, addresses: ['10.16.0.5/16'], routes: [{ destination: '0.0.0.0/0', gateway: '10.16.0.1' }] };
  for (const passed of [undefined, previous, { mac: '', addresses: [], routes: [] }])
    assert.deepEqual(await target.check(key, passed), { ok: true, reply: undefined });
  const reply = await target.check(key, { ...previous, addresses: ['10.16.0.6/16'] });
  assert.match(
    reply.ok ? '' : reply.reason,
    /addresses are 10\.16\.0\.5\/16, not 10\.16\.0\.5\/16, 10\.16\.0\.6\/16; .*: kubectl delete pod web -n shop$/,
  );
});

test('a repeated ADD reads the device before it is answered', async () => {
  let looks = 0;
  const { target, key, world } = standing(() => ((looks += 1), SOUND));
  const attachment = world.attachments.peek(key);
  assert.ok(attachment);
  const reply = target.add(attachment, new AbortController().signal);
  await new Promise(setImmediate);
  assert.equal(looks, 1);
  target.flush();
  assert.equal((await reply).ok, true);
});

test('two containers whose ids begin alike have two devices, and each keeps its own', async () => {
  const { target, world } = standing(() => SOUND);
  const [one, other] = ['0123456789abXX', '0123456789abYY'].map((containerId) => {
    const key = attachmentKey(containerId, 'eth0');
    const attachment = {
      key,
      containerId,
      interfaceName: 'eth0',
      namespacePath: `/run/${containerId}`,
      pod: POD,
      provider: 'ovn',
      routes: [],
    };
    void target.add(attachment, new AbortController().signal);
    // The runtime asks again, for another namespace.
    void target.add({ ...attachment, namespacePath: `/run/${containerId}.2` }, new AbortController().signal);
    const made = world.attachments.peek(key);
    assert.ok(made);
    return deviceOf(made);
  });
  assert.equal(one, '0123456789ab_h');
  assert.match(other ?? '', /^[0-9a-z]{12}_h$/);
  assert.notEqual(other, one);
  // As they are found after a restart.
  assert.deepEqual(unusualDevice('0123456789abXX', 'eth0', one as DeviceName), {});
  assert.deepEqual(unusualDevice('0123456789abYY', 'eth0', other as DeviceName), { device: other });
  await target.stop();
});

/** An interface that is ready, as far as is observed. */
function standing(look: () => ObservedDevice): {
  readonly target: RequestsTarget;
  readonly key: ReturnType<typeof attachmentKey>;
  readonly world: NodeWorld;
} {
  const world = new NodeWorld();
  const devices = { isWriting: () => false, examine: () => {}, look: () => Promise.resolve({ output: OUTPUT, observed: look() }) };
  const target = new RequestsTarget(world, new ManualClock(), () => {}, devices);
  const key = attachmentKey('a', 'eth0');
  world.attachments.set(key, {
    key,
    order: 1,
    containerId: 'a',
    interfaceName: 'eth0',
    namespacePath: '/run/netns/a',
    pod: POD,
    provider: 'ovn',
    routes: [],
  });
  target.restored();
  target.desired.add({ kind: 'answer', attachment: key, answer: { kind: 'ready', reply: {} } });
  target.flush();
  return { target, key, world };
}
