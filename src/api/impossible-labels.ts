/** Selectors that ask for labels that no object can have, and providers that no network can have: they match nothing, ever. */
import type { Finding, Subject } from './finding.ts';
import { findingOf } from './finding.ts';
import { isLabelValue } from './label-value.ts';
import type { LabelSelector } from './meta.ts';

const SUBDOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/** A name of at most 63 letters, digits, `-`, `_` and `.`, maybe with a domain and a slash before it (Kubernetes). */
function isLabelKey(text: string): boolean {
  const [first = '', second, ...rest] = text.split('/');
  const [domain, name] = second === undefined ? [undefined, first] : [first, second];
  return (
    rest.length === 0 && name !== '' && isLabelValue(name) && (domain === undefined || (domain.length <= 253 && SUBDOMAIN.test(domain)))
  );
}

/** One for each of the selectors that no labels can meet. @param field path of the list of selectors */
export function selectorFindings(subject: Subject, field: string, selectors: readonly LabelSelector[] = []): readonly Finding[] {
  return selectors.flatMap((selector, index) => {
    const problem = impossible(selector);
    if (problem === undefined) return [];
    return [
      findingOf(subject, {
        code: 'SelectorImpossible',
        field: `${field}[${index}]`,
        value: JSON.stringify(selector),
        problem,
        rule: 'keys and values of labels have 1 to 63 letters, digits, "-", "_" and ".", a key maybe a domain and a slash before them',
      }),
    ];
  });
}

function impossible({ matchLabels = {}, matchExpressions = [] }: LabelSelector): string | undefined {
  const required = Object.entries(matchLabels).concat(
    matchExpressions.flatMap(({ key, operator, values = [] }) => {
      if (operator === 'Exists') return [[key, '']] satisfies [string, string][];
      return operator === 'In' && values.every((value) => !isLabelValue(value)) ? [[key, values[0] ?? ''] satisfies [string, string]] : [];
    }),
  );
  for (const [key, value] of required) {
    if (!isLabelKey(key)) return `asks for label "${key}", a key that no label has`;
    if (!isLabelValue(value)) return `asks for label "${key}" with "${value}", which no label can have for a value`;
  }
  return undefined;
}

/** A provider is the name of a network attachment: with dots between its own name, its namespace and, of OVN's networks, `ovn`. */
export function providerFinding(subject: Subject, provider = ''): readonly Finding[] {
  if (provider === '' || SUBDOMAIN.test(provider)) return [];
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
