/**
 * Requests very many IP objects in parts, by the label of their node: the API server serializes a whole answer for seconds before it sends
 * the first byte. So rules can run for the pods of one part while the server serializes the next.
 */
import { isLabelValue } from '../../api/values/label-value.ts';
import { labelKey } from '../../api/well-known.ts';

/** Most parts: for each one the server compares the labels of all objects. */
const MOST = 5;
/** Longest list of names: proxies accept URLs of up to 8,192 characters, older ones 4,096. */
const LONGEST = 3_000;

/**
 * @param count number of IP objects @param each the least number of objects for a part
 * @returns label selectors; each object matches exactly one. Undefined: parts are of no use
 */
export function ipParts(nodes: readonly string[], count: number, each: number): readonly string[] | undefined {
  const names = nodes.filter(isLabelValue);
  const parts = Math.min(MOST, Math.floor(count / each), names.length);
  const all = names.join(',');
  if (parts < 2 || all.length > LONGEST) return undefined;
  const size = Math.ceil(names.length / parts);
  const some = Array.from({ length: Math.ceil(names.length / size) }, (_, at) => names.slice(at * size, (at + 1) * size));
  // The last part includes objects without the label.
  return [...some.map((members) => `${labelKey.nodeName} in (${members.join(',')})`), `${labelKey.nodeName} notin (${all})`];
}
