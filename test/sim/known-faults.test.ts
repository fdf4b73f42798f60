/** The simulator finds faults that are known: in each copy of the rules that has one, within 50,000 operations. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { KNOWN_FAULTS } from './known-faults.ts';
import { draw } from './life.ts';

const MOST = 50_000;
const LIFE = 300;

for (const { name, rules } of KNOWN_FAULTS) {
  test(`found: ${name}`, async (t) => {
    const first = Date.now() % 1_000_000;
    let operations = 0;
    for (let seed = first; operations < MOST; seed++) {
      const life = await draw(seed, LIFE, { rules });
      operations += life.operations;
      const [finding] = life.findings;
      if (finding === undefined) continue;
      t.diagnostic(`after ${operations} operations, seed ${seed}: ${finding.message.slice(0, 200)}`);
      return;
    }
    assert.fail(`not found in ${operations} operations from seed ${first}`);
  });
}
