import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import type { NoticeOutput } from '../../compile/output.ts';
import type { EventInput } from '../../kube/event-recorder.ts';
import { Notices } from './notices.ts';

function notice(uid: string): NoticeOutput {
  return { kind: 'notice', resource: 'services', key: `shop/${uid}`, uid, type: 'Warning', reason: 'NotCarriedOut', message: 'not yet' };
}

test('a standing fact gets one Event over all processes; the memory of sent Events is limited', async () => {
  const recorded: EventInput[] = [];
  let woken = 0;
  const notices = new Notices(
    {
      listAll: () =>
        Promise.resolve([{ metadata: { name: 'e', namespace: 'shop' }, involvedObject: { uid: 'old' }, message: 'not yet' }] as never),
    },
    { record: (event) => recorded.push(event) },
    () => woken++,
  );
  const fresh = new Set([notice('old'), notice('new')]);
  notices.flush(fresh);
  assert.equal(fresh.size, 2, 'first the Events of other processes are read');
  await turn();
  assert.equal(woken, 1);
  notices.flush(fresh);
  notices.flush(new Set([notice('new')]));
  assert.deepEqual(
    recorded.map(({ target }) => target.uid),
    ['new'],
  );
  const quiet: NoticeOutput = { ...notice('quiet'), key: 'store/quiet' };
  notices.flush(new Set([quiet]));
  notices.flush(new Set(Array.from({ length: 10_001 }, (_, i) => notice(`n${i}`))));
  notices.flush(new Set([notice('n10000'), notice('new'), quiet]));
  assert.deepEqual(
    recorded.slice(10_003).map(({ target }) => target.uid),
    ['new'],
    'the oldest of the flooding namespace are forgotten, and none of another',
  );
});

test('a new leader sends the missing Events of standing facts, also those that it sent in an earlier term', async () => {
  const recorded: EventInput[] = [];
  let onServer = ['old'];
  const notices = new Notices(
    {
      listAll: () =>
        Promise.resolve(
          onServer.map((uid) => ({ metadata: { name: uid, namespace: 'shop' }, involvedObject: { uid }, message: 'not yet' })) as never,
        ),
    },
    { record: (event) => recorded.push(event) },
    () => undefined,
  );
  const told = async (): Promise<readonly (string | undefined)[]> => {
    notices.flush(new Set());
    await turn();
    notices.flush(new Set());
    return recorded.splice(0).map(({ target }) => target.uid);
  };
  const standing = [notice('old'), notice('lost'), { ...notice('old'), message: 'in other words' }];
  notices.begin(standing);
  assert.deepEqual(await told(), ['lost', 'old']);
  notices.begin([...standing.slice(0, 2), { ...notice('old'), message: 'in words of its own', once: true }]);
  assert.deepEqual(await told(), ['lost'], 'not sent, since the Lease was lost');
  onServer = ['old', 'lost'];
  notices.begin(standing.slice(0, 2));
  assert.deepEqual(await told(), []);
});

test('an Event that a tenant forged in its namespace suppresses no Event of another namespace', async () => {
  const recorded: EventInput[] = [];
  const forged = { metadata: { name: 'forged', namespace: 'attacker' }, involvedObject: { uid: 'victim' }, message: 'not yet' };
  const notices = new Notices(
    { listAll: () => Promise.resolve([forged] as never) },
    { record: (event) => recorded.push(event) },
    () => undefined,
  );
  const victims = new Set<NoticeOutput>([notice('victim'), { ...notice('victim'), resource: 'vpcs', key: 'red' }]);
  notices.flush(victims);
  await turn();
  notices.flush(victims);
  assert.deepEqual(
    recorded.map(({ target, share }) => [target.namespace, target.name, share]),
    [
      ['shop', 'victim', 'shop'],
      [undefined, 'red', ''],
    ],
  );
});
