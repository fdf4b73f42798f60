/** Durations in annotations and flags: `24h`, `90m`, `1h30m`, `7d`. The units of Go, and days. */
const UNITS: Readonly<Record<string, number>> = { d: 86_400_000, h: 3_600_000, m: 60_000, s: 1_000 };
const PART = /(\d{1,9})([dhms])/g;
const WHOLE = /^(\d{1,9}[dhms]){1,4}$/;
/** Longer than any use, and the resulting time can still be formatted. */
const LONGEST = 100 * 365 * 86_400_000;

/** Milliseconds; undefined if the text is not a duration, is zero, or is longer than a hundred years. */
export function parseDuration(text: string): number | undefined {
  const trimmed = text.trim();
  if (!WHOLE.test(trimmed)) return undefined;
  let sum = 0;
  for (const [, count = '', unit = ''] of trimmed.matchAll(PART)) sum += Number(count) * (UNITS[unit] ?? 0);
  return sum > 0 && sum <= LONGEST ? sum : undefined;
}
