/**
 * Equality of JSON as an API server stores it: it stores integers above 2^63-1 as float64, so they are compared after the same rounding. An
 * absent field equals undefined.
 */
import { equal } from '../engine/equal.ts';

const MAX_INT64 = 2n ** 63n - 1n;

/** The deep equality of {@link equal}, but for numbers. */
export function sameJson(a: unknown, b: unknown): boolean {
  return equal(a, b, sameNumber);
}

function sameNumber(a: unknown, b: unknown): boolean {
  return isNumeric(a) && isNumeric(b) && stored(a) === stored(b);
}

function isNumeric(value: unknown): value is number | bigint {
  return typeof value === 'number' || typeof value === 'bigint';
}

/** A number as the server returns it: an exact integer up to 2^63-1, a float64 beyond. */
function stored(value: number | bigint): number | bigint {
  if (typeof value === 'bigint') return value > MAX_INT64 || value < -MAX_INT64 - 1n ? Number(value) : value;
  if (!Number.isInteger(value)) return value;
  const exact = BigInt(value);
  return exact > MAX_INT64 || exact < -MAX_INT64 - 1n ? value : exact;
}
