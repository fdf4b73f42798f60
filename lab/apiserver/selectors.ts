/** Parses field selectors of list and watch, and label selectors of specs. */
import { selectorMatches } from '../../src/api/kubernetes/label-selector.ts';
import type { Json } from './json.ts';
import { at, isObject } from './json.ts';
import type { KubeObject } from './object.ts';
import { badRequest } from './status.ts';

export type Selector = (object: KubeObject) => boolean;

/**
 * Parses a field selector, for the fields that the resource supports.
 *
 * @param unknownField makes the message for an unsupported field
 * @throws ApiError 400 for an unsupported field.
 */
export function parseFieldSelector(source: string, supported: readonly string[], unknownField: (field: string) => string): Selector {
  const terms = (source.match(/(?:\\.|[^\\,])+/gs) ?? [])
    .filter((term) => term.trim() !== '' && term !== '=')
    .map((term) => {
      const match = /^\s*([^=!]+?)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term);
      if (match === null) throw badRequest(`invalid selector: '${source}'; can't understand '${term}'`);
      const field = match[1] ?? '';
      if (/(?:^|[^\\])(?:\\\\)*=/.test(match[3] ?? '')) throw badRequest('invalid field selector: unescaped character in value: 61');
      if (!supported.includes(field)) throw badRequest(unknownField(field));
      const path = field.split('.');
      return { path, negated: match[2] === '!=', value: (match[3] ?? '').replace(/\\(.)/g, '$1') };
    });
  return (object) => terms.every((term) => (fieldText(object, term.path) === term.value) !== term.negated);
}

function fieldText(object: KubeObject, path: readonly string[]): string {
  const value = at(object, ...path);
  if (value === undefined || value === null) return path.at(-1) === 'unschedulable' ? 'false' : '';
  return typeof value === 'object' ? '' : String(value);
}

/** A `LabelSelector` object of a spec: an empty one selects everything, an absent one nothing. */
export function selectsLabels(selector: Json | undefined, labels: Record<string, string>): boolean {
  return isObject(selector) && selectorMatches(selector, labels);
}
