/**
 * The grammar of OVN's match language (ovn-sb(5), "Logical_Flow" TABLE, column `match`), and what a comparison may ask of a field.
 */
import type { NumberConstant } from './number-constant.ts';
import { widthOf } from './number-constant.ts';
import type { MatchField } from './symbols.ts';
import { MATCH_FIELDS } from './symbols.ts';
import type { Token } from './token.ts';
import { tokensOf } from './token.ts';

export interface MatchProblem {
  /** Of the word that is wrong: counted from 1, in UTF-16 units; one behind the last at the end. */
  readonly position: number;
  /** That word; empty at the end. */
  readonly found: string;
  readonly problem: string;
}

/** Why OVN would not take a text as a match; undefined where it would. */
export function matchProblem(text: string): MatchProblem | undefined {
  return problemOf(() => new Parser(tokensOf(text)).whole());
}

/** Why OVN would not take a text as one value of an action, or as several in braces; undefined where it would. */
export function valueProblem(text: string, kind: 'number' | 'string' | 'any'): MatchProblem | undefined {
  return problemOf(() => new Parser(tokensOf(text)).value(kind));
}

function problemOf(parse: () => void): MatchProblem | undefined {
  try {
    parse();
    return undefined;
  } catch (thrown) {
    if (!(thrown instanceof Refusal)) throw thrown;
    const { at, text: found } = thrown.token;
    return { position: at + 1, found, problem: thrown.message };
  }
}

/** Leaves the grammar from any depth; never leaves this module. */
class Refusal extends Error {
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
  /** It, or its bits in brackets. */
  readonly bits: number;
  readonly token: Token;
}

interface Constants {
  readonly kind: 'number' | 'string';
  readonly numbers: readonly NumberConstant[];
  readonly inCurlies: boolean;
  /** Of a set whose members are elsewhere, nothing can be said of them. */
  readonly open: boolean;
  readonly token: Token;
}

class Parser {
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
    if (this.#token.kind !== 'end') throw new Refusal(this.#token, 'nothing may follow here but && or ||');
  }

  /** Sets have no members there. */
  value(kind: 'number' | 'string' | 'any'): void {
    const { kind: found, open, token } = this.#constants();
    if (this.#token.kind !== 'end') throw new Refusal(this.#token, 'nothing may follow here');
    if (open) throw new Refusal(token, 'a set cannot stand here');
    if (kind !== 'any' && found !== kind)
      throw new Refusal(token, kind === 'string' ? 'a text in quotation marks must stand here' : 'a number or an address must stand here');
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
    if (!this.#takesSign(sign)) throw new Refusal(this.#token, `${sign} is missing`);
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
      throw new Refusal(this.#token, '&& and || stand together only with parentheses');
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
    if (!atomic) throw new Refusal(operand, 'after ! a comparison stands in parentheses');
  }

  /** @returns whether `!` may stand before it without parentheses */
  #primary(): boolean {
    if (this.#takesSign('(')) {
      if (this.#depth >= DEEPEST) throw new Refusal(this.#token, `parentheses are nested deeper than ${DEEPEST}`);
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
    if (field.bits === 0) throw new Refusal(this.#token, `${field.name} is a text: compare it, as in ${field.name} == "name"`);
    if (this.#token.kind === 'sign' && this.#token.text === '=') throw new Refusal(this.#token, 'equality is written ==');
    if (field.bits > 1 && !this.#not) throw new Refusal(field.token, `${field.name} has ${field.bits} bits: compare it with a value`);
    this.#level(field, '!=', [{ format: 'hexadecimal', value: 0n, mask: undefined }]);
    return true;
  }

  #function(): boolean {
    const called = this.#take();
    if (called.text !== 'is_chassis_resident') throw new Refusal(called, 'no such function is known');
    this.#force('(');
    if (this.#token.kind !== 'string') throw new Refusal(this.#token, 'it takes the name of a port in quotation marks');
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
      throw new Refusal(middle, 'a range is written 80 <= tcp.dst < 90 or 90 > tcp.dst >= 80');
    this.#compare(field, turned(left), first);
    this.#compare(field, right, second);
    return false;
  }

  #relation(): string {
    if (!this.#isRelation) throw new Refusal(this.#token, 'one of ==, !=, <, <=, > and >= is missing');
    return this.#take().text;
  }

  #field(): Field {
    const token = this.#token;
    const known = token.kind === 'name' ? MATCH_FIELDS.get(token.text) : undefined;
    if (known === undefined) throw new Refusal(token, 'no field of that name is known');
    this.#take();
    const name = token.text;
    const { width, level } = known;
    if (!this.#takesSign('[')) return { ...known, name, bits: width, token };
    if (width === 0) throw new Refusal(token, `${name} is a text and has no bits`);
    const low = this.#bit();
    const high = this.#takesSign('..') ? this.#bit() : low;
    this.#force(']');
    if (low > high) throw new Refusal(token, `bits are written [low..high], not [${low}..${high}]`);
    if (high >= width) throw new Refusal(token, `${name} has ${width} bits, from 0 to ${width - 1}`);
    if (level === 'nominal' && (low !== 0 || high !== width - 1)) throw new Refusal(token, `${name} is compared as a whole only`);
    return { ...known, name, bits: high - low + 1, token };
  }

  #bit(): number {
    const token = this.#take();
    const isBit = token.kind === 'number' && token.constant.format === 'decimal' && token.constant.mask === undefined;
    if (!isBit || token.constant.value > 2_147_483_647n) throw new Refusal(token, 'the number of a bit is missing');
    return Number(token.constant.value);
  }

  #constants(): Constants {
    const token = this.#token;
    const inCurlies = this.#takesSign('{');
    const numbers: NumberConstant[] = [];
    let kind: Constants['kind'] | undefined;
    let open = false;
    do {
      const one = this.#take();
      const its = one.kind === 'number' || one.kind === 'address set' ? 'number' : 'string';
      if (!['number', 'string', 'address set', 'port group'].includes(one.kind))
        throw new Refusal(one, 'a number, an address, a text in quotation marks, $ADDRESS_SET or @PORT_GROUP is missing');
      // A set that is empty for now decides nothing about what may stand beside it.
      if (kind !== undefined && kind !== its && !open) throw new Refusal(one, 'numbers and texts do not stand in one set');
      kind = its;
      open ||= one.kind === 'address set' || one.kind === 'port group';
      if (one.kind === 'number') numbers.push(one.constant);
      if (!inCurlies) break;
      this.#takesSign(',');
    } while (!this.#takesSign('}'));
    return { kind, numbers, inCurlies, open, token };
  }

  #compare(field: Field, relation: string, constants: Constants): void {
    const { name, width } = field;
    const { token, numbers, inCurlies, kind } = constants;
    if (kind !== (width === 0 ? 'string' : 'number'))
      throw new Refusal(
        token,
        width === 0 ? `${name} is compared with a text in quotation marks` : `${name} is compared with a number or an address`,
      );
    const wide = numbers.find((one) => widthOf(one) > width);
    if (width > 0 && wide !== undefined) throw new Refusal(token, `${name} has ${width} bits, this has ${widthOf(wide)}`);
    if (relation !== '==' && relation !== '!=') {
      if (inCurlies) throw new Refusal(token, 'a set is compared with == and != only');
      if (field.level !== 'ordinal') throw new Refusal(field.token, `${name} is compared with == and != only`);
      if (numbers[0]?.mask !== undefined) throw new Refusal(token, 'what has a mask is compared with == and != only');
    }
    this.#level(field, relation, numbers);
  }

  /** What has no mask in a switch can be asked for, but not excluded. */
  #level(field: Field, relation: string, numbers: readonly NumberConstant[]): void {
    const { name, level, predicate, token } = field;
    if (level !== 'nominal') return;
    const negative = (relation === '!=') !== this.#not;
    if (!predicate && negative) throw new Refusal(token, `${name} can be compared for equality only: OVN cannot exclude its values`);
    if (predicate && numbers.some(({ value }) => ((value & 1n) === 1n) === negative))
      throw new Refusal(token, `${name} can be asked for, but not excluded: OVN has no !${name}`);
  }
}

function turned(relation: string): string {
  return { '<': '>', '<=': '>=', '>': '<', '>=': '<=' }[relation] ?? relation;
}
