const DECIMAL = /^[0-9]+$/;

/**
 * Order of two resource versions: negative, zero or positive; undefined if one is no decimal number. They are compared as text: they may
 * exceed 2^53.
 */
export function compareVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!DECIMAL.test(a) || !DECIMAL.test(b)) return undefined;
  const left = a.replace(/^0+(?=.)/, '');
  const right = b.replace(/^0+(?=.)/, '');
  if (left.length !== right.length) return left.length - right.length;
  return left < right ? -1 : left > right ? 1 : 0;
}

/** `a` is certainly older than `b` or the same. */
export function isAtMost(a: string, b: string): boolean {
  const order = compareVersions(a, b);
  return order !== undefined && order <= 0;
}

/** `a` is certainly newer than `b`. */
export function isAfter(a: string, b: string): boolean {
  const order = compareVersions(a, b);
  return order !== undefined && order > 0;
}
