/** Label and field selectors of list and watch. */
import type { Json } from './json.ts';
import { at, isObject, text } from './json.ts';
import type { KubeObject } from './object.ts';
import { badRequest } from './status.ts';

export type Selector = (object: KubeObject) => boolean;

const LABEL_KEY = /^(?:[a-z0-9](?:[-a-z0-9.]*[a-z0-9])?\/)?[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?$/;
const LABEL_VALUE = /^(?:[A-Za-z0-9](?:[-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/;

/** @throws ApiError 400 when the text is not a label selector. */
export function parseLabelSelector(source: string): Selector {
  const terms = splitOutsideParentheses(source).map((term) => labelTerm(term, source));
  return (object) => {
    const labels = object.metadata.labels ?? {};
    return terms.every((term) => term(labels));
  };
}

type LabelTerm = (labels: Record<string, string>) => boolean;

function labelTerm(term: string, source: string): LabelTerm {
  const set = /^(\S+)\s+(in|notin)\s*\(([^)]*)\)$/.exec(term);
  if (set !== null) {
    const key = labelKey(set[1] ?? '', source);
    const values = new Set((set[3] ?? '').split(',').map((value) => value.trim()));
    const wanted = set[2] === 'in';
    return (labels) => {
      const value = labels[key];
      return wanted ? value !== undefined && values.has(value) : value === undefined || !values.has(value);
    };
  }
  const absent = /^!\s*(\S+)$/.exec(term);
  if (absent !== null) {
    const key = labelKey(absent[1] ?? '', source);
    return (labels) => !(key in labels);
  }
  const comparison = /^([^\s=!<>]+)\s*(==|=|!=|>|<)\s*(\S*)$/.exec(term);
  if (comparison !== null) {
    const key = labelKey(comparison[1] ?? '', source);
    const value = comparison[3] ?? '';
    switch (comparison[2]) {
      case '!=':
        checkedValue(value, source);
        return (labels) => labels[key] !== value;
      case '>':
        return (labels) => key in labels && Number(labels[key]) > Number(value);
      case '<':
        return (labels) => key in labels && Number(labels[key]) < Number(value);
      default:
        checkedValue(value, source);
        return (labels) => labels[key] === value;
    }
  }
  const key = labelKey(term, source);
  return (labels) => key in labels;
}

function labelKey(key: string, source: string): string {
  if (!LABEL_KEY.test(key))
    throw badRequest(
      `unable to parse requirement: <nil>: Invalid value: ${JSON.stringify(key)}: not a label key, in ${JSON.stringify(source)}`,
    );
  return key;
}

function checkedValue(value: string, source: string): string {
  if (!LABEL_VALUE.test(value))
    throw badRequest(
      `unable to parse requirement: values[0]: Invalid value: ${JSON.stringify(value)}: not a label value, in ${JSON.stringify(source)}`,
    );
  return value;
}

function splitOutsideParentheses(source: string): string[] {
  const terms = source.split(/,(?![^(]*\))/);
  return terms.map((term) => term.trim()).filter((term) => term !== '');
}

/**
 * Field selectors, of the fields that the resource has for it.
 * @throws ApiError 400 for a field the resource does not index.
 */
export function parseFieldSelector(source: string, supported: readonly string[]): Selector {
  const terms = source
    .split(',')
    .filter((term) => term.trim() !== '')
    .map((term) => {
      const match = /^\s*([^=!]+?)\s*(==|=|!=)\s*(.*?)\s*$/.exec(term);
      if (match === null) throw badRequest(`invalid selector: '${source}'; can't understand '${term}'`);
      const field = match[1] ?? '';
      if (!supported.includes(field)) throw badRequest(`field label not supported: ${field}`);
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
  if (!isObject(selector)) return false;
  const equals = Object.entries(isObject(selector['matchLabels']) ? selector['matchLabels'] : {}).every(
    ([key, value]) => labels[key] === value,
  );
  const expressions = Array.isArray(selector['matchExpressions']) ? selector['matchExpressions'] : [];
  return (
    equals &&
    expressions.every((expression) => {
      const value = labels[text(at(expression, 'key'))];
      const values = at(expression, 'values');
      const listed = value !== undefined && Array.isArray(values) && values.includes(value);
      switch (at(expression, 'operator')) {
        case 'In':
          return listed;
        case 'NotIn':
          return !listed;
        case 'Exists':
          return value !== undefined;
        default:
          return value === undefined;
      }
    })
  );
}
