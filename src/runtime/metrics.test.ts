import assert from 'node:assert/strict';
import { test } from 'node:test';
import { METRICS, Metrics } from './metrics.ts';

test('names and helps follow the conventions, and no label can grow with the cluster but that of a Subnet', () => {
  for (const [name, { kind, help, labels }] of Object.entries(METRICS)) {
    assert.match(name, /^kiln_[a-z]+(_[a-z]+)*$/);
    assert.equal(name.endsWith('_total'), kind === 'counter', name);
    assert.doesNotMatch(name, /_(ms|milliseconds|minutes|kb|mb)(_|$)/, name);
    assert.doesNotMatch(help, /\.$/, name);
    for (const label of labels as readonly string[])
      assert.doesNotMatch(label, /^(pod|ip|address|uid|namespace|name|error|message)$/, name);
  }
});

test('a scrape shows the values reported at that scrape, and no older ones', async () => {
  const metrics = new Metrics();
  const rows = new Map([
    ['ACL', 2],
    ['NAT', 1],
  ]);
  metrics.read('kiln_owned_rows', (report) => rows.forEach((count, table) => report({ table }, count)));
  let restarts = 5;
  metrics.read('kiln_watch_restarts_total', (report) => report({ kind: 'Pod', reason: 'gone' }, restarts));
  metrics.observe('kiln_reconcile_duration_seconds', { phase: 'diff' }, 0.003);
  const first = await metrics.text();
  assert.match(first, /kiln_owned_rows\{table="NAT"\} 1/);
  assert.match(first, /kiln_reconcile_duration_seconds_bucket\{le="0.0025",phase="diff"\} 0/);
  assert.match(first, /kiln_reconcile_duration_seconds_bucket\{le="0.005",phase="diff"\} 1/);
  rows.delete('NAT');
  restarts = 7;
  const second = await metrics.text();
  assert.doesNotMatch(second, /table="NAT"/);
  assert.match(second, /kiln_watch_restarts_total\{kind="Pod",reason="gone"\} 7/);
});
