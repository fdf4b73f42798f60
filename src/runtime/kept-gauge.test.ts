import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Gauge, Registry } from 'prom-client';
import { KeptGauge } from './kept-gauge.ts';

test('what is kept is written as the registry writes a gauge, whatever is in a label', async () => {
  const registry = new Registry();
  const gauge = new Gauge({ name: 'kept', help: 'A \\ and\na line', labelNames: ['a', 'b'], registers: [registry] });
  const kept = new KeptGauge('kept', 'A \\ and\na line');
  for (const [at, text] of ['plain', 'quoted "x"', 'back\\slash', 'two\nlines', ''].entries()) {
    for (const value of [at, -1.5, 2 ** 64, Infinity, -Infinity]) {
      const labels = { a: text, b: String(value) };
      gauge.set(labels, value);
      kept.set(`${text}/${value}`, [{ labels, value }]);
    }
  }
  assert.equal(kept.text(), await registry.metrics());
});

test('a part that is told again or is gone leaves nothing of what it had', () => {
  const kept = new KeptGauge('kept', 'x');
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
