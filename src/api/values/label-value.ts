const LONGEST = 63;

/**
 * Whether the text is a valid label value: at most 63 letters, digits, `-`, `_` and `.`, a letter or digit at both ends; or empty
 * (Kubernetes).
 */
export function isLabelValue(text: string): boolean {
  return text.length <= LONGEST && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}

/** The name as a label value, truncated to the maximum length. */
export function cutToLabel(name: string): string {
  return isLabelValue(name) ? name : name.slice(0, LONGEST).replace(/[^A-Za-z0-9]+$/, '');
}
