/** Levenshtein distance, in which two neighbours exchanged are one edit. Cost: the product of the lengths. */
export function editDistance(a: string, b: string): number {
  let [before, row] = [[] as number[], Array.from({ length: b.length + 1 }, (_, j) => j)];
  for (let i = 1; i <= a.length; i++) {
    const next = [i];
    for (let j = 1; j <= b.length; j++) {
      const changed = (row[j - 1] ?? 0) + (a[i - 1] === b[j - 1] ? 0 : 1);
      const exchanged = i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? (before[j - 2] ?? 0) + 1 : changed;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, changed, exchanged));
    }
    [before, row] = [row, next];
  }
  return row[b.length] ?? 0;
}

/** The word of a list with the least distance, the first of several; undefined for an empty list. */
export function nearest(word: string, words: readonly string[]): { readonly word: string; readonly distance: number } | undefined {
  let best: { readonly word: string; readonly distance: number } | undefined;
  for (const one of words) {
    const distance = editDistance(word, one);
    if (best === undefined || distance < best.distance) best = { word: one, distance };
  }
  return best;
}
