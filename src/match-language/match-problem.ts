/** The grammar of OVN's match language (ovn-sb(5), "Logical_Flow" TABLE, column `match`), and the permitted comparisons of a field. */
import type { NumberConstant } from './number-constant.ts';
import { widthOf } from './number-constant.ts';
import type { MatchField } from './symbols.ts';
import { MATCH_FIELDS } from './symbols.ts';
import type { Token } from './token.ts';
import { tokensOf } from './token.ts';

export interface MatchProblem {
  /** Position of the wrong token, from 1, in UTF-16 units; at the end of the text, one behind the last. */
  readonly position: number;
  /** The wrong token; empty at the end of the text. */
  readonly found: string;
  readonly problem: string;
}

/** Why a text is no valid match; undefined for a valid one. */
export function matchProblem(text: string): MatchProblem | undefined {
  return problemOf(() => new Parser(tokensOf(text)).whole());
}

/** A comparison of a field with an address set. */
export interface SetComparison {
  /** Name of the set, without `$`. */
  readonly set: string;
  readonly field: string;
  /** Width of the field: OVN ignores the whole match while the set has a wider address. */
  readonly bits: number;
}

/** Each comparison of a valid match with an address set, in the order of the text; none of an invalid match. */
export function setComparisons(text: string): readonly SetComparison[] {
  const parser = new Parser(tokensOf(text));
  return problemOf(() => parser.whole()) === undefined ? parser.comparisons : [];
}

/** Why a text is no value of an action, nor several values in braces; undefined for a valid one. */
export function valueProblem(text: string, kind: 'number' | 'string' | 'any'): MatchProblem | undefined {
  return problemOf(() => new Parser(tokensOf(text)).value(kind));
}

function problemOf(parse: () => void): MatchProblem | undefined {
  try {
    parse();
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof SyntaxProblem)) throw thrown;
    const { at, text: found } = thrown.token;
    return { position: at + 1, found, problem: thrown.message };
  }
}

/** Ends the parsing from any depth; `problemOf` catches it. */
class SyntaxProblem extends Error {
  readonly token: Token;

  constructor(token: Token, problem: string) {
    super(token.kind === 'error' ? token.problem : problem);
    this.token = token;
  }
}

const DEEPEST = 100;
const RELATIONS: ReadonlySet<string> = new Set(['==', '!=', '<', '<=', '>', '>=']);
const RANGES: readonly (readonly string[])[] = [
  ['<', '<='],
  ['>', '>='],
];

interface Field extends MatchField {
  readonly name: string;
  /** Width of the field, or of the bits in brackets. */
  readonly bits: number;
  readonly token: Token;
}

interface Constants {
  readonly kind: 'number' | 'string';
  readonly numbers: readonly NumberConstant[];
  readonly inCurlies: boolean;
  /** It has an address set or a port group: their members are unknown here. */
  readonly open: boolean;
  /** The names of the address sets. */
  readonly sets: readonly string[];
  readonly token: Token;
}

class Parser {
  readonly comparisons: SetComparison[] = [];
  readonly #tokens: readonly Token[];
  #next = 0;
  #depth = 0;
  /** Inside an odd number of `!`. */
  #not = false;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): void {
    this.#expression();
    if (this.#token.kind !== 'end') throw new SyntaxProblem(this.#token, 'expected && or || or the end of the match');
  }

  /** An address set or a port group is no value. */
  value(kind: 'number' | 'string' | 'any'): void {
    const { kind: found, open, token } = this.#constants();
    if (this.#token.kind !== 'end') throw new SyntaxProblem(this.#token, 'expected the end of the value');
    if (open) throw new SyntaxProblem(token, 'an address set or a port group is not permitted here');
    if (kind !== 'any' && found !== kind)
      throw new SyntaxProblem(token, kind === 'string' ? 'expected a quoted string' : 'expected a number or an address');
  }

  get #token(): Token {
    return this.#tokens[this.#next] as Token;
  }

  #take(): Token {
    const token = this.#token;
    if (token.kind !== 'end' && token.kind !== 'error') this.#next++;
    return token;
  }

  #takesSign(sign: string): boolean {
    if (this.#token.kind !== 'sign' || this.#token.text !== sign) return false;
    this.#next++;
    return true;
  }

  #force(sign: string): void {
    if (!this.#takesSign(sign)) throw new SyntaxProblem(this.#token, `expected ${sign}`);
  }

  get #isRelation(): boolean {
    return this.#token.kind === 'sign' && RELATIONS.has(this.#token.text);
  }

  #expression(): void {
    this.#operand();
    const sign = this.#token.text;
    if (this.#token.kind !== 'sign' || (sign !== '&&' && sign !== '||')) return;
    while (this.#takesSign(sign)) this.#operand();
    if (this.#token.kind === 'sign' && (this.#token.text === '&&' || this.#token.text === '||'))
      throw new SyntaxProblem(this.#token, '&& and || need parentheses where they are combined');
  }

  #operand(): void {
    if (!this.#takesSign('!')) {
      this.#primary();
      return;
    }
    const operand = this.#token;
    this.#not = !this.#not;
    const atomic = this.#primary();
    this.#not = !this.#not;
    if (!atomic) throw new SyntaxProblem(operand, 'a comparison after ! needs parentheses');
  }

  /** @returns whether `!` may precede it without parentheses */
  #primary(): boolean {
    if (this.#takesSign('(')) {
      if (this.#depth >= DEEPEST) throw new SyntaxProblem(this.#token, `parentheses are nested deeper than ${DEEPEST}`);
      this.#depth++;
      this.#expression();
      this.#depth--;
      this.#force(')');
      return true;
    }
    return this.#token.kind === 'name' ? this.#fieldFirst() : this.#constantFirst();
  }

  #fieldFirst(): boolean {
    const following = this.#tokens[this.#next + 1];
    if (following?.kind === 'sign' && following.text === '(') return this.#function();
    const field = this.#field();
    if (this.#isRelation) {
      const relation = this.#take().text;
      this.#compare(field, relation, this.#constants());
      return false;
    }
    if (field.bits === 0) throw new SyntaxProblem(this.#token, `${field.name} is a string: compare it, as in ${field.name} == "name"`);
    if (this.#token.kind === 'sign' && this.#token.text === '=') throw new SyntaxProblem(this.#token, 'equality is written ==');
    if (field.bits > 1 && !this.#not) throw new SyntaxProblem(field.token, `${field.name} has ${field.bits} bits: compare it with a value`);
    this.#level(field, '!=', [{ format: 'hexadecimal', value: 0n, mask: undefined }]);
    return true;
  }

  #function(): boolean {
    const called = this.#take();
    if (called.text !== 'is_chassis_resident') throw new SyntaxProblem(called, 'unknown function: the only one is is_chassis_resident');
    this.#force('(');
    if (this.#token.kind !== 'string') throw new SyntaxProblem(this.#token, 'expected the name of a port as a quoted string');
    this.#take();
    this.#force(')');
    return true;
  }

  #constantFirst(): boolean {
    const first = this.#constants();
    const [only] = first.numbers;
    const plain = !first.open && !first.inCurlies && first.numbers.length === 1 && only?.format === 'decimal' && only.mask === undefined;
    if (plain && !this.#isRelation && only.value <= 1n) return true;
    const left = this.#relation();
    const field = this.#field();
    if (!this.#isRelation) {
      this.#compare(field, turned(left), first);
      return false;
    }
    const middle = this.#token;
    const right = this.#relation();
    const second = this.#constants();
    if (!RANGES.some((range) => range.includes(left) && range.includes(right)))
      throw new SyntaxProblem(middle, 'a range is written 80 <= tcp.dst < 90 or 90 > tcp.dst >= 80');
    this.#compare(field, turned(left), first);
    this.#compare(field, right, second);
    return false;
  }

  #relation(): string {
    if (!this.#isRelation) throw new SyntaxProblem(this.#token, 'expected ==, !=, <, <=, > or >=');
    return this.#take().text;
  }

  #field(): Field {
    const token = this.#token;
    const known = token.kind === 'name' ? MATCH_FIELDS.get(token.text) : undefined;
    if (known === undefined) throw new SyntaxProblem(token, 'unknown field');
    this.#take();
    const name = token.text;
    const { width, level } = known;
    if (!this.#takesSign('[')) return { ...known, name, bits: width, token };
    if (width === 0) throw new SyntaxProblem(token, `${name} is a string and has no bits`);
    const low = this.#bit();
    const high = this.#takesSign('..') ? this.#bit() : low;
    this.#force(']');
    if (low > high) throw new SyntaxProblem(token, `bits are written [low..high], not [${low}..${high}]`);
    if (high >= width) throw new SyntaxProblem(token, `${name} has ${width} bits, from 0 to ${width - 1}`);
    if (level === 'nominal' && (low !== 0 || high !== width - 1)) throw new SyntaxProblem(token, `${name} can only be compared as a whole`);
    return { ...known, name, bits: high - low + 1, token };
  }

  #bit(): number {
    const token = this.#take();
    const isBit = token.kind === 'number' && token.constant.format === 'decimal' && token.constant.mask === undefined;
    if (!isBit || token.constant.value > 2_147_483_647n) throw new SyntaxProblem(token, 'expected the number of a bit');
    return Number(token.constant.value);
  }

  #constants(): Constants {
    const token = this.#token;
    const inCurlies = this.#takesSign('{');
    const numbers: NumberConstant[] = [];
    const sets: string[] = [];
    let kind: Constants['kind'] | undefined;
    let open = false;
    do {
      const one = this.#take();
      const its = one.kind === 'number' || one.kind === 'address set' ? 'number' : 'string';
      if (!['number', 'string', 'address set', 'port group'].includes(one.kind))
        throw new SyntaxProblem(one, 'expected a number, an address, a quoted string, $ADDRESS_SET or @PORT_GROUP');
      // An address set or a port group may be empty: then its kind does not count.
      if (kind !== undefined && kind !== its && !open) throw new SyntaxProblem(one, 'numbers and strings cannot be mixed in one set');
      kind = its;
      open ||= one.kind === 'address set' || one.kind === 'port group';
      if (one.kind === 'number') numbers.push(one.constant);
      if (one.kind === 'address set') sets.push(one.text.slice(1));
      if (!inCurlies) break;
      this.#takesSign(',');
    } while (!this.#takesSign('}'));
    return { kind, numbers, inCurlies, open, sets, token };
  }

  #compare(field: Field, relation: string, constants: Constants): void {
    const { name, width } = field;
    const { token, numbers, inCurlies, kind } = constants;
    if (kind !== (width === 0 ? 'string' : 'number'))
      throw new SyntaxProblem(
        token,
        width === 0 ? `${name} must be compared with a quoted string` : `${name} must be compared with a number or an address`,
      );
    const wide = numbers.find((one) => widthOf(one) > width);
    if (width > 0 && wide !== undefined) throw new SyntaxProblem(token, `${name} has ${width} bits, but the value has ${widthOf(wide)}`);
    if (relation !== '==' && relation !== '!=') {
      if (inCurlies) throw new SyntaxProblem(token, 'a set can only be compared with == and !=');
      if (field.level !== 'ordinal') throw new SyntaxProblem(field.token, `${name} can only be compared with == and !=`);
      if (numbers[0]?.mask !== undefined) throw new SyntaxProblem(token, 'a value with a mask can only be compared with == and !=');
    }
    this.#level(field, relation, numbers);
    for (const set of constants.sets) this.comparisons.push({ set, field: name, bits: width });
  }

  /** A nominal field has no mask in the switch: a match can require its value, but not exclude it. */
  #level(field: Field, relation: string, numbers: readonly NumberConstant[]): void {
    const { name, level, predicate, token } = field;
    if (level !== 'nominal') return;
    const negative = (relation === '!=') !== this.#not;
    if (!predicate && negative) throw new SyntaxProblem(token, `${name} can only be compared with ==: OVN cannot exclude its values`);
    if (predicate && numbers.some(({ value }) => ((value & 1n) === 1n) === negative))
      throw new SyntaxProblem(token, `${name} cannot be negated: OVN has no !${name}`);
  }
}

function turned(relation: string): string {
  return { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }[relation] ?? relation;
}
