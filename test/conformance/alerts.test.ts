/** The alerts use only metrics and labels that exist, and refer only to sections of the docs that exist. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { MetricSpec } from '../../src/runtime/metrics.ts';
import { METRICS } from '../../src/runtime/metrics.ts';

interface Alert {
  readonly alert: string;
  readonly expr: string;
  readonly labels: { readonly severity: string };
  readonly annotations: { readonly summary: string; readonly description: string; readonly runbook_url: string };
}

function read(path: string): string {
  return readFileSync(new URL(`../../${path}`, import.meta.url), 'utf8');
}

const alerts = (
  parse(read('deploy/monitoring/alerts.yaml')) as { readonly spec: { readonly groups: readonly { readonly rules: readonly Alert[] }[] } }
).spec.groups.flatMap(({ rules }) => rules);
const metrics: Readonly<Record<string, MetricSpec>> = METRICS;
/** Labels that Prometheus itself adds. */
const SCRAPED = ['job', 'instance'];

function metricsIn(expr: string): readonly string[] {
  return [...expr.matchAll(/\bkiln_\w+/g)].map(([name]) => (name in metrics ? name : name.replace(/_(bucket|sum|count)$/, '')));
}

test('there is an alert for each fault that an operator must learn of', () => {
  assert.deepEqual(
    alerts.map(({ alert }) => alert),
    [
      ...[
        'KilnControllerDown',
        'KilnNotReconciling',
        'KilnDriftPersisting',
        'KilnOvsdbDisconnected',
        'KilnOvsdbRefuses',
        'KilnJournalFailing',
        'KilnBackupFailing',
        'KilnOvsdbLies',
        'KilnReplicaLag',
        'KilnSubnetNearlyFull',
      ],
      ...[
        'KilnIpProblems',
        'KilnDeletionBlocked',
        'KilnCollectionHeld',
        'KilnCollectionPaused',
        'KilnListsDoubted',
        'KilnWatchStale',
        'KilnRuleFailing',
        'KilnEventLoopBlocked',
      ],
    ],
  );
});

test('every metric and every label that an alert names exists', () => {
  for (const { alert, expr, annotations } of alerts) {
    const names = metricsIn(expr);
    assert.ok(names.length > 0, alert);
    for (const name of names) assert.ok(name in metrics, `${alert}: ${name}`);
    const labels = new Set([...names.flatMap((name) => metrics[name]?.labels ?? []), ...SCRAPED]);
    const used = [
      ...[...expr.matchAll(/\{([^}]*)\}/g)].flatMap(([, inside = '']) =>
        [...inside.matchAll(/(\w+)\s*(?:=~|!=|=)/g)].map(([, label = '']) => label),
      ),
      ...[...expr.matchAll(/\b(?:by|on)\s*\(([^)]*)\)/g)].flatMap(([, inside = '']) => inside.split(/,\s*/)),
      ...[...annotations.description.matchAll(/\$labels\.(\w+)/g)].map(([, label = '']) => label),
    ];
    for (const label of used) assert.ok(labels.has(label), `${alert}: label ${label}`);
    for (const label of [...annotations.description.matchAll(/\$labels\.(\w+)/g)].map(([, name = '']) => name)) {
      const grouped = /\bby\s*\(([^)]*)\)/.exec(expr)?.[1]?.split(/,\s*/);
      assert.ok(grouped === undefined || grouped.includes(label), `${alert}: ${label} is summed away`);
    }
    assert.equal(expr.split('(').length, expr.split(')').length, alert);
  }
});

test('every alert has a severity, sentences, and a section with the next steps', () => {
  const headings = [...read('docs/troubleshoot.md').matchAll(/^#+ (.+)$/gm)].map(([, text = '']) =>
    text.toLowerCase().replaceAll(' ', '-'),
  );
  for (const { alert, labels, annotations } of alerts) {
    assert.ok(['warning', 'critical'].includes(labels.severity), alert);
    assert.match(annotations.description, /\.$/, alert);
    assert.doesNotMatch(annotations.summary, /\.$/, alert);
    const [page, anchor = ''] = annotations.runbook_url.split('#');
    assert.equal(page, 'docs/troubleshoot.md');
    assert.ok(headings.includes(anchor), `${alert}: #${anchor}`);
  }
});
