/** Tokens of OVN's match language. */
import type { NumberConstant } from './number-constant.ts';
import { endOfNumber, readConstant } from './number-constant.ts';

export type Token =
  | { readonly kind: 'name' | 'string' | 'address set' | 'port group'; readonly text: string; readonly at: number }
  | { readonly kind: 'number'; readonly constant: NumberConstant; readonly text: string; readonly at: number }
  | { readonly kind: 'sign'; readonly text: string; readonly at: number }
  /** No token; `problem` is the reason. */
  | { readonly kind: 'error'; readonly text: string; readonly at: number; readonly problem: string }
  | { readonly kind: 'end'; readonly text: ''; readonly at: number };

/** Longest first. Signs that no match uses are tokens as well. */
const SIGNS = ['<->', '==', '!=', '<=', '>=', '&&', '||', '..', '--', ...Array.from('(){}[]=!<>,;-:')];
const SPACE = /[ \t\n\r\v\f]/;
const NAME = /[a-z_.][a-z0-9_.]*/iy;

/** All tokens of a text, up to the first error; the last one is `end` or `error`. */
export function tokensOf(text: string): readonly Token[] {
  const tokens: Token[] = [];
  let at = 0;
  for (;;) {
    const token = tokenAt(text, at);
    tokens.push(token);
    if (token.kind === 'end' || token.kind === 'error') return tokens;
    at = token.at + token.text.length;
  }
}

function tokenAt(text: string, from: number): Token {
  const { at, problem } = skipBlank(text, from);
  if (problem !== undefined) return { kind: 'error', text: '/', at, problem };
  if (at >= text.length) return { kind: 'end', text: '', at };
  const char = text[at] as string;
  if (char === '"') return quoted(text, at);
  if (char === '$' || char === '@') return named(text, at, char);
  if (/\d/.test(char) || text.startsWith('::', at) || hexDigitsAndColon(text, at)) return number(text, at);
  if (/[a-z_]/i.test(char)) return name(text, at);
  const sign = SIGNS.find((one) => text.startsWith(one, at));
  if (sign !== undefined) return { kind: 'sign', text: sign, at };
  const problemOf: Readonly<Record<string, string>> = { '&': 'expected &&', '|': 'expected ||' };
  return { kind: 'error', text: String.fromCodePoint(text.codePointAt(at) ?? 0), at, problem: problemOf[char] ?? 'unknown character' };
}

/** Blanks and comments. */
function skipBlank(text: string, from: number): { readonly at: number; readonly problem?: string } {
  let at = from;
  for (;;) {
    if (at < text.length && SPACE.test(text[at] as string)) at++;
    else if (text.startsWith('//', at)) {
      const line = text.indexOf('\n', at);
      at = line === -1 ? text.length : line;
    } else if (text.startsWith('/*', at)) {
      const end = text.indexOf('*/', at + 2);
      if (end === -1 || text.slice(at, end).includes('\n'))
        return { at, problem: 'a comment that begins with /* must end with */ on the same line' };
      at = end + 2;
    } else if (text[at] === '/') return { at, problem: 'a slash is only valid between a value and its prefix or mask, without spaces' };
    else return { at };
  }
}

function name(text: string, at: number): Token {
  NAME.lastIndex = at;
  const [found = ''] = NAME.exec(text) ?? [];
  return { kind: 'name', text: found, at };
}

function named(text: string, at: number, mark: '$' | '@'): Token {
  const kind = mark === '$' ? 'address set' : 'port group';
  NAME.lastIndex = at + 1;
  const [found] = NAME.exec(text) ?? [];
  if (found === undefined) {
    const what = mark === '$' ? 'an address set' : 'a port group';
    return { kind: 'error', text: mark, at, problem: `expected the name of ${what} after ${mark}; it begins with a letter, _ or .` };
  }
  return { kind, text: mark + found, at };
}

/** An address that begins like a name: `fe80::1`, `be:ef:…`. */
function hexDigitsAndColon(text: string, at: number): boolean {
  let end = at;
  while (end < text.length && /[0-9a-f]/i.test(text[end] as string)) end++;
  return end > at && text[end] === ':';
}

function number(text: string, at: number): Token {
  const end = endOfNumber(text, at);
  const last = text[end] === '/' ? endOfNumber(text, end + 1) : end;
  const word = text.slice(at, last);
  const read = readConstant(text.slice(at, end), last === end ? undefined : text.slice(end + 1, last));
  if (!read.ok) return { kind: 'error', text: word, at, problem: read.problem };
  return { kind: 'number', constant: read.constant, text: word, at };
}

/** With the escapes of JSON. */
function quoted(text: string, at: number): Token {
  let end = at + 1;
  while (end < text.length && text[end] !== '"') end += text[end] === '\\' ? 2 : 1;
  const word = text.slice(at, end + 1);
  if (end >= text.length) return { kind: 'error', text: word, at, problem: 'the closing quotation mark is missing' };
  const problem = escapeProblem(word.slice(1, -1));
  return problem === undefined ? { kind: 'string', text: word, at } : { kind: 'error', text: word, at, problem };
}

function escapeProblem(text: string): string | undefined {
  for (const [escape] of text.matchAll(/\\(?:u[0-9a-f]{4}|[\s\S])/gi)) {
    if (escape.length === 6 ? escape.toLowerCase() === '\\u0000' : !/\\["\\/bfnrt]/.test(escape)) return `invalid escape ${escape}`;
  }
  return undefined;
}
