/**
 * Options as Kube-OVN's specs write them: `k=v,k=v`. A list inside a value has semicolons, which OVN wants as commas.
 */
export function parseOptions(text: string): Record<string, string> {
  const options: Record<string, string> = {};
  for (const item of text.split(',')) {
    const at = item.indexOf('=');
    if (at <= 0) continue;
    options[item.slice(0, at).trim()] = item
      .slice(at + 1)
      .trim()
      .replaceAll(';', ',');
  }
  return options;
}
