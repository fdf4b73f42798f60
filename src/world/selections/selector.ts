/** Selectors of pods as canonical texts: equal selectors have one text, and so share one selection. */
import type { Labels, LabelSelector, LabelSelectorRequirement } from '../../api/kubernetes/meta.ts';
import { selectorMatches } from '../../api/kubernetes/label-selector.ts';

/** Which pods: of one namespace or of namespaces with certain labels, and with certain labels of their own. */
export interface PodSelector {
  readonly namespaces: string | LabelSelector;
  readonly pods: LabelSelector;
}

/** Canonical text of a `PodSelector`. */
export type SelectorText = string & { readonly __brand: 'SelectorText' };

/** A selector as requirements in one order; `matchLabels` are requirements of one value. */
type Requirements = readonly LabelSelectorRequirement[];

export function selectorText({ namespaces, pods }: PodSelector): SelectorText {
  const within = typeof namespaces === 'string' ? namespaces : requirementsOf(namespaces);
  return JSON.stringify([within, requirementsOf(pods)]) as SelectorText;
}

export interface ParsedSelector {
  readonly namespaces: string | Requirements;
  readonly pods: Requirements;
}

export function parseSelector(text: string): ParsedSelector {
  const [namespaces, pods] = JSON.parse(text) as [string | Requirements, Requirements];
  return { namespaces, pods };
}

function requirementsOf({ matchLabels = {}, matchExpressions = [] }: LabelSelector): Requirements {
  const one = Object.entries(matchLabels).map(([key, value]) => ({ key, operator: 'In', values: [value] }));
  const all = [...one, ...matchExpressions].map(({ key, operator, values = [] }) => ({
    key,
    operator,
    ...(values.length > 0 && { values: [...new Set(values)].toSorted() }),
  }));
  const byText = new Map(all.map((requirement) => [JSON.stringify(requirement), requirement as LabelSelectorRequirement]));
  return [...byText.keys()].toSorted().map((text) => byText.get(text) as LabelSelectorRequirement);
}

export function matches(requirements: Requirements, labels: Labels | undefined): boolean {
  return selectorMatches({ matchExpressions: requirements }, labels);
}

/** The index values under which all labels are filed that meet the most telling requirement; undefined if none is telling. */
export function telling(requirements: Requirements): readonly string[] | undefined {
  let best: readonly string[] | undefined;
  for (const { key, operator, values = [] } of requirements) {
    if (operator === 'In' && (best === undefined || values.length < best.length)) best = values.map((value) => `${key}=${value}`);
    else if (operator === 'Exists') best ??= [key];
  }
  return best;
}

/** The index values of labels: each key, and each key with its value. A label key has no `=`. */
export function filedUnder(labels: Labels): readonly string[] {
  return Object.entries(labels).flatMap(([key, value]) => [key, `${key}=${value}`]);
}
