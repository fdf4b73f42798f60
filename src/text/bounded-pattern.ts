/**
 * Regular expressions that take time in proportion to the text, whatever the expression: a user writes them, other programs write what they
 * are matched with, and no pair of both may stop the process. JavaScript's own may take years. It is the common part of the syntax:
 * literals, `.`, classes, `\d \w \s`, groups, `|`, `* + ? {n,m}`, `^` and `$`; no look-around and no back references. As in JavaScript, a
 * match may begin anywhere unless `^` says otherwise. Pure.
 */

/** Characters of a pattern. */
const LONGEST_PATTERN = 200;
/** States of an automaton: repetitions are written out. */
const MOST_STATES = 2_000;
/** Characters of a text that are looked at; longer ones do not match. */
export const LONGEST_TEXT = 1_024;

export type ParsedPattern = { readonly ok: true; readonly pattern: BoundedPattern } | { readonly ok: false; readonly problem: string };

type Accepts = (code: number) => boolean;

type Node =
  | { readonly kind: 'character'; readonly accepts: Accepts }
  | { readonly kind: 'begin' | 'end' | 'empty' }
  | { readonly kind: 'sequence' | 'choice'; readonly parts: readonly Node[] }
  | { readonly kind: 'repeat'; readonly part: Node; readonly least: number; readonly most: number };

/** A step of the automaton: a character, a condition, or one or two states that are reached without a character. */
interface State {
  readonly accepts: Accepts | undefined;
  readonly only: 'begin' | 'end' | undefined;
  readonly next: number[];
}

const TOO_MUCH = 'repeats too much: write smaller numbers in {n,m}';

class PatternProblem extends Error {}

export class BoundedPattern {
  readonly source: string;
  readonly #states: readonly State[];
  readonly #final: number;

  private constructor(source: string, states: readonly State[], final: number) {
    this.source = source;
    this.#states = states;
    this.#final = final;
  }

  /** @returns the pattern, or a problem that reads after it: `"x(" <problem>` */
  static parse(source: string): ParsedPattern {
    try {
      if (source === '') throw new PatternProblem('is empty, and would match everything');
      if (source.length > LONGEST_PATTERN) throw new PatternProblem(`is longer than ${LONGEST_PATTERN} characters`);
      const tree = new Parser(source).parse();
      const builder = new Builder();
      const final = builder.state();
      const first = builder.build(tree, final);
      const states = [...builder.states, { accepts: undefined, only: undefined, next: [first] }];
      return { ok: true, pattern: new BoundedPattern(source, states, final) };
    } catch (error) {
      if (error instanceof PatternProblem) return { ok: false, problem: error.message };
      throw error;
    }
  }

  /** Whether a part of the text matches. Time: the text's length times the number of states. */
  matches(text: string): boolean {
    if (text.length > LONGEST_TEXT) return false;
    const start = this.#states.length - 1;
    let current = new Set<number>();
    for (let at = 0; ; at++) {
      this.#reach(start, at === 0, at === text.length, current);
      if (current.has(this.#final)) return true;
      if (at === text.length) return false;
      const code = text.charCodeAt(at);
      const following = new Set<number>();
      for (const state of current) {
        const { accepts, next } = this.#states[state] as State;
        if (accepts?.(code) === true) for (const one of next) this.#reach(one, false, at + 1 === text.length, following);
      }
      current = following;
    }
  }

  #reach(first: number, isBegin: boolean, isEnd: boolean, into: Set<number>): void {
    const open = [first];
    for (let state = open.pop(); state !== undefined; state = open.pop()) {
      if (into.has(state)) continue;
      const { accepts, only, next } = this.#states[state] as State;
      if ((only === 'begin' && !isBegin) || (only === 'end' && !isEnd)) continue;
      into.add(state);
      if (accepts === undefined) open.push(...next);
    }
  }
}

class Builder {
  readonly states: State[] = [];
  /** An empty group that is repeated takes time and no states. */
  #built = 0;

  state(accepts?: Accepts, only?: State['only']): number {
    if (this.states.length >= MOST_STATES) throw new PatternProblem(TOO_MUCH);
    this.states.push({ accepts, only, next: [] });
    return this.states.length - 1;
  }

  /** @returns the first state of the part that goes on to `to` */
  build(node: Node, to: number): number {
    if (++this.#built > 10 * MOST_STATES) throw new PatternProblem(TOO_MUCH);
    switch (node.kind) {
      case 'character':
        return this.#linked(this.state(node.accepts), to);
      case 'empty':
        return to;
      case 'begin':
      case 'end':
        return this.#linked(this.state(undefined, node.kind), to);
      case 'sequence':
        return node.parts.reduceRight((after, part) => this.build(part, after), to);
      case 'choice': {
        const fork = this.state();
        for (const part of node.parts) this.#linked(fork, this.build(part, to));
        return fork;
      }
      case 'repeat':
        return this.#repeated(node, to);
    }
  }

  #repeated({ part, least, most }: Extract<Node, { kind: 'repeat' }>, to: number): number {
    let first = to;
    if (most === Number.POSITIVE_INFINITY) {
      const fork = this.state();
      this.#linked(fork, this.build(part, fork));
      first = this.#linked(fork, to);
    } else
      for (let left = most - least; left > 0; left--) {
        const fork = this.state();
        this.#linked(fork, this.build(part, first));
        first = this.#linked(fork, to);
      }
    for (let left = least; left > 0; left--) first = this.build(part, first);
    return first;
  }

  #linked(state: number, to: number): number {
    this.states[state]?.next.push(to);
    return state;
  }
}

const MOST_REPEATED = 256;
const DEEPEST = 20;
const DIGIT: Accepts = (code) => code >= 48 && code <= 57;
const WORD: Accepts = (code) => DIGIT(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122) || code === 95;
const SPACE: Accepts = (code) => code === 32 || (code >= 9 && code <= 13);
const CLASSES: Readonly<Record<string, Accepts>> = {
  ...{ d: DIGIT, w: WORD, s: SPACE },
  ...{ D: (code) => !DIGIT(code), W: (code) => !WORD(code), S: (code) => !SPACE(code) },
};

class Parser {
  readonly #source: string;
  #at = 0;
  #depth = 0;

  constructor(source: string) {
    this.#source = source;
  }

  parse(): Node {
    const tree = this.#choice();
    if (this.#at < this.#source.length) throw new PatternProblem('has a ")" without "("');
    return tree;
  }

  #choice(): Node {
    const parts = [this.#sequence()];
    while (this.#take('|')) parts.push(this.#sequence());
    return parts.length === 1 ? (parts[0] as Node) : { kind: 'choice', parts };
  }

  #sequence(): Node {
    const parts: Node[] = [];
    while (this.#at < this.#source.length && !this.#sees('|') && !this.#sees(')')) parts.push(this.#repetition());
    return parts.length === 0 ? { kind: 'empty' } : { kind: 'sequence', parts };
  }

  #repetition(): Node {
    const part = this.#atom();
    const [least, most] = this.#quantity() ?? [1, 1];
    if (least === 1 && most === 1) return part;
    // A question mark after it asks for the shortest match, which makes no difference to whether there is one.
    this.#take('?');
    if (this.#quantity() !== undefined) throw new PatternProblem('has two quantifiers after each other');
    return { kind: 'repeat', part, least, most };
  }

  #quantity(): readonly [number, number] | undefined {
    if (this.#take('*')) return [0, Number.POSITIVE_INFINITY];
    if (this.#take('+')) return [1, Number.POSITIVE_INFINITY];
    if (this.#take('?')) return [0, 1];
    const found = /^\{(\d{1,4})(,(\d{0,4}))?\}/.exec(this.#source.slice(this.#at));
    if (found === null) return undefined;
    this.#at += found[0].length;
    const least = Number(found[1]);
    const most = found[2] === undefined ? least : found[3] === '' ? Number.POSITIVE_INFINITY : Number(found[3]);
    if (least > MOST_REPEATED || (most > MOST_REPEATED && most !== Number.POSITIVE_INFINITY) || least > most)
      throw new PatternProblem(`repeats ${found[0]}; the numbers are at most ${MOST_REPEATED}, the lesser one first`);
    return [least, most];
  }

  #atom(): Node {
    const character = this.#next();
    switch (character) {
      case '(':
        return this.#group();
      case '[':
        return { kind: 'character', accepts: this.#class() };
      case '.':
        return { kind: 'character', accepts: (code) => code !== 10 && code !== 13 };
      case '^':
        return { kind: 'begin' };
      case '$':
        return { kind: 'end' };
      case '\\':
        return { kind: 'character', accepts: this.#escaped() };
      case '*':
      case '+':
      case '?':
        throw new PatternProblem(`has "${character}" with nothing before it`);
      default:
        return { kind: 'character', accepts: one(character) };
    }
  }

  #group(): Node {
    if (this.#sees('?') && !this.#source.startsWith('?:', this.#at)) throw new PatternProblem('has look-around or a name in a group');
    if (this.#take('?')) this.#take(':');
    if (++this.#depth > DEEPEST) throw new PatternProblem(`has more than ${DEEPEST} groups inside each other`);
    const inner = this.#choice();
    this.#depth--;
    if (!this.#take(')')) throw new PatternProblem('has a "(" without ")"');
    return inner;
  }

  #escaped(): Accepts {
    const character = this.#next();
    if (character === '') throw new PatternProblem('ends with a backslash');
    const named = Object.hasOwn(CLASSES, character) ? CLASSES[character] : undefined;
    if (named !== undefined) return named;
    if (/[A-Za-z0-9]/.test(character)) throw new PatternProblem(`has \\${character}, which means nothing here`);
    return one(character);
  }

  #class(): Accepts {
    const isNegated = this.#take('^');
    const accepted: Accepts[] = [];
    while (!this.#take(']')) {
      const character = this.#next();
      if (character === '') throw new PatternProblem('has a "[" without "]"');
      if (character === '\\') {
        accepted.push(this.#escaped());
        continue;
      }
      if (this.#sees('-') && this.#source[this.#at + 1] !== ']' && this.#at + 1 < this.#source.length) {
        this.#take('-');
        const [from, to] = [character.charCodeAt(0), this.#next().charCodeAt(0)];
        if (from > to) throw new PatternProblem('has a range in a class that ends before it begins');
        accepted.push((code) => code >= from && code <= to);
      } else accepted.push(one(character));
    }
    return (code) => accepted.some((accepts) => accepts(code)) !== isNegated;
  }

  #sees(character: string): boolean {
    return this.#source[this.#at] === character;
  }

  #take(character: string): boolean {
    if (!this.#sees(character)) return false;
    this.#at++;
    return true;
  }

  /** Empty at the end. */
  #next(): string {
    return this.#source[this.#at++] ?? '';
  }
}

function one(character: string): Accepts {
  const wanted = character.charCodeAt(0);
  return (code) => code === wanted;
}
