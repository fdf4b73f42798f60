/** Fields of a patch that the API server pruned, by its answer; and outputs without such fields. */

type Fields = Readonly<Record<string, unknown>>;

/**
 * The paths that the patch sets and the answer lacks. Only a CustomResourceDefinition causes that: a field that another program changes at
 * the same time is still in the answer, with another value.
 */
export function prunedPaths(patch: unknown, answer: unknown, path: string): readonly string[] {
  if (Array.isArray(patch)) {
    if (!Array.isArray(answer) || answer.length !== patch.length) return [];
    return patch.flatMap((item, i) => prunedPaths(item, answer[i], `${path}[]`));
  }
  if (!isFields(patch)) return [];
  const held: Fields = isFields(answer) ? answer : {};
  return Object.keys(patch).flatMap((key) => {
    const value = patch[key];
    if (value === null || value === undefined) return [];
    const inner = `${path}.${key}`;
    return held[key] === undefined ? [inner] : prunedPaths(value, held[key], inner);
  });
}

/** The same value if nothing of it is pruned. */
export function withoutPruned(value: unknown, pruned: ReadonlySet<string>, path: string): unknown {
  if (Array.isArray(value)) return value.map((item) => withoutPruned(item, pruned, `${path}[]`));
  if (!isFields(value)) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, inner]) =>
      pruned.has(`${path}.${key}`) ? [] : [[key, withoutPruned(inner, pruned, `${path}.${key}`)]],
    ),
  );
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
