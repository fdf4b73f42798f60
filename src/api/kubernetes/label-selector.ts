/** Label selectors of `meta/v1`: matching and validation. */

import type { Labels, LabelSelector, LabelSelectorRequirement } from './meta.ts';

const requirementMatches = ({ key, operator, values = [] }: LabelSelectorRequirement, labels: Labels): boolean => {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
    default:
      return false;
  }
};

/**
 * True if the labels meet every part of the selector. An empty selector matches everything; a selector with an unknown operator matches
 * nothing (`selectorProblem` reports it).
 */
export const selectorMatches = (selector: LabelSelector, labels: Labels = {}): boolean =>
  Object.entries(selector.matchLabels ?? {}).every(([key, value]) => Object.hasOwn(labels, key) && labels[key] === value) &&
  (selector.matchExpressions ?? []).every((requirement) => requirementMatches(requirement, labels));

/** The first fault of a selector, as the end of a sentence that begins with its name; undefined if it is valid. */
export const selectorProblem = (selector: LabelSelector): string | undefined => {
  for (const { key, operator, values = [] } of selector.matchExpressions ?? []) {
    if (operator === 'In' || operator === 'NotIn') {
      if (values.length === 0) return `compares label "${key}" by ${operator} with no values`;
    } else if (operator === 'Exists' || operator === 'DoesNotExist') {
      if (values.length > 0) return `gives values for label "${key}", which ${operator} does not compare`;
    } else return `uses operator "${operator}" on label "${key}"`;
  }
  return undefined;
};
