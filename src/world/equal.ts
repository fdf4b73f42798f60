/**
 * Structural equality of plain values: scalars, bigints, arrays, plain objects, Sets and Maps.
 * A key whose value is undefined equals an absent key, as in JSON.
 */
export function equal(a: unknown, b: unknown): boolean {
  if (Object.is(a, b)) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a)) {
    if (!Array.isArray(b) || a.length !== b.length) return false;
    for (let i = 0; i < a.length; i++) if (!equal(a[i], b[i])) return false;
    return true;
  }
  if (Array.isArray(b)) return false;
  if (a instanceof Set) return b instanceof Set && a.size === b.size && [...a].every((member) => b.has(member));
  if (a instanceof Map) {
    if (!(b instanceof Map) || a.size !== b.size) return false;
    for (const [key, value] of a) if (!b.has(key) || !equal(value, b.get(key))) return false;
    return true;
  }
  if (b instanceof Set || b instanceof Map) return false;
  return equalRecords(a as Record<string, unknown>, b as Record<string, unknown>);
}

function equalRecords(a: Record<string, unknown>, b: Record<string, unknown>): boolean {
  let counted = 0;
  for (const key in a) {
    if (a[key] === undefined) continue;
    counted++;
    if (!equal(a[key], b[key])) return false;
  }
  for (const key in b) if (b[key] !== undefined) counted--;
  return counted === 0;
}
