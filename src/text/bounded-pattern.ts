/**
 * Regular expressions that take time in proportion to the text, whatever the expression: a user writes them, other programs write what they
 * are matched with, and no pair of both may stop the process. JavaScript's own may take years. The syntax is RE2's: no look-around and no
 * back references. A match may begin anywhere unless `^` says otherwise. Pure.
 */
import { RE2JS } from 're2js';

/** Characters of a pattern. */
const LONGEST_PATTERN = 200;
/** Characters of a text that are looked at; longer ones do not match. */
export const LONGEST_TEXT = 1_024;

export type ParsedPattern = { readonly ok: true; readonly pattern: BoundedPattern } | { readonly ok: false; readonly problem: string };

export class BoundedPattern {
  readonly source: string;
  readonly #compiled: RE2JS;

  private constructor(source: string) {
    this.source = source;
    this.#compiled = RE2JS.compile(source);
  }

  /** @returns the pattern, or a problem that reads after it: `"x(" <problem>` */
  static parse(source: string): ParsedPattern {
    if (source === '') return { ok: false, problem: 'is empty, and would match everything' };
    if (source.length > LONGEST_PATTERN) return { ok: false, problem: `is longer than ${LONGEST_PATTERN} characters` };
    try {
      return { ok: true, pattern: new BoundedPattern(source) };
    } catch (error) {
      const why = error instanceof Error ? error.message.replace('error parsing regexp: ', '') : String(error);
      return { ok: false, problem: `is no regular expression of RE2: ${why}` };
    }
  }

  matches(text: string): boolean {
    return text.length <= LONGEST_TEXT && this.#compiled.matcher(text).find();
  }
}
