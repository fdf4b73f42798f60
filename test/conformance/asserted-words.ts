/**
 * The words of a test file that it asserts: they stand in an argument of `assert…(…)`, or of a call that waits (`eventually`, `until`), or
 * are compared with `===`. A word in a comment, a title, or an object that a test puts in is a mere mention.
 */

const ASSERTING = /(?:^|\.)(?:assert(?:\.\w+)?|eventually|until)$/;
/** A regular expression may begin after one of these, and a division may not. */
const BEFORE_REGEX = /(?:[(,=:[!&|?{};>]|\breturn)\s*$/;

/** Each once. Cost: one pass. */
export function assertedWords(source: string): ReadonlySet<string> {
  const found = new Set<string>();
  /** One entry for each open bracket: whether an asserting call is around it. */
  const open: boolean[] = [false];
  const asserting = (): boolean => open.at(-1) === true;
  for (let at = 0; at < source.length;) {
    const char = source[at] as string;
    const rest = source.slice(at, at + 2);
    if (rest === '//') at = endOf(source, '\n', at);
    else if (rest === '/*') at = endOf(source, '*/', at);
    else if (char === "'" || char === '"' || char === '`' || (char === '/' && BEFORE_REGEX.test(source.slice(Math.max(0, at - 20), at)))) {
      const end = endOfText(source, at);
      const compared = /===\s*$/.test(source.slice(Math.max(0, at - 8), at));
      if (asserting() || compared) for (const [word] of source.slice(at, end).matchAll(/[A-Z]\w+/g)) found.add(word);
      at = end;
    } else {
      if (char === '(') open.push(asserting() || ASSERTING.test(calleeBefore(source, at)));
      else if (char === '[' || char === '{') open.push(asserting());
      else if (')]}'.includes(char)) open.pop();
      at++;
    }
  }
  return found;
}

function endOf(source: string, mark: string, from: number): number {
  const at = source.indexOf(mark, from + 2);
  return at === -1 ? source.length : at + mark.length;
}

/** Behind the closing mark of a text, a template or a regular expression. */
function endOfText(source: string, from: number): number {
  const mark = source[from];
  let inClass = false;
  for (let at = from + 1; at < source.length; at++) {
    const char = source[at];
    if (char === '\\') at++;
    else if (mark === '/' && char === '[') inClass = true;
    else if (mark === '/' && char === ']') inClass = false;
    else if (char === mark && !inClass) return at + 1;
  }
  return source.length;
}

function calleeBefore(source: string, at: number): string {
  // Type arguments may stand between: `eventually<Row>(`.
  return /([\w.]+)(?:<[^()]*>)?$/.exec(source.slice(Math.max(0, at - 80), at))?.[1] ?? '';
}
