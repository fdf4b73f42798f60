/** What a runtime's list of known interfaces removes, and what it does not. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { systemClock } from '../../timing/clock.ts';
import { ManualClock } from '../../timing/testing/manual-clock.ts';
import { attachmentKey, hostDevice } from '../world/attachment.ts';
import { NodeWorld } from '../world/node-world.ts';
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
  const target = new RequestsTarget(
    world,
    new ManualClock(),
    () => {},
    () => isWriting,
  );
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
