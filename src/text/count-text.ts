/** A number of addresses for a person: digits, or a power of two where those are too many to read. */

/** From here on about. */
const LARGE = 2n ** 32n;

/** @param count a number beyond 2^53 may be rounded: the API server keeps such a count as a floating-point number */
export function countText(count: number | bigint): string {
  const whole = typeof count === 'bigint' ? count : BigInt(Math.round(count));
  if (whole < LARGE) return String(whole);
  // The power of two that is nearest to it, of those below and above.
  const below = whole.toString(2).length - 1;
  return `about 2^${whole - 2n ** BigInt(below) <= 2n ** BigInt(below + 1) - whole ? below : below + 1}`;
}
