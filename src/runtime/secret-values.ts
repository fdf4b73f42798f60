/** Values behind a secret name: assignments, headers, flags, JSON, YAML, XML and query strings, also within other texts. */
import { REDACTED } from './secret-forms.ts';
import { isNamedByAnother, isSecretName, isSpokenSecret, namesAnother } from './secret-names.ts';

const SEPARATOR = /=>|:=|->|→|[:=]|\\u003[ad]|(?<=[A-Za-z]) (?:is|was) /gi;
/** Quotes between a name, its separator and the value, also escaped ones. */
const QUOTING = /[\s"'`\\\])>]/;
const OF_NAME = /[A-Za-z0-9_.$/-]/;
const LETTER = /[\p{L}\p{N}]/u;
const OPENING = /[=:]\s{0,2}(["'])/g;
const MOST_BETWEEN = 8;
const LONGEST_NAME = 128;
/** Maximal distance in characters of a name and its value in one object. */
const NEAR = 400;
const NEAR_BEFORE = 200;
const ATTRIBUTE = /(?<![A-Za-z])([A-Za-z]{2,10})=["']([^"'\s]{1,80})["']/g;
const HARMLESS = /^(true|false|null|none|nil|undefined|~|\d{1,2})?$/i;
const WHOLE_LINE = /authorization|cookie/i;
const FLAG = /(?<![A-Za-z0-9])(--?[A-Za-z][A-Za-z0-9_.-]{0,80})(\s{1,4})(?!-)(["']?)([^\s"']{1,512})/g;
const ELEMENT = /<([A-Za-z][A-Za-z0-9_.:-]{0,80})(\s[^<>]{0,200})?>([^<]{1,4096})</g;
const FLAT_OBJECT = /\{[^{}]{1,4000}\}/g;
/** `["password","…"]` of a text that is no JSON as a whole. */
const PAIR = /(\[\s{0,8}["']([^\s"'[\]]{1,80})["']\s{0,8},\s{0,8})("[^"]{1,2048}"|'[^']{1,2048}')/g;
/** A word that may be followed by a value without a separator. One match attempt for each word: the time is linear. */
const WORD_BEFORE_BLANK = /(?<![\p{L}\p{N}_.$-])\p{L}[\p{L}\p{N}_.$]*(?=[ \t]+[^\s=:,;)-])/gu;
/** Words that continue a sentence about a password. */
const PROSE: ReadonlySet<string> = new Set(
  (
    'a an and are as at be been before but by can cannot could did do does expired expires fails failed field file files for from had has ' +
    'have here if in into invalid is it key lacks missing may must name names need needed needs no none nor not of on or over per refused ' +
    'required set should so than that the then there these they this to too unless until was were when where which while who whose will ' +
    'with without would wrong hash policy'
  ).split(' '),
);
/** Two words that are one name: `pass phrase`, `api key`. */
const SECOND_WORD = /^(phrase|word|code|key|token|secret)$/i;

export function withoutNamedValues(text: string): string {
  const spoken = withoutSpokenValues(text);
  if (!/[:=>→[]| is | was |--?[A-Za-z]/i.test(spoken)) return spoken;
  return assignments(
    spoken
      .replace(PAIR, (whole, before: string, name: string) => (isSecretName(name) ? `${before}"${REDACTED}"` : whole))
      .replace(FLAT_OBJECT, (object) => pairedValues(object))
      .replace(FLAG, (whole, flag: string, blanks: string, quote: string, value: string) =>
        isSecretName(flag) && !HARMLESS.test(value) ? `${flag}${blanks}${quote}${REDACTED}` : whole,
      )
      .replace(ELEMENT, (whole, element: string, attributes: string | undefined, value: string) =>
        isSecretName(element) && !HARMLESS.test(value.trim()) ? `<${element}${attributes ?? ''}>${REDACTED}<` : whole,
      ),
  );
}

/** `password X`, `requirepass X`, `the password "X" was refused`. */
function withoutSpokenValues(text: string): string {
  let result = '';
  let copied = 0;
  for (const { index, 0: name } of text.matchAll(WORD_BEFORE_BLANK)) {
    if (index < copied || name.length > LONGEST_NAME || !isSpokenSecret(name)) continue;
    const { from, to, text: value } = valueAfter(text, index + name.length, WORD);
    const word = value.replace(/[.,;:!?)]+$/, '').toLowerCase();
    if (HARMLESS.test(value) || PROSE.has(word) || value.startsWith(REDACTED)) continue;
    result += `${text.slice(copied, from)}${REDACTED}`;
    copied = to;
  }
  return copied === 0 ? text : `${result}${text.slice(copied)}`;
}

/** Runs before escapes are decoded: afterwards a quote within the value could not be distinguished from its end. */
export function withoutEscapedValues(text: string): string {
  if (!text.includes('\\"') && !text.includes("\\'")) return text;
  let result = '';
  let copied = 0;
  let seen = 0;
  for (const { index, 0: opening, 1: quote = '' } of text.matchAll(OPENING)) {
    if (index < seen) continue;
    if (!isSecretName(nameBefore(text, index))) continue;
    const from = index + opening.length;
    seen = closing(text, from, quote);
    if (!text.slice(from, seen).includes('\\')) continue;
    result += `${text.slice(copied, from)}${REDACTED}`;
    copied = seen;
  }
  return copied === 0 ? text : `${result}${text.slice(copied)}`;
}

/** An object in which one field names a secret, in any order of fields. */
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
  const named = secretlyNamed(text);
  let nextNamed = 0;
  for (const { index, 0: separator } of text.matchAll(SEPARATOR)) {
    if (index < copied) continue;
    const name = nameBefore(text, index);
    if (name === '') continue;
    if (namesAnother(name)) {
      if (isSecretName(shortValueAfter(text, index + separator.length))) pairUntil = index + NEAR;
      if (!isSecretName(name)) continue;
    }
    while ((named[nextNamed] ?? Number.POSITIVE_INFINITY) < index) nextNamed++;
    const nearby = index < pairUntil || (named[nextNamed] ?? Number.POSITIVE_INFINITY) < index + NEAR_BEFORE;
    if (!isSecretName(name) && !also(name) && !(nearby && isNamedByAnother(name))) continue;
    const { from, to, text: value } = valueAfter(text, index + separator.length, extentOf(name, separator));
    if (HARMLESS.test(value) || value.startsWith(REDACTED)) continue;
    if (separator.startsWith(' ') && PROSE.has(value.toLowerCase())) continue;
    result += `${text.slice(copied, from)}${REDACTED}`;
    copied = to;
  }
  return copied === 0 ? text : `${result}${text.slice(copied)}`;
}

/** Positions of attributes such as `name="password"`: their value may stand before them. */
function secretlyNamed(text: string): readonly number[] {
  const found: number[] = [];
  for (const { index, 1: name = '', 2: value = '' } of text.matchAll(ATTRIBUTE))
    if (namesAnother(name) && isSecretName(value)) found.push(index);
  return found;
}

function extentOf(name: string, separator: string): Extent {
  if (WHOLE_LINE.test(name)) return LINE;
  return separator === ':' ? WORDS : WORD;
}

function isOfName(character: string): boolean {
  return OF_NAME.test(character) || (character > '\u007f' && LETTER.test(character));
}

function nameBefore(text: string, separator: number): string {
  let end = separator;
  for (let skipped = 0; end > 0 && skipped < MOST_BETWEEN && QUOTING.test(text[end - 1] ?? ''); skipped++) end--;
  let begin = end;
  while (begin > 0 && end - begin < LONGEST_NAME && isOfName(text[begin - 1] ?? '')) begin--;
  const name = text.slice(begin, end);
  if (SECOND_WORD.test(name) && text[begin - 1] === ' ') {
    const [first = ''] = /[A-Za-z]{3,10}$/.exec(text.slice(Math.max(0, begin - 11), begin - 1)) ?? [];
    if (isSecretName(`${first}${name}`)) return `${first}${name}`;
  }
  return text[end] === ']' || /^["'`]\]/.test(text.slice(end, end + 2)) ? subscripted(text, begin, name) : name;
}

/** `secret[0]`, `config.secret["a"]`: the name is before the subscript. */
function subscripted(text: string, at: number, inner: string): string {
  const [, outer = ''] = /([A-Za-z0-9_.$-]{1,80})\[["'`]?$/.exec(text.slice(Math.max(0, at - 84), at)) ?? [];
  return outer !== '' && isSecretName(outer) ? outer : inner;
}

interface Value {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

const BLOCK = /[|>][+-]?\d?[ \t]*(?:\n[ \t]+[^\n]*)+/y;
const LINE = /[^\r\n"'`\\]*/y;
/** A value of YAML or of a mail header, up to the punctuation that ends it. */
const WORDS = /(?:[^\r\n"'`&;,<>{}\\]|\\(?![nrt"'`\\u/]))*/y;
const WORD = /(?:[^\s"'`&;\\]|\\(?![nrt"'`\\u/]))*/y;

type Extent = RegExp;

/** At most as long as a name, so that many of them cost little. */
function shortValueAfter(text: string, at: number): string {
  return valueAfter(text.slice(at, at + 2 * LONGEST_NAME), 0, WORD).text;
}

/** @param extent the end of a value without quotes: the value of a header ends with its line, and includes blanks and semicolons */
function valueAfter(text: string, at: number, extent: Extent): Value {
  let from = at;
  while (from < text.length && /\s/.test(text[from] ?? '')) from++;
  const block = matchAt(BLOCK, text, from);
  if (block !== '') return { from, to: from + block.length, text: block };
  const here = /^<<[-~]?\s?["']?(\w{1,40})["']?[^\n]{0,80}\n/.exec(text.slice(from, from + 140));
  if (here !== null) {
    const end = text.indexOf(`\n${here[1] ?? ''}`, from + here[0].length - 1);
    const to = end === -1 ? text.length : end;
    return {
      from: from + here[0].length,
      to: Math.max(to, from + here[0].length),
      text: text.slice(from + here[0].length, to),
    };
  }
  const [opening = ''] = /^(?:\\*["'`])/.exec(text.slice(from, from + 16)) ?? [];
  if (opening !== '') {
    from += opening.length;
    let to = closing(text, from, opening);
    // A shell joins adjacent quoted parts: 'a'"b"c.
    for (let more = 0; more < MOST_BETWEEN && opening.length === 1 && /^["'`]["'`\w$]/.test(text.slice(to, to + 2)); more++) {
      const next = text[to + 1] ?? '';
      const tail = /["'`]/.test(next) ? closing(text, to + 2, next) : to + 1 + matchAt(WORD, text, to + 1).length;
      if (tail <= to + 1) break;
      to = tail;
    }
    return { from, to, text: text.slice(from, to) };
  }
  const bracket = text[from];
  if (bracket === '{' || bracket === '[') {
    const to = balanced(text, from);
    return { from, to, text: text.slice(from, to) };
  }
  const word = matchAt(extent, text, from).trimEnd();
  return { from, to: from + word.length, text: word };
}

function matchAt(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? '';
}

/** Position of the same quote with as many backslashes before it; the end of the text if there is none. */
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
