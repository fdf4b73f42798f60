/** Text that goes into the database as it is: OVSDB takes neither a zero byte nor half of a surrogate pair (RFC 7047 section 3.1 `<string>`). */

/** The value as a message can show it, and what is wrong with it; undefined where it is fit. */
export function databaseTextProblem(text: string): { readonly shown: string; readonly problem: string; readonly rule: string } | undefined {
  const problem = text.includes('\0') ? 'has a zero byte' : text.isWellFormed() ? undefined : 'has half of a surrogate pair';
  if (problem === undefined) return undefined;
  return { shown: JSON.stringify(text).slice(1, -1), problem, rule: 'OVN takes no such text' };
}
