/** Times as an API server reads them: JavaScript takes the 30th of February for a day in March, and midnight for the end of a day. */

const RFC_3339 = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

/** @returns the time since 1970, or undefined when that is no RFC 3339 time. */
export function millisecondsOf(time: string): number | undefined {
  const [, year, month, day] = RFC_3339.exec(time) ?? [];
  if (year === undefined || !isDay(Number(year), Number(month), Number(day))) return undefined;
  const milliseconds = Date.parse(time);
  return Number.isNaN(milliseconds) ? undefined : milliseconds;
}

function isDay(year: number, month: number, day: number): boolean {
  const date = new Date(0);
  date.setUTCFullYear(year, month - 1, day);
  return date.getUTCMonth() === month - 1 && date.getUTCDate() === day;
}
