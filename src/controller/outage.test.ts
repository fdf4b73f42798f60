/** A real outage: the API server stops and restarts, the Northbound database stops and restarts. Checks the log. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { until } from '../testing/until.ts';
import { jsonLog } from '../runtime/json-log.ts';
import { InProcessCluster } from '../testing/in-process-cluster.ts';

/** Long enough for every kind to fail several times. */
const OUTAGE_MS = 4_000;
/** Several renewals within the outage, each with a margin for a loaded machine. */
const LEASE = { durationMs: 8_000, renewMs: 6_000, retryMs: 500 } as const;

interface Line {
  readonly level: string;
  readonly msg: string;
}

test('an outage of the API server is two log lines: its begin and its end', async () => {
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
      const messages = lines.slice(from).map(({ msg }) => msg);
      const outageLines = messages.filter((msg) => /API server|list or watch|cache|renewed|rejected/.test(msg));
      const begins = outageLines.filter((msg) => msg === 'the API server is unavailable').length;
      const ends = outageLines.filter((msg) => msg === 'the API server is back').length;
      assert.equal(begins + ends, outageLines.length, outageLines.join('\n'));
      // On a loaded machine another request may time out after the outage: that adds two lines.
      assert.ok(begins === ends && begins <= 2, outageLines.join('\n'));
    },
  );
});
