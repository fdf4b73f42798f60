type SameScalar = (a: unknown, b: unknown) => boolean;

const never: SameScalar = () => false;

/**
 * Structural equality of plain values: scalars, bigints, arrays, plain objects, Sets and Maps. Members of a Set are compared by identity. A
 * key with the value undefined equals an absent key, as in JSON. Throws nothing; the cost is that of the smaller value.
 *
 * The product's one deep equality. Two others stay apart: `ovsdb` imports nothing of Kiln, and its values are flat (`equalValues`); the
 * laboratory's API server must distinguish undefined from absent, and numbers by their text (`lab/apiserver/json.ts`).
 * @param sameScalar compares two values of which one is no object at least, and which are not identical
 */
export function equal(a: unknown, b: unknown, sameScalar: SameScalar = never): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return sameScalar(a, b);
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i], sameScalar)) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  // Most values are records: this check first saves the others.
  if (Object.getPrototypeOf(a) === Object.prototype && Object.getPrototypeOf(b) === Object.prototype)
    return equalRecords(a as Record<string, unknown>, b as Record<string, unknown>, sameScalar);
  if (a instanceof Set) {
    if (!(b instanceof Set) || a.size !== b.size) return false;
    for (const member of a) if (!b.has(member)) return false;
    return true;
  }
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    for (const [key, value] of a) if (!b.has(key) || !equal(value, b.get(key), sameScalar)) return false;
    return true;
  }
  if (b instanceof Set || b instanceof Map) return false;
  return equalRecords(a as Record<string, unknown>, b as Record<string, unknown>, sameScalar);
}

/** Not `for in`: V8 compiles it anew for each shape of object, and records have very many shapes. */
function equalRecords(a: Record<string, unknown>, b: Record<string, unknown>, sameScalar: SameScalar): boolean {
  const keys = Object.keys(a);
  let counted = 0;
  for (const key of keys) {
    const value = a[key];
    if (value === undefined) continue;
    counted++;
    const other = b[key];
    if (value !== other && !equal(value, other, sameScalar)) return false;
  }
  const others = Object.keys(b);
  if (others.length === counted) return true;
  for (const key of others) if (b[key] !== undefined) counted--;
  return counted === 0;
}
