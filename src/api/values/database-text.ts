/**
 * Text that Kiln writes into the database unchanged: OVSDB rejects a zero byte and an unpaired surrogate (RFC 7047 section 3.1 `<string>`).
 */

/** The value in printable form and its fault; undefined if the text is valid. */
export function databaseTextProblem(text: string): { readonly shown: string; readonly problem: string; readonly rule: string } | undefined {
  const problem = text.includes('\0') ? 'has a zero byte' : text.isWellFormed() ? undefined : 'has half of a surrogate pair';
  if (problem === undefined) return undefined;
  return { shown: JSON.stringify(text).slice(1, -1), problem, rule: 'OVN accepts no such text' };
}
