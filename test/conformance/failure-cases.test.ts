/**
 * The lists of failure cases: they are complete; each case of the controller has a scenario or waits for something that is missing, each
 * case of nodes and traffic has a test or a sentence; and the docs show the last run.
 */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { namedTests } from '../../scripts/failure-cases/named-tests.ts';
import { PACKET_CASES } from '../../scripts/failure-cases/packet-cases.ts';
import { failureCasesPage, resultsIn } from '../../scripts/failure-cases/page.ts';
import { UNIMPLEMENTED_KINDS } from '../../src/controller/reading/unimplemented-kinds.ts';
import { traitsOf } from '../../src/world/resources.ts';
import { SCENARIOS } from '../scenarios/all.ts';
import { casesOf, FAILURE_CASES } from '../scenarios/failure-cases.ts';

const CATALOGUE = new URL('../../../shared/design/failures.md', import.meta.url);
const PACKET_CATALOGUE = new URL('../../../shared/design/failures-traffic.md', import.meta.url);
const PAGE = new URL('../../docs/evidence/failure-cases.md', import.meta.url);
const NUMBERS = FAILURE_CASES.map(({ number }) => number);
const SHOWN = new Set(SCENARIOS.flatMap(({ name }) => casesOf(name)));
const TESTED = new Set([...namedTests().flatMap(({ cases }) => cases), ...SHOWN].filter((number) => !number.startsWith('C')));

/** Cases of traffic whose test is still to be named or written. It only gets shorter. */
const OPEN_OF_TRAFFIC = words(
  `T01 T04 T05 T07 T09 T11 T12 T13 T14 T16 T17 T19 T20 T21 T23 T24 T25 T26 T27 T28 T29 T31 T35 T37 T38 T39 T40 T42 T43`,
);

function words(text: string): readonly string[] {
  return text.split(/\s+/);
}

test('the list has every case of the catalogue', { skip: !existsSync(CATALOGUE) && 'no ../shared' }, () => {
  const known = [...readFileSync(CATALOGUE, 'utf8').matchAll(/^### (C\d\d) /gm)].map(([, number = '']) => number);
  assert.deepEqual(NUMBERS, known);
});

test('every number in the name of a scenario is in the list', () => {
  assert.deepEqual(
    [...SHOWN].filter((number) => number.startsWith('C') && !NUMBERS.includes(number)),
    [],
  );
});

test('the list of nodes and traffic has every case of the catalogue', { skip: !existsSync(PACKET_CATALOGUE) && 'no ../shared' }, () => {
  const known = [...readFileSync(PACKET_CATALOGUE, 'utf8').matchAll(/^### ([NT]\d\d) /gm)].map(([, number = '']) => number);
  assert.deepEqual(
    PACKET_CASES.map(({ number }) => number),
    known,
  );
});

test('every number of nodes and traffic in the name of a test is in the list', () => {
  assert.deepEqual(
    [...TESTED].filter((number) => !PACKET_CASES.some((one) => one.number === number)),
    [],
  );
});

test('every case of nodes and traffic has a test, or a sentence that says why not', () => {
  const unimplemented = new Set<string>(UNIMPLEMENTED_KINDS.map(({ resource }) => traitsOf(resource).kind));
  const without = PACKET_CASES.filter(
    ({ number, untested, waitsFor = '' }) => !TESTED.has(number) && untested === undefined && !unimplemented.has(waitsFor),
  ).map(({ number }) => number);
  assert.deepEqual(
    without.filter((number) => !OPEN_OF_TRAFFIC.includes(number)),
    [],
    'name the case at the beginning of the name of a test that shows it, or say in packet-cases.ts why none does',
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

test('docs/evidence/failure-cases.md is up to date with the list and its run; fix with: npm run failure-cases', () => {
  const page = readFileSync(PAGE, 'utf8');
  assert.equal(page, failureCasesPage(resultsIn(page)));
});
