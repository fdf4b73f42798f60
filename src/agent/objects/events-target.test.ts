import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { EventInput } from '../../kube/events/event-recorder.ts';
import type { ObjectEventOutput } from '../world/outputs.ts';
import { EventsTarget } from './events-target.ts';

const ABOUT = { kind: 'object-event', resource: 'pods', namespace: 'shop', name: 'web', uid: 'u' } as const;

test('an Event is told once while it holds, and again after it ended', () => {
  const told: EventInput[] = [];
  const target = new EventsTarget({ record: (event) => void told.push(event), close: () => Promise.resolve() });
  const output: ObjectEventOutput = { ...ABOUT, reason: 'PodQoSUpdateFailed', message: 'no queue' };
  target.desired.add(output);
  target.flush();
  // A rule that runs again emits an equal one.
  const again = { ...output };
  target.desired.add(again);
  target.desired.remove(output);
  target.flush();
  assert.partialDeepStrictEqual(told, [{ type: 'Warning', message: 'no queue', target: { namespace: 'shop', name: 'web', uid: 'u' } }]);
  assert.equal(told.length, 1);
  target.desired.remove(again);
  target.flush();
  target.desired.add(output);
  target.flush();
  assert.equal(told.length, 2);
});
