/**
 * Sorts integers ascending, in place. Many integers between 0 and 2^32 are sorted by radix, with digits of eleven bits: several times as
 * fast as a comparison sort for the fifty thousand offsets of a fragmented Subnet.
 */

const digitBits = 11;
const digits = 1 << digitBits;
const few = 1_000;

export function sortNumbers(numbers: Float64Array): void {
  let highest = 0;
  let sortable = numbers.length >= few;
  for (let at = 0; at < numbers.length && sortable; at++) {
    const number = numbers[at] as number;
    sortable = number >= 0 && number <= 0xffff_ffff;
    if (number > highest) highest = number;
  }
  if (!sortable) {
    numbers.sort();
    return;
  }
  let from = new Uint32Array(numbers);
  let to = new Uint32Array(numbers.length);
  for (let shift = 0; shift < 32 && highest >>> shift > 0; shift += digitBits) {
    sortByDigit(from, to, shift);
    [from, to] = [to, from];
  }
  numbers.set(from);
}

/** One stable pass over one digit. */
function sortByDigit(from: Uint32Array, to: Uint32Array, shift: number): void {
  const starts = new Uint32Array(digits + 1);
  for (let at = 0; at < from.length; at++) {
    const digit = ((from[at] as number) >>> shift) & (digits - 1);
    starts[digit + 1] = (starts[digit + 1] as number) + 1;
  }
  for (let digit = 0; digit < digits; digit++) starts[digit + 1] = (starts[digit + 1] as number) + (starts[digit] as number);
  for (let at = 0; at < from.length; at++) {
    const number = from[at] as number;
    const digit = (number >>> shift) & (digits - 1);
    const position = starts[digit] as number;
    to[position] = number;
    starts[digit] = position + 1;
  }
}
