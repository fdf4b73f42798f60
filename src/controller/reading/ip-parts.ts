/**
 * Very many IP objects are asked for in parts, by the label of their node: the API server puts all of an answer into words before it sends the
 * first, for seconds. So the pods of one part are looked at while the server is at the next.
 */
import { isLabelValue } from '../../api/values/label-value.ts';
import { labelKey } from '../../api/well-known.ts';

/** Each costs the server a look at the labels of all. */
const MOST = 5;
/** Proxies before an API server take no longer address of a request than 8,192 characters, or 4,096 of old. */
const LONGEST = 3_000;

/**
 * @param count of IP objects. @param each for how many of them a part is worth it
 * @returns label selectors, each object by exactly one of them; undefined where parts are of no use
 */
export function ipParts(nodes: readonly string[], count: number, each: number): readonly string[] | undefined {
  const names = nodes.filter(isLabelValue);
  const parts = Math.min(MOST, Math.floor(count / each), names.length);
  const all = names.join(',');
  if (parts < 2 || all.length > LONGEST) return undefined;
  const size = Math.ceil(names.length / parts);
  const some = Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size));
  // Those without the label are in the last as well.
  return [...some.map((members) => `${labelKey.nodeName} in (${members.join(',')})`), `${labelKey.nodeName} notin (${all})`];
}
