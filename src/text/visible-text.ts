/** Text of others, so written that it can neither move a cursor, forge a line nor hide a character from the reader. */

/**
 * What has no picture of its own or changes that of others: control characters (C0, DEL, C1, and so every escape sequence), line and
 * paragraph separators, marks and overrides of direction, zero-width and other ignorable characters, private and permanently unassigned
 * ones, lone surrogates, and the fifth mark and more on one letter, which would be painted over the lines around it.
 */
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|(?<=\p{M}{4})\p{M}`;
const ALL = new RegExp(UNSEEN, 'gu');
const FIRST = new RegExp(UNSEEN, 'u');
/** Where lines are Kiln's own. */
export const UNSEEN_IN_LINES = new RegExp(String.raw`(?!\n)(?:${UNSEEN})`, 'gu');
/** Most texts are of these alone. */
const PLAIN = /^[ -~]*$/;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** @returns whether a reader sees every character of it */
export function isVisible(text: string): boolean {
  return PLAIN.test(text) || !FIRST.test(text);
}

/** One line: each character that is not seen is written as `\n`, `\u001b` or `\u{e0001}`. What is visible already stays as it is. */
export function visible(text: string): string {
  return PLAIN.test(text) ? text : text.replace(ALL, escaped);
}

/** The same for a text of several lines, all of which are Kiln's own. */
export function visibleLines(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSEEN_IN_LINES, escaped);
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const digits = point.toString(16).padStart(4, '0');
  return SHORT[character] ?? (point > 0xffff ? `\\u{${digits}}` : `\\u${digits}`);
}

/**
 * One visible line for an Event or a condition, which kubectl prints as it is.
 *
 * @param most bytes of UTF-8; a longer text is cut at the end of a character, and says so by `…`
 */
export function visibleMessage(text: string, most: number): string {
  if (text.length <= most && PLAIN.test(text)) return text;
  // No character becomes shorter, so what is far beyond the limit need not be looked at.
  const shown = visible(text.slice(0, most + 1));
  const bytes = new TextEncoder().encode(shown);
  if (bytes.length <= most) return shown;
  return `${new TextDecoder().decode(bytes.subarray(0, most - 3)).replace(/\uFFFD+$/, '')}…`;
}

/** The API server takes no longer message of an Event. */
const EVENT_BYTES = 1_024;
/** A condition is read whenever its object is: `kubectl describe` shows it as one paragraph. */
const CONDITION_BYTES = 4_096;

/** A message that may quote tenants, as an Event may have it. */
export function eventMessage(text: string): string {
  return visibleMessage(text, EVENT_BYTES);
}

/** The same for a condition. */
export function conditionMessage(text: string): string {
  return visibleMessage(text, CONDITION_BYTES);
}
