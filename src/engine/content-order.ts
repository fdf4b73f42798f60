/** An order of plain data that follows from its contents alone: the same in every process, whatever happened before. */
export function byContents(a: unknown, b: unknown): number {
  if (a === b) return 0;
  const [one, other] = [textOf(a), textOf(b)];
  return one < other ? -1 : one > other ? 1 : 0;
}

function textOf(value: unknown): string {
  return JSON.stringify(value, (_, part: unknown) => (typeof part === 'bigint' ? String(part) : part)) ?? '';
}
