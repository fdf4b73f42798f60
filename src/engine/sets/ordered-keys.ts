/** The first keys in order, of a set that may be very large. */

/** Length at which a run of keys is split. */
const LONGEST = 512;

/**
 * Keys in order, in runs of bounded length.
 *
 * Cost: `add` and `remove` take a binary search and move at most one run; `first(n)` takes n steps.
 */
export class OrderedKeys {
  #runs: string[][] = [];

  constructor(keys: Iterable<string> = []) {
    const all = [...keys].toSorted();
    for (let at = 0; at < all.length; at += LONGEST / 2) this.#runs.push(all.slice(at, at + LONGEST / 2));
  }

  add(key: string): void {
    const at = this.#runFor(key);
    const run = this.#runs[at];
    if (run === undefined) {
      this.#runs.push([key]);
      return;
    }
    const place = placeOf(run, key);
    if (run[place] === key) return;
    run.splice(place, 0, key);
    if (run.length > LONGEST) this.#runs.splice(at, 1, run.slice(0, LONGEST / 2), run.slice(LONGEST / 2));
  }

  remove(key: string): void {
    const at = this.#runFor(key);
    const run = this.#runs[at];
    if (run === undefined) return;
    const place = placeOf(run, key);
    if (run[place] !== key) return;
    run.splice(place, 1);
    if (run.length === 0) this.#runs.splice(at, 1);
  }

  first(count: number): readonly string[] {
    const found: string[] = [];
    for (const run of this.#runs) {
      if (found.length >= count) break;
      found.push(...run.slice(0, count - found.length));
    }
    return found;
  }

  /** The last run that begins at or before the key; the first one if none does. */
  #runFor(key: string): number {
    let low = 0;
    let high = this.#runs.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((this.#runs[middle]?.[0] ?? '') <= key) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}

/** Where a key is in a run, or would be. */
function placeOf(run: readonly string[], key: string): number {
  let low = 0;
  let high = run.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((run[middle] as string) < key) low = middle + 1;
    else high = middle;
  }
  return low;
}
