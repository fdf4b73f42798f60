/** Text that a client chose, for an answer or a line of the log: cut, and no character of it moves a cursor, ends a line or turns the text round. */

/** Control and format characters (marks of direction among them), line and paragraph separators, halves of pairs. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}]/gu;

/** @param most characters; a longer text ends in `…` */
export function boundedText(text: string, most: number): string {
  // Cut first: what is thrown away need not be looked at.
  const shown = text.slice(0, most + 1).replace(UNSEEN, (one) => `\\u{${(one.codePointAt(0) ?? 0).toString(16)}}`);
  return shown.length <= most ? shown : `${shown.slice(0, most - 1)}…`;
}
