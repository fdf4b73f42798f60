/**
 * Very many IP objects are asked for in parts, by the label of their node: the API server puts all of an answer into words before it sends the
 * first, for seconds. So the pods of one part are looked at while the server is at the next.
 */
import { isLabelValue } from '../api/label-value.ts';
import { labelKey } from '../api/well-known.ts';

/** IP objects for which a part is worth it. */
const EACH = 10_000;
/** Fewer are not asked for in parts. */
export const LEAST = 2 * EACH;
/** Each costs the server a look at the labels of all. */
const MOST = 5;
/** Proxies before an API server take no longer address of a request than 8,192 characters, or 4,096 of old. */
const LONGEST = 3_000;

/** @returns label selectors, each object by exactly one of them; undefined where parts are of no use */
export function ipParts(nodes: readonly string[], count: number): readonly string[] | undefined {
  const names = nodes.filter(isLabelValue);
  const parts = Math.min(MOST, Math.floor(count / EACH), names.length);
  const all = names.join(',');
  if (parts < 2 || all.length > LONGEST) return undefined;
  const each = Math.ceil(names.length / parts);
  const some = Array.from({ length: Math.ceil(names.length / each) }, (_, at) => names.slice(at * each, (at + 1) * each));
  // Those without the label are in the last as well.
  return [...some.map((members) => `${labelKey.nodeName} in (${members.join(',')})`), `${labelKey.nodeName} notin (${all})`];
}
