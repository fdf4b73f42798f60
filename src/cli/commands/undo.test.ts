/** The command that `kiln undo` prints to let go of what it restored. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { letGoCommand } from './undo.ts';

test('the selection of the undo, not whole transactions and not the first few of them', () => {
  assert.equal(letGoCommand(['1.4', '1.5', '1.6', '1.7'], { owner: [] }), 'kiln undo 1.4 1.5 1.6 1.7 --let-go');
  assert.equal(letGoCommand([], { owner: ['vpc/blue', 'subnet/b1'] }), 'kiln undo --owner vpc/blue --owner subnet/b1 --let-go');
  assert.equal(
    letGoCommand(['1.4'], { owner: [], row: ['blue|snat|10.0.0.1'], since: Date.parse('2026-01-01T00:00:00Z') }),
    "kiln undo 1.4 --since 2026-01-01T00:00:00.000Z --row 'blue|snat|10.0.0.1' --let-go",
  );
});
