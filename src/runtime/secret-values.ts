/** Values behind a name that says they are secret: assignments, headers, flags, JSON, YAML, XML and query strings, also within other texts. */
import { REDACTED } from './secret-forms.ts';
import { isNamedByAnother, isSecretName, namesAnother } from './secret-names.ts';

const SEPARATOR = /=>|:=|->|→|[:=]|\\u003[ad]|(?<=[A-Za-z]) (?:is|was) /gi;
/** Between a name and its separator, or that and the value: quotes, also such as are escaped once or more. */
const QUOTING = /[\s"'`\\\])>]/;
const OF_NAME = /[A-Za-z0-9_.$/-]/;
const MOST_BETWEEN = 8;
const LONGEST_NAME = 128;
/** A name and its value stand in one object, within so many characters. */
const NEAR = 400;
const HARMLESS = /^(true|false|null|none|nil|undefined|~|\d{1,2})?$/i;
const WHOLE_LINE = /authorization|cookie/i;
const FLAG = /(?<![A-Za-z0-9])(--?[A-Za-z][A-Za-z0-9_.-]{0,80})(\s{1,4})(?!-)(["']?)([^\s"']{1,512})/g;
const ELEMENT = /<([A-Za-z][A-Za-z0-9_.:-]{0,80})(\s[^<>]{0,200})?>([^<]{1,4096})</g;
const FLAT_OBJECT = /\{[^{}]{1,4000}\}/g;

export function withoutNamedValues(text: string): string {
  if (!/[:=>→]| is | was |--?[A-Za-z]/i.test(text)) return text;
  return assignments(
    text
      .replace(FLAT_OBJECT, (object) => pairedValues(object))
      .replace(FLAG, (whole, flag: string, blanks: string, quote: string, value: string) =>
        isSecretName(flag) && !HARMLESS.test(value) ? `${flag}${blanks}${quote}${REDACTED}` : whole,
      )
      .replace(ELEMENT, (whole, element: string, attributes: string | undefined, value: string) =>
        isSecretName(element) && !HARMLESS.test(value.trim()) ? `<${element}${attributes ?? ''}>${REDACTED}<` : whole,
      ),
  );
}

/** An object of which one field names a secret: the order of fields says nothing. */
function pairedValues(object: string): string {
  let secret = false;
  for (const { index, 0: separator } of object.matchAll(SEPARATOR))
    secret ||= namesAnother(nameBefore(object, index)) && isSecretName(shortValueAfter(object, index + separator.length));
  return secret ? assignments(object, isNamedByAnother) : object;
}

function assignments(text: string, also: (name: string) => boolean = () => false): string {
  let result = '';
  let copied = 0;
  let pairUntil = -1;
  for (const { index, 0: separator } of text.matchAll(SEPARATOR)) {
    if (index < copied) continue;
    const name = nameBefore(text, index);
    if (name === '') continue;
    if (namesAnother(name)) {
      if (isSecretName(shortValueAfter(text, index + separator.length))) pairUntil = index + NEAR;
      if (!isSecretName(name)) continue;
    }
    if (!isSecretName(name) && !also(name) && !(index < pairUntil && isNamedByAnother(name))) continue;
    const { from, to, text: value } = valueAfter(text, index + separator.length, WHOLE_LINE.test(name));
    if (HARMLESS.test(value) || value.startsWith(REDACTED)) continue;
    result += `${text.slice(copied, from)}${REDACTED}`;
    copied = to;
  }
  return copied === 0 ? text : `${result}${text.slice(copied)}`;
}

function nameBefore(text: string, separator: number): string {
  let end = separator;
  for (let skipped = 0; end > 0 && skipped < MOST_BETWEEN && QUOTING.test(text[end - 1] ?? ''); skipped++) end--;
  let begin = end;
  while (begin > 0 && end - begin < LONGEST_NAME && OF_NAME.test(text[begin - 1] ?? '')) begin--;
  return text.slice(begin, end);
}

interface Value {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const BLOCK = /[|>][+-]?\d?[ \t]*(?:\n[ \t]+[^\n]*)+/y;
const LINE = /[^\r\n"'`\\]*/y;
const WORD = /(?:[^\s"'`&;\\]|\\(?![nrt"'`\\u/]))*/y;

/** As long as a name is: each of very many may be looked at. */
function shortValueAfter(text: string, at: number): string {
  return valueAfter(text.slice(at, at + 2 * LONGEST_NAME), 0, false).text;
}

/** @param wholeLine the value of a header goes to the end of its line, with blanks and semicolons */
function valueAfter(text: string, at: number, wholeLine: boolean): Value {
  let from = at;
  while (from < text.length && /\s/.test(text[from] ?? '')) from++;
  const block = matchAt(BLOCK, text, from);
  if (block !== '') return { from, to: from + block.length, text: block };
  const [opening = ''] = /^(?:\\*["'`])/.exec(text.slice(from, from + 16)) ?? [];
  if (opening !== '') {
    from += opening.length;
    const to = closing(text, from, opening);
    return { from, to, text: text.slice(from, to) };
  }
  const bracket = text[from];
  if (bracket === '{' || bracket === '[') {
    const to = balanced(text, from);
    return { from, to, text: text.slice(from, to) };
  }
  const word = matchAt(wholeLine ? LINE : WORD, text, from);
  return { from, to: from + word.length, text: word };
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** The same quote with as many backslashes before it; the end of the text where there is none. */
function closing(text: string, from: number, opening: string): number {
  for (let at = text.indexOf(opening, from); at !== -1; at = text.indexOf(opening, at + 1)) {
    let before = 0;
    while (at - before > from && text[at - before - 1] === '\\') before++;
    if (before === 0 || (opening.startsWith('\\') && before % 2 === 0)) return at;
  }
  return text.length;
}

function balanced(text: string, from: number): number {
  let depth = 0;
  for (let at = from; at < text.length; at++) {
    const character = text[at];
    if (character === '{' || character === '[') depth++;
    else if ((character === '}' || character === ']') && --depth === 0) return at + 1;
  }
  return text.length;
}
