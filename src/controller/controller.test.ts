import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { until } from '../testing/until.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';

/** Shorter than the defaults, so that the tests wait less. */
const TIMES = { durationMs: 4_000, renewMs: 3_000, retryMs: 500 } as const;

let cluster: InProcessCluster;
const nbctl = (...args: string[]): Promise<string> => cluster.ovn.nbctl(...args);

before(async () => {
  cluster = await InProcessCluster.start();
});
after(async () => {
  await cluster.stop();
});

test('a leader takes the next term after another program overwrote its term, if it still holds the Lease', async () => {
  await cluster.withController({ lease: TIMES }, async (controller) => {
    await controller.untilQuiet();
    const term = Number((await nbctl('get', 'NB_Global', '.', 'external_ids:kiln.io/term')).replaceAll('"', ''));
    await nbctl('set', 'NB_Global', '.', `external_ids:kiln.io/term="${term + 7}"`);
    await nbctl('lr-del', 'ovn-cluster');
    await until('the router is back', async () => (await nbctl('lr-list')).includes('ovn-cluster'));
    await controller.untilQuiet();
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
  });
});

test('a read-only controller is quiet when all rules have run, and writes nothing', async () => {
  const before = await nbctl('list', 'Logical_Router');
  await cluster.withController({ readOnly: true }, async (controller) => {
    let quiet = false;
    void controller.untilQuiet().then(() => (quiet = true));
    await until('it is quiet', () => quiet);
    assert.deepEqual(controller.plan(), { rows: [], objects: [] });
    assert.equal(controller.status.transactions + controller.status.objectsWritten, 0);
  });
  assert.equal(await nbctl('list', 'Logical_Router'), before);
});
