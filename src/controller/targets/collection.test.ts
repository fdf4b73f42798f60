import assert from 'node:assert/strict';
import { test } from 'node:test';
import { SILENT } from '../../runtime/log.ts';
import { PodScene } from '../../testing/pod-scene.ts';
import { clusterObject } from '../../world/built-in.ts';
import { Collection } from './collection.ts';

test('a pause is one Event on the default Vpc and has a reason for the status, and so is its end', async () => {
  const { bench } = new PodScene();
  bench.converge();
  bench.foreignRow('Logical_Switch', '00000000-0000-4000-8000-000000000001', {
    name: 'left',
    external_ids: { vendor: 'kube-ovn', 'kiln.io/owner': 'subnet//left', 'kiln.io/uid': 'u', 'kiln.io/rule': 'subnet-switch' },
  });
  const events: (readonly [string, string, string])[] = [];
  const timers: (() => void)[] = [];
  let resumed: () => void = () => undefined;
  const over = new Promise<void>((done) => {
    resumed = done;
  });
  const collection = new Collection({
    ...{ enabled: true, rows: bench.world.rows, desired: bench.desired.rows, log: SILENT, about: clusterObject(bench.world.settings) },
    // No Subnet is listed, which no cluster lacks.
    caches: { explains: () => false, confirmed: () => Promise.resolve(true), sizeOf: () => 0 },
    later: (_ms, run) => void timers.push(run),
    event: (_resource, _namespace, name, _uid, { reason, message }) => void events.push([name, reason, message]),
    paused: () => undefined,
    resumed: () => resumed(),
  });
  collection.survey();
  assert.equal(collection.pausedFor, 'rows of Kiln without an owner in the API server: 1');
  timers[0]?.();
  await over;
  assert.equal(collection.pausedFor, undefined);
  assert.deepEqual(
    events.map(([name, reason]) => [name, reason]),
    [
      ['ovn-cluster', 'CollectionPaused'],
      ['ovn-cluster', 'CollectionResumed'],
    ],
  );
  assert.match(
    events[0]?.[2] ?? '',
    /No row is collected for now: rows of Kiln without an owner in the API server, whose deletion was not seen: 1/,
  );
});
