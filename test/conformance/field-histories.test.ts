/** The page of histories from the field: it lists every scenario of a history, and every test that it names exists. */
import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { test } from 'node:test';
import { SCENARIOS } from '../scenarios/all.ts';

const ROOT = new URL('../../', import.meta.url);
const PAGE = readFileSync(new URL('docs/evidence/field-histories.md', ROOT), 'utf8');
const NUMBER = /^H\d\d$/;

/** `[number, test that covers it]` of each line. */
const LINES = PAGE.split('\n').flatMap((line): (readonly [string, string])[] => {
  const cells = line.split(' | ');
  const number = cells[0]?.replace('| ', '') ?? '';
  return NUMBER.test(number) ? [[number, cells[4] ?? '']] : [];
});

/** Numbers at the beginning of a scenario's name, such as `H30, H31`. */
function numbersOf(name: string): readonly string[] {
  return (/^(?:[CH]\d\d(?:, )?)+/.exec(name)?.[0] ?? '').split(', ').map((number) => number.trim());
}

test('each number is there once', () => {
  const numbers = LINES.map(([number]) => number);
  assert.deepEqual(numbers.toSorted(), [...new Set(numbers)].toSorted());
  assert.ok(numbers.length >= 50);
});

test('the page names every scenario that has the number of a history', () => {
  for (const { name } of SCENARIOS)
    for (const number of numbersOf(name).filter((one) => NUMBER.test(one)))
      assert.ok(
        LINES.some(([line, by]) => line === number && by.split('; ').includes(number)),
        `docs/evidence/field-histories.md has no line ${number} that is held by ${name}`,
      );
});

test('each entry of a history is an existing scenario or file, a test by hand, or what it waits for', () => {
  for (const [number, by] of LINES) {
    for (const one of by.split('; ')) {
      if (/^(by hand on \d{4}-\d\d-\d\d|waits for )/.test(one)) continue;
      const [, path] = /^`([^`]+)`$/.exec(one) ?? [];
      if (path !== undefined) assert.ok(existsSync(new URL(path, ROOT)), `${number}: there is no ${path}`);
      else
        assert.ok(
          SCENARIOS.some(({ name }) => name.startsWith(one) || numbersOf(name).includes(one)),
          `${number}: no scenario begins with "${one}"`,
        );
    }
  }
});
