/** Escapes foreign text, so that it can neither move a cursor, forge a line nor hide a character. */

/**
 * Characters that are invisible or change the display of others: control characters (C0, DEL, C1, and so every escape sequence), line and
 * paragraph separators, direction marks and overrides, zero-width and other ignorable characters, private-use and permanently unassigned
 * ones, lone surrogates, and more than four combining marks on one letter, which would cover neighbouring lines.
 */
const UNSEEN = String.raw`[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]|(?<=\p{M}{4})\p{M}`;
const ALL = new RegExp(UNSEEN, 'gu');
const FIRST = new RegExp(UNSEEN, 'u');
/** For text with Kiln's own line ends. */
export const UNSEEN_IN_LINES = new RegExp(String.raw`(?!\n)(?:${UNSEEN})`, 'gu');
/** Most texts have only these. */
const PLAIN = /^[ -~]*$/;

const SHORT: Readonly<Record<string, string>> = { '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** @returns whether every character is visible */
export function isVisible(text: string): boolean {
  return PLAIN.test(text) || !FIRST.test(text);
}

/** One line: each invisible character becomes `\n`, `\u001b` or `\u{e0001}`. Visible text stays unchanged. */
export function visible(text: string): string {
  return PLAIN.test(text) ? text : text.replace(ALL, escaped);
}

/** The same for a text with Kiln's own line ends. */
export function visibleLines(text: string): string {
  return PLAIN.test(text) ? text : text.replace(UNSEEN_IN_LINES, escaped);
}

function escaped(character: string): string {
  const point = character.codePointAt(0) ?? 0;
  const digits = point.toString(16).padStart(4, '0');
  return SHORT[character] ?? (point > 0xffff ? `\\u{${digits}}` : `\\u${digits}`);
}

/**
 * One visible line for an Event or a condition, which kubectl prints unchanged.
 *
 * @param most bytes of UTF-8; a longer text is cut at the end of a character, and ends with `…`
 */
export function visibleMessage(text: string, most: number): string {
  if (text.length <= most && PLAIN.test(text)) return text;
  // Escaping shortens no character, so text far beyond the limit need not be examined.
  const shown = visible(text.slice(0, most + 1));
  const bytes = new TextEncoder().encode(shown);
  if (bytes.length <= most) return shown;
  return `${new TextDecoder().decode(bytes.subarray(0, most - 3)).replace(/\uFFFD+$/, '')}…`;
}

/** The API server's limit for the message of an Event. */
const EVENT_BYTES = 1_024;
/** `kubectl describe` shows a condition as one paragraph: it has to stay readable. */
const CONDITION_BYTES = 4_096;

/** A message for an Event; it may quote tenants. */
export function eventMessage(text: string): string {
  return visibleMessage(text, EVENT_BYTES);
}

/** The same for a condition. */
export function conditionMessage(text: string): string {
  return visibleMessage(text, CONDITION_BYTES);
}
