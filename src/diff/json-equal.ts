/**
 * Equality of JSON as an API server stores it: it stores integers above 2^63-1 as float64, so they are compared after the same rounding. An
 * absent field equals undefined.
 */
const MAX_INT64 = 2n ** 63n - 1n;

export function sameJson(a: unknown, b: unknown): boolean {
  if (a === b) return true;
  if (isNumeric(a) && isNumeric(b)) return stored(a) === stored(b);
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((member, i) => sameJson(member, b[i]));
  if (Array.isArray(b)) return false;
  const left = a as Readonly<Record<string, unknown>>;
  const right = b as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(left)) if (!sameJson(left[key], right[key])) return false;
  for (const key of Object.keys(right))
    if (right[key] !== undefined && (!Object.hasOwn(left, key) || left[key] === undefined)) return false;
  return true;
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
