/**
 * The distance of an address (or MAC) from the origin of its space. A number if that is exact, else a bigint: the usual case needs no
 * bigint arithmetic, and each offset has exactly one representation.
 */
export type Offset = number | bigint;

const lowest = BigInt(Number.MIN_SAFE_INTEGER);
const highest = BigInt(Number.MAX_SAFE_INTEGER);

export function toOffset(value: bigint): Offset {
  return value >= lowest && value <= highest ? Number(value) : value;
}

export function nextOffset(offset: Offset): Offset {
  return typeof offset === 'number' && offset < Number.MAX_SAFE_INTEGER ? offset + 1 : toOffset(BigInt(offset) + 1n);
}

export function previousOffset(offset: Offset): Offset {
  return typeof offset === 'number' && offset > Number.MIN_SAFE_INTEGER ? offset - 1 : toOffset(BigInt(offset) - 1n);
}

export function compareOffsets(a: Offset, b: Offset): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
