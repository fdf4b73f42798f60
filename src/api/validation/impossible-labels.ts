/** Selectors for labels that no object can have, and providers that no network can have: they never match. */
import type { Finding, Subject } from './finding.ts';
import { findingOf } from './finding.ts';
import { isLabelKey, isLabelValue } from '../values/label-value.ts';
import type { LabelSelector } from '../kubernetes/meta.ts';
import { attachmentOfProvider } from '../names.ts';
import { DEFAULT_PROVIDER, EXTERNAL_PROVIDER } from '../well-known.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * One finding for each selector that no labels can satisfy.
 * @param field path of the list of selectors
 */
export function selectorFindings(subject: Subject, field: string, selectors: readonly LabelSelector[] = []): readonly Finding[] {
  return selectors.flatMap((selector, index) => {
    const problem = impossible(selector);
    if (problem === undefined) return [];
    return [selectorBreach(subject, `${field}[${index}]`, JSON.stringify(selector), problem)];
  });
}

function selectorBreach(subject: Subject, field: string, value: string, problem: string): Finding {
  return findingOf(subject, {
    code: 'SelectorImpossible',
    field,
    value,
    problem,
    rule: 'keys and values of labels have 1 to 63 letters, digits, "-", "_" and ".", a key maybe a domain and a slash before them',
  });
}

function impossible({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string | undefined {
  for (const [key, value] of Object.entries(matchLabels)) {
    const problem = labelProblem(key, value);
    if (problem !== undefined) return `asks for ${problem}`;
  }
  for (const { key, operator, values = [] } of matchExpressions) {
    const asks = operator === 'In' || operator === 'Exists' ? 'asks for' : 'excludes';
    const noKey = labelProblem(key, '');
    if (noKey !== undefined) return `${asks} ${noKey}`;
    const odd = values.find((value) => !isLabelValue(value));
    // Another value of the list may still match.
    if (odd !== undefined && (operator !== 'In' || values.every((value) => !isLabelValue(value))))
      return `${asks} ${labelProblem(key, odd) ?? ''}`;
  }
  return undefined;
}

/** Continues a sentence after the selector's verb. */
function labelProblem(key: string, value: string): string | undefined {
  if (!isLabelKey(key)) return `label "${key}", a key that no label has`;
  return isLabelValue(value) ? undefined : `label "${key}" with "${value}", which no label can have for a value`;
}

/** The finding for a label in the form `key:value`. */
export function labelFinding(subject: Subject, field: string, item: string): readonly Finding[] {
  const at = item.indexOf(':');
  const problem = labelProblem(item.slice(0, at).trim(), item.slice(at + 1).trim());
  return problem === undefined ? [] : [selectorBreach(subject, field, item, `asks for ${problem}`)];
}

/**
 * A provider is the name of a network attachment: the definition's name, its namespace and, for networks in OVN, `ovn`, separated by dots.
 */
export function providerFinding(subject: Subject, provider = ''): readonly Finding[] {
  if (provider === '' || provider === DEFAULT_PROVIDER || provider === EXTERNAL_PROVIDER) return [];
  if (SUBDOMAIN.test(provider) && attachmentOfProvider(provider) !== undefined) return [];
  return [
    findingOf(subject, {
      code: 'ProviderImpossible',
      field: 'spec.provider',
      value: provider,
      problem: 'is a text that no network attachment is named by',
      rule: 'it is empty or ovn, or <name>.<namespace>.ovn of a NetworkAttachmentDefinition, or <name>.<namespace> of one of another plugin',
    }),
  ];
}
