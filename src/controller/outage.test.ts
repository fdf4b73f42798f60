/** A real outage: the API server ends and comes back, the Northbound database ends and comes back. What a person reads in the log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../ovsdb/testing/ovsdb-server-process.ts';
import { jsonLog } from '../runtime/log.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';

/** Long enough for every kind to fail several times. */
const OUTAGE_MS = 4_000;
/** Renewed several times within the outage, with time enough for each that a starved machine does not tell of one by itself. */
const LEASE = { durationMs: 8_000, renewMs: 6_000, retryMs: 500 } as const;

interface Line {
  readonly level: string;
  readonly msg: string;
}

test('when the API server is away for a while the log has one line that it is, and one that it is back', async () => {
  const lines: Line[] = [];
  await using cluster = await InProcessCluster.start({ durable: true });
  await cluster.withController(
    { lease: LEASE, log: jsonLog('info', (line) => lines.push(JSON.parse(line) as Line)) },
    async (controller) => {
      await controller.untilQuiet();
      const from = lines.length;
      await cluster.api.stop();
      await sleep(OUTAGE_MS);
      await cluster.restartApi();
      await until('it is back', () => Promise.resolve(lines.slice(from).some(({ msg }) => msg === 'the API server is back')));
      await controller.untilQuiet();
      const said = lines.slice(from).map(({ msg }) => msg);
      const told = said.filter((msg) => /API server|cache|renewed|refused/.test(msg));
      const begins = told.filter((msg) => msg === 'the API server is in trouble').length;
      const ends = told.filter((msg) => msg === 'the API server is back').length;
      assert.equal(begins + ends, told.length, told.join('\n'));
      // On a starved machine a request may time out once more when all is well again: then that is told, and its end.
      assert.ok(begins === ends && begins <= 2, told.join('\n'));
    },
  );
});
