/** Runs the shared IPAM vectors against the ledger. The vector file defines their meaning. */

import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import { deviations, VectorRun } from './testing/vector-run.ts';
import type { Vector } from './testing/vector-run.ts';

const vectorsFile = new URL('../../../shared/reference/ipam-vectors.json', import.meta.url);
const docsFile = new URL('../../docs/differences.md', import.meta.url);

if (!existsSync(vectorsFile)) {
  test(
    'vectors of address management',
    { skip: 'the reference data lies beside the project (../shared/reference/ipam-vectors.json), and is not there' },
    () => {},
  );
} else {
  const { vectors } = JSON.parse(readFileSync(vectorsFile, 'utf8')) as { vectors: Vector[] };
  const docs = readFileSync(docsFile, 'utf8');

  describe('vectors of address management', () => {
    for (const vector of vectors) {
      const deviation = deviations.get(vector.id);
      if (deviation === undefined) {
        test(`${vector.id} ${vector.title}`, () => {
          assert.deepEqual(new VectorRun().run(vector), []);
        });
        continue;
      }
      test(`${vector.id} ${vector.title}: differs, as documented`, () => {
        assert.deepEqual(new VectorRun().run(vector), deviation);
        assert.ok(docs.includes(`| ${vector.id} |`), `docs/differences.md says why ${vector.id} differs`);
      });
    }
  });
}
