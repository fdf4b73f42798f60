const LONGEST = 63;

/**
 * Whether the text is a valid label value: at most 63 letters, digits, `-`, `_` and `.`, a letter or digit at both ends; or empty
 * (Kubernetes).
 */
export function isLabelValue(text: string): boolean {
  return text.length <= LONGEST && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}

const DOMAIN = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
const LONGEST_DOMAIN = 253;

/** A label key of Kubernetes: a name of at most 63 letters, digits, `-`, `_` and `.`, optionally after a domain and a slash. */
export function isLabelKey(text: string): boolean {
  const [first = '', second, ...rest] = text.split('/');
  const [domain, name] = second === undefined ? [undefined, first] : [first, second];
  const inDomain = domain === undefined || (domain.length <= LONGEST_DOMAIN && DOMAIN.test(domain));
  return rest.length === 0 && name !== '' && isLabelValue(name) && inDomain;
}

/**
 * The labels as the API server stores them: it refuses a whole write for one bad label, for ever. A value that no label can have is null, which
 * removes the label; a key that none can have is left out.
 */
export function storableLabels(labels: Readonly<Record<string, string | null>>): Readonly<Record<string, string | null>> {
  const entries = Object.entries(labels);
  if (entries.every(([key, value]) => isLabelKey(key) && (value === null || isLabelValue(value)))) return labels;
  return Object.fromEntries(
    entries.flatMap(([key, value]) => (isLabelKey(key) ? [[key, value !== null && isLabelValue(value) ? value : null]] : [])),
  );
}

/** The name as a label value, truncated to the maximum length. */
export function cutToLabel(name: string): string {
  return isLabelValue(name) ? name : name.slice(0, LONGEST).replace(/[^A-Za-z0-9]+$/, '');
}
