/**
 * Where a number lies in a space of addresses (or of MACs), counted from the space's origin.
 * A plain number where that is exact, a bigint beyond: so the usual case stays out of bigint arithmetic,
 * and each offset has one representation only.
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
