/** What the value of a label may be: at most 63 letters, digits, `-`, `_` and `.`, a letter or digit at both ends; or empty (Kubernetes). */
export function isLabelValue(text: string): boolean {
  return text.length <= 63 && /^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$/.test(text);
}
