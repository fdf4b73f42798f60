import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { CachedGauge } from './cached-gauge.ts';

test('the text is the same as that of a gauge in the registry, with any text in a label', async () => {
  const registry = new Registry();
  const gauge = new Gauge({ name: 'kept', help: 'A \\ and\na line', labelNames: ['a', 'b'], registers: [registry] });
  const kept = new CachedGauge('kept', 'A \\ and\na line');
  for (const [at, text] of ['plain', 'quoted "x"', 'back\\slash', 'two\nlines', ''].entries()) {
    for (const value of [at, -1.5, 2 ** 64, Infinity, -Infinity]) {
      const labels = { a: text, b: String(value) };
      gauge.set(labels, value);
      kept.set(`${text}/${value}`, [{ labels, value }]);
    }
  }
  assert.equal(kept.text(), await registry.metrics());
});

test('a part that is set again or removed leaves no old sample', () => {
  const kept = new CachedGauge('kept', 'x');
  kept.set('one', [
    { labels: { state: 'used' }, value: 1 },
    { labels: { state: 'free' }, value: 2 },
  ]);
  kept.set('two', [{ labels: {}, value: 3 }]);
  kept.set('one', [{ labels: { state: 'free' }, value: 4 }]);
  assert.equal(kept.text(), '# HELP kept x\n# TYPE kept gauge\nkept{state="free"} 4\nkept 3\n');
  kept.set('two', []);
  assert.equal(kept.text(), '# HELP kept x\n# TYPE kept gauge\nkept{state="free"} 4\n');
});
