import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { ReportOutput } from '../../compile/output.ts';
import type { EventInput } from '../../kube/events/event-recorder.ts';
import { ObjectEvents } from './object-events.ts';

function report(uid: string): ReportOutput {
  return { kind: 'report', resource: 'services', key: `shop/${uid}`, uid, type: 'Warning', reason: 'NotCarriedOut', message: 'not yet' };
}

test('a standing fact gets one Event over all processes; the memory of sent Events is limited', async () => {
  const recorded: EventInput[] = [];
  let woken = 0;
  const objectEvents = new ObjectEvents(
    {
      listAll: () =>
        Promise.resolve([{ metadata: { name: 'e', namespace: 'shop' }, involvedObject: { uid: 'old' }, message: 'not yet' }] as never),
    },
    { record: (event) => recorded.push(event) },
    () => woken++,
  );
  const fresh = new Set([report('old'), report('new')]);
  objectEvents.flush(fresh);
  assert.equal(fresh.size, 2, 'first the Events of other processes are read');
  await turn();
  assert.equal(woken, 1);
  objectEvents.flush(fresh);
  objectEvents.flush(new Set([report('new')]));
  assert.deepEqual(
    recorded.map(({ target }) => target.uid),
    ['new'],
  );
  const quiet: ReportOutput = { ...report('quiet'), key: 'store/quiet' };
  objectEvents.flush(new Set([quiet]));
  objectEvents.flush(new Set(Array.from({ length: 10_001 }, (_, i) => report(`n${i}`))));
  objectEvents.flush(new Set([report('n10000'), report('new'), quiet]));
  assert.deepEqual(
    recorded.slice(10_003).map(({ target }) => target.uid),
    ['new'],
    'the oldest of the flooding namespace are forgotten, and none of another',
  );
});

test('a new leader sends the missing Events of standing facts, also those that it sent in an earlier term', async () => {
  const recorded: EventInput[] = [];
  let onServer = ['old'];
  const objectEvents = new ObjectEvents(
    {
      listAll: () =>
        Promise.resolve(
          onServer.map((uid) => ({ metadata: { name: uid, namespace: 'shop' }, involvedObject: { uid }, message: 'not yet' })) as never,
        ),
    },
    { record: (event) => recorded.push(event) },
    () => undefined,
  );
  const sentFor = async (): Promise<readonly (string | undefined)[]> => {
    objectEvents.flush(new Set());
    await turn();
    objectEvents.flush(new Set());
    return recorded.splice(0).map(({ target }) => target.uid);
  };
  const standing = [report('old'), report('lost'), { ...report('old'), message: 'in other words' }];
  objectEvents.begin(standing);
  assert.deepEqual(await sentFor(), ['lost', 'old']);
  objectEvents.begin([...standing.slice(0, 2), { ...report('old'), message: 'in words of its own', once: true }]);
  assert.deepEqual(await sentFor(), ['lost'], 'not sent, since the Lease was lost');
  onServer = ['old', 'lost'];
  objectEvents.begin(standing.slice(0, 2));
  assert.deepEqual(await sentFor(), []);
});

test('an Event that a tenant forged in its namespace suppresses no Event of another namespace', async () => {
  const recorded: EventInput[] = [];
  const forged = { metadata: { name: 'forged', namespace: 'attacker' }, involvedObject: { uid: 'victim' }, message: 'not yet' };
  const objectEvents = new ObjectEvents(
    { listAll: () => Promise.resolve([forged] as never) },
    { record: (event) => recorded.push(event) },
    () => undefined,
  );
  const victims = new Set<ReportOutput>([report('victim'), { ...report('victim'), resource: 'vpcs', key: 'red' }]);
  objectEvents.flush(victims);
  await turn();
  objectEvents.flush(victims);
  assert.deepEqual(
    recorded.map(({ target, share }) => [target.namespace, target.name, share]),
    [
      ['shop', 'victim', 'shop'],
      [undefined, 'red', ''],
    ],
  );
});
