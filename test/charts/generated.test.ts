/** The chart is made of `deploy` and of the settings of the controller, and is up to date with both. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { chartFiles } from '../../scripts/charts/chart-files.ts';
import { chartSettings } from '../../scripts/charts/settings.ts';
import type { MetricSpec } from '../../src/runtime/metrics.ts';
import { METRICS } from '../../src/runtime/metrics.ts';

const ROOT = join(import.meta.dirname, '../..');

test('the generated files of charts/kiln are up to date; fix with: npm run --silent charts', () => {
  const files = chartFiles();
  assert.ok(files.size > 10);
  for (const [path, text] of files) {
    const file = join(ROOT, path);
    assert.equal(existsSync(file) ? readFileSync(file, 'utf8') : '', text, `${path}: npm run --silent charts`);
  }
});

test('value config has every setting of kiln start but those of laboratories and those that the chart gives, and no other', () => {
  const schema = JSON.parse(chartFiles().get('charts/kiln/values.schema.json') ?? '') as {
    readonly properties: {
      readonly config: { readonly properties: Readonly<Record<string, object>>; readonly additionalProperties: boolean };
    };
  };
  const { properties, additionalProperties } = schema.properties.config;
  assert.equal(additionalProperties, false);
  assert.deepEqual(
    Object.keys(properties),
    chartSettings().map(({ key }) => key),
  );
  for (const key of ['defaultCidr', 'tenancy', 'gc', 'journal', 'webhookDeletionInUse', 'metricsBindAddress', 'readOnly'])
    assert.ok(key in properties, key);
  for (const key of ['directory', 'kubeconfig', 'ovnNb', 'ovnKey', 'packets', 'namespace']) assert.ok(!(key in properties), key);
});

test('the default values have every value that the schema knows, but for settings', () => {
  const files = chartFiles();
  const { properties } = JSON.parse(files.get('charts/kiln/values.schema.json') ?? '') as Schema;
  const values = parse(files.get('charts/kiln/values.yaml') ?? '') as Readonly<Record<string, unknown>>;
  const missing = (schema: Schema['properties'], at: unknown, path: string): readonly string[] =>
    Object.entries(schema).flatMap(([key, one]) => {
      if (path === '' && (key === 'global' || key === 'config')) return [];
      const value = (at as Readonly<Record<string, unknown>>)[key];
      if (value === undefined) return [`${path}${key}`];
      return one.properties === undefined ? [] : missing(one.properties, value, `${path}${key}.`);
    });
  assert.deepEqual(missing(properties, values, ''), []);
});

interface Schema {
  readonly properties: Readonly<Record<string, Partial<Schema>>>;
}

test('the dashboard uses only metrics and labels that exist', () => {
  const metrics: Readonly<Record<string, MetricSpec>> = METRICS;
  const { panels } = JSON.parse(readFileSync(join(ROOT, 'deploy/monitoring/dashboard.json'), 'utf8')) as {
    readonly panels: readonly {
      readonly title: string;
      readonly targets?: readonly { readonly expr: string; readonly legendFormat: string }[];
    }[];
  };
  const targets = panels.flatMap((panel) => panel.targets ?? []);
  assert.ok(targets.length > 10);
  for (const { expr, legendFormat } of targets) {
    const named = [...expr.matchAll(/\bkiln_\w+/g)].map(([name]) => (name in metrics ? name : name.replace(/_(bucket|sum|count)$/, '')));
    assert.ok(named.length > 0, expr);
    for (const name of named) assert.ok(name in metrics, `${name} in ${expr}`);
    const labels = [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].map(([, label = '']) => label);
    const known = new Set(['instance', ...named.flatMap((name) => metrics[name]?.labels ?? [])]);
    for (const label of labels) assert.ok(known.has(label), `${label} of ${expr}`);
  }
});
