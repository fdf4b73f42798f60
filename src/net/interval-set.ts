/**
 * An immutable set of whole numbers kept as sorted, disjoint, non-adjacent intervals.
 * Union, intersection and difference are one merge pass; membership is a binary search.
 */

/** All numbers from `first` to `last`, both included; `first` <= `last`. */
export interface Interval {
  readonly first: bigint;
  readonly last: bigint;
}

export class IntervalSet {
  static readonly empty: IntervalSet = new IntervalSet([]);

  /** Ascending, disjoint, and with at least one number between neighbours. */
  readonly intervals: readonly Interval[];

  private constructor(intervals: readonly Interval[]) {
    this.intervals = intervals;
  }

  /** The set of all numbers in the intervals. These may be in any order, overlap, or be empty. */
  static of(intervals: Iterable<Interval>): IntervalSet {
    const sorted = [...intervals].filter(({ first, last }) => first <= last);
    sorted.sort((a, b) => (a.first < b.first ? -1 : a.first > b.first ? 1 : 0));
    return new IntervalSet(coalesce(sorted));
  }

  static between(first: bigint, last: bigint): IntervalSet {
    return IntervalSet.of([{ first, last }]);
  }

  get isEmpty(): boolean {
    return this.intervals.length === 0;
  }

  /** Number of members. */
  get count(): bigint {
    let total = 0n;
    for (const { first, last } of this.intervals) total += last - first + 1n;
    return total;
  }

  /** The lowest number, or undefined for the empty set. */
  get first(): bigint | undefined {
    return this.intervals[0]?.first;
  }

  get last(): bigint | undefined {
    return this.intervals.at(-1)?.last;
  }

  contains(value: bigint): boolean {
    let low = 0;
    let high = this.intervals.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const interval = this.intervals[middle];
      if (interval === undefined || interval.last >= value) high = middle;
      else low = middle + 1;
    }
    const candidate = this.intervals[low];
    return candidate !== undefined && candidate.first <= value;
  }

  union(other: IntervalSet): IntervalSet {
    if (other.isEmpty) return this;
    if (this.isEmpty) return other;
    return IntervalSet.of([...this.intervals, ...other.intervals]);
  }

  intersect(other: IntervalSet): IntervalSet {
    const result: Interval[] = [];
    let i = 0;
    let j = 0;
    for (;;) {
      const a = this.intervals[i];
      const b = other.intervals[j];
      if (a === undefined || b === undefined) return new IntervalSet(result);
      const first = a.first > b.first ? a.first : b.first;
      const last = a.last < b.last ? a.last : b.last;
      if (first <= last) result.push({ first, last });
      if (a.last < b.last) i++;
      else j++;
    }
  }

  /** The numbers of this set that `other` does not have. */
  subtract(other: IntervalSet): IntervalSet {
    const result: Interval[] = [];
    let j = 0;
    for (const { first, last } of this.intervals) {
      let from = first;
      for (let cut = other.intervals[j]; cut !== undefined && cut.first <= last; cut = other.intervals[j]) {
        if (cut.first > from) result.push({ first: from, last: cut.first - 1n });
        if (cut.last >= from) from = cut.last + 1n;
        if (cut.last > last) break;
        j++;
      }
      if (from <= last) result.push({ first: from, last });
    }
    return new IntervalSet(result);
  }

  equals(other: IntervalSet): boolean {
    if (other.intervals.length !== this.intervals.length) return false;
    return this.intervals.every((interval, i) => {
      const match = other.intervals[i];
      return match !== undefined && match.first === interval.first && match.last === interval.last;
    });
  }
}

/** Joins intervals that overlap or touch; the input is sorted by `first`. */
function coalesce(sorted: readonly Interval[]): Interval[] {
  const result: Interval[] = [];
  let open: { first: bigint; last: bigint } | undefined;
  for (const { first, last } of sorted) {
    if (open !== undefined && first <= open.last + 1n) {
      if (last > open.last) open.last = last;
      continue;
    }
    open = { first, last };
    result.push(open);
  }
  return result;
}
