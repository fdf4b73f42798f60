/**
 * The list of failure cases: it is complete, each case has a scenario or waits for something that is missing, and the docs show the last
 * run.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { failureCasesPage, resultsIn } from '../../scripts/failure-cases/page.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { traitsOf } from '../../src/world/resources.ts';
import { SCENARIOS } from '../scenarios/all.ts';
import { casesOf, FAILURE_CASES } from '../scenarios/failure-cases.ts';

const CATALOGUE = new URL('../../../shared/design/failures.md', import.meta.url);
const PAGE = new URL('../../docs/failure-cases.md', import.meta.url);
const NUMBERS = FAILURE_CASES.map(({ number }) => number);
const SHOWN = new Set(SCENARIOS.flatMap(({ name }) => casesOf(name)));

test('the list has every case of the catalogue', { skip: !existsSync(CATALOGUE) && 'no ../shared' }, () => {
  const known = [...readFileSync(CATALOGUE, 'utf8').matchAll(/^### (C\d\d) /gm)].map(([, number = '']) => number);
  assert.deepEqual(NUMBERS, known);
});

test('every number in the name of a scenario is in the list', () => {
  assert.deepEqual(
    [...SHOWN].filter((number) => !NUMBERS.includes(number)),
    [],
  );
});

test('every case has a scenario, or waits for a kind that is not implemented or for a named feature', () => {
  const unimplemented = new Set(UNIMPLEMENTED_KINDS.map(({ resource }) => traitsOf(resource).kind));
  for (const { number, title, waitsFor = [], waitsForFeature, shown } of FAILURE_CASES) {
    const waits = waitsForFeature !== undefined || waitsFor.some((kind) => unimplemented.has(kind));
    assert.ok(
      SHOWN.has(number) || waits,
      `${number} (${title}): ${waitsFor.join(', ') || 'nothing'} keeps it from being shown; write a scenario whose name begins with ${number}`,
    );
    if (shown !== undefined) assert.ok(SHOWN.has(number), `${number}: a part of it is said to be shown, by no scenario`);
  }
});

test('docs/failure-cases.md is up to date with the list and its run; fix with: npm run failure-cases', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(page, failureCasesPage(resultsIn(page)));
});
