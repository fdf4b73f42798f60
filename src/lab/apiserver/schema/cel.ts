/**
 * The part of CEL that CustomResourceDefinitions use in `x-kubernetes-validations`: `self`, `oldSelf`, `has`, `size`, `type`,
 * comparisons, logic, arithmetic, `in`, `?:`, and the usual methods of strings and lists.
 */
import type { Json } from '../json.ts';
import { equal, isObject, isRawJson } from '../json.ts';

/** A compiled rule. @throws Error when it meets a value it cannot work with, as CEL does. */
export type Rule = (self: Json, oldSelf: Json | undefined) => boolean;

type Scope = ReadonlyMap<string, Json>;
type Expression = (scope: Scope) => Json;

const TOKEN = /\s*(?:(\d+\.\d+|\d+)|("(?:\\.|[^"\\])*"|'(?:\\.|[^'\\])*')|([A-Za-z_]\w*)|(&&|\|\||==|!=|<=|>=|[-+*/%!<>?:().,[\]]))/y;

interface Token {
  readonly kind: 'number' | 'string' | 'name' | 'operator';
  readonly text: string;
}

/** @throws SyntaxError for an expression that is outside this part of CEL. */
export function compileRule(source: string): Rule {
  const parser = new Parser(tokens(source), source);
  const expression = parser.whole();
  return (self, oldSelf) => {
    const scope = new Map<string, Json>([['self', self]]);
    if (oldSelf !== undefined) scope.set('oldSelf', oldSelf);
    return expression(scope) === true;
  };
}

/** A rule that compares with the old value is only asked where there is one. */
export function needsOldValue(source: string): boolean {
  return /\boldSelf\b/.test(source);
}

function tokens(source: string): Token[] {
  const found: Token[] = [];
  const end = source.trimEnd().length;
  TOKEN.lastIndex = 0;
  for (let at = 0; at < end; at = TOKEN.lastIndex) {
    TOKEN.lastIndex = at;
    const match = TOKEN.exec(source);
    if (match === null) throw new SyntaxError(`the rule ${JSON.stringify(source)} is not understood at ${at}`);
    if (match[1] !== undefined) found.push({ kind: 'number', text: match[1] });
    else if (match[2] !== undefined) found.push({ kind: 'string', text: match[2].slice(1, -1).replace(/\\(.)/g, '$1') });
    else if (match[3] !== undefined) found.push({ kind: 'name', text: match[3] });
    else found.push({ kind: 'operator', text: match[4] ?? '' });
  }
  return found;
}

const LEVELS: readonly (readonly string[])[] = [['||'], ['&&'], ['==', '!=', '<', '<=', '>', '>=', 'in'], ['+', '-'], ['*', '/', '%']];

class Parser {
  readonly #tokens: readonly Token[];
  readonly #source: string;
  #at = 0;

  constructor(list: readonly Token[], source: string) {
    this.#tokens = list;
    this.#source = source;
  }

  whole(): Expression {
    const expression = this.#conditional();
    if (this.#at < this.#tokens.length) throw this.#unexpected();
    return expression;
  }

  #unexpected(): SyntaxError {
    return new SyntaxError(
      `the rule ${JSON.stringify(this.#source)} is not understood at ${JSON.stringify(this.#tokens[this.#at]?.text ?? 'its end')}`,
    );
  }

  #next(...texts: readonly string[]): string | undefined {
    const token = this.#tokens[this.#at];
    if (token === undefined || token.kind === 'string' || !texts.includes(token.text)) return undefined;
    this.#at++;
    return token.text;
  }

  #expect(text: string): void {
    if (this.#next(text) === undefined) throw this.#unexpected();
  }

  #conditional(): Expression {
    const condition = this.#binary(0);
    if (this.#next('?') === undefined) return condition;
    const yes = this.#conditional();
    this.#expect(':');
    const no = this.#conditional();
    return (scope) => (condition(scope) === true ? yes(scope) : no(scope));
  }

  #binary(level: number): Expression {
    const operators = LEVELS[level];
    if (operators === undefined) return this.#unary();
    let left = this.#binary(level + 1);
    for (let operator = this.#next(...operators); operator !== undefined; operator = this.#next(...operators)) {
      left = combine(operator, left, this.#binary(level + 1));
    }
    return left;
  }

  #unary(): Expression {
    if (this.#next('!') !== undefined) {
      const operand = this.#unary();
      return (scope) => operand(scope) !== true;
    }
    if (this.#next('-') !== undefined) {
      const operand = this.#unary();
      return (scope) => -number(operand(scope));
    }
    return this.#postfix(this.#primary());
  }

  #primary(): Expression {
    const token = this.#tokens[this.#at];
    if (token === undefined) throw this.#unexpected();
    if (this.#next('(') !== undefined) {
      const inner = this.#conditional();
      this.#expect(')');
      return inner;
    }
    if (this.#next('[') !== undefined) {
      const items = this.#arguments(']');
      return (scope) => items.map((item) => item(scope));
    }
    this.#at++;
    if (token.kind === 'number') return () => Number(token.text);
    if (token.kind === 'string') return () => token.text;
    if (token.kind !== 'name') throw this.#unexpected();
    if (token.text === 'true' || token.text === 'false') return () => token.text === 'true';
    if (token.text === 'null') return () => null;
    if (this.#next('(') !== undefined) return this.#function(token.text);
    if (['int', 'string', 'double', 'bool', 'list', 'map'].includes(token.text)) return () => `type:${token.text}`;
    return (scope) => {
      const value = scope.get(token.text);
      if (value === undefined) throw new Error(`undeclared reference to '${token.text}'`);
      return value;
    };
  }

  #arguments(close: string): Expression[] {
    const items: Expression[] = [];
    if (this.#next(close) !== undefined) return items;
    do items.push(this.#conditional());
    while (this.#next(',') !== undefined);
    this.#expect(close);
    return items;
  }

  #function(name: string): Expression {
    if (name === 'has') {
      const read = this.#conditional();
      this.#expect(')');
      return (scope) => {
        try {
          read(scope);
          return true;
        } catch (error) {
          if (error instanceof NoSuchKey) return false;
          throw error;
        }
      };
    }
    const [argument] = this.#arguments(')');
    if (argument === undefined) throw this.#unexpected();
    const apply = FUNCTIONS[name];
    if (apply === undefined) throw new SyntaxError(`the function ${name} is not known in the rule ${JSON.stringify(this.#source)}`);
    return (scope) => apply(argument(scope));
  }

  #postfix(start: Expression): Expression {
    let value = start;
    for (;;) {
      if (this.#next('.') !== undefined) value = this.#member(value);
      else if (this.#next('[') !== undefined) {
        const key = this.#conditional();
        this.#expect(']');
        const of = value;
        value = (scope) => element(of(scope), key(scope));
      } else return value;
    }
  }

  #member(of: Expression): Expression {
    const name = this.#tokens[this.#at++]?.text ?? '';
    if (this.#next('(') === undefined) {
      const key = name.replace(/^__(\w+)__$/, '$1');
      return (scope) => element(of(scope), key);
    }
    if (name === 'all' || name === 'exists' || name === 'exists_one' || name === 'filter' || name === 'map') return this.#macro(name, of);
    const items = this.#arguments(')');
    const apply = METHODS[name];
    if (apply === undefined) throw new SyntaxError(`the method ${name} is not known in the rule ${JSON.stringify(this.#source)}`);
    return (scope) =>
      apply(
        of(scope),
        items.map((item) => item(scope)),
      );
  }

  #macro(name: string, of: Expression): Expression {
    const variable = this.#tokens[this.#at++]?.text ?? '';
    this.#expect(',');
    const body = this.#conditional();
    this.#expect(')');
    return (scope) => {
      const value = of(scope);
      const items: Json[] = Array.isArray(value) ? value : isObject(value) ? Object.keys(value) : [];
      const results = items.map((item) => body(new Map([...scope, [variable, item]])));
      if (name === 'map') return results;
      if (name === 'filter') return items.filter((_item, index) => results[index] === true);
      const count = results.filter((result) => result === true).length;
      return name === 'all' ? count === items.length : name === 'exists' ? count > 0 : count === 1;
    };
  }
}

class NoSuchKey extends Error {}

function element(of: Json, key: Json): Json {
  const value = Array.isArray(of) ? of[number(key)] : isObject(of) && Object.hasOwn(of, String(key)) ? of[String(key)] : undefined;
  if (value === undefined) throw new NoSuchKey(`no such key: ${String(key)}`);
  return value;
}

function number(value: Json): number {
  if (isRawJson(value)) return Number(value.rawJSON);
  if (typeof value !== 'number') throw new Error('no such overload');
  return value;
}

function size(value: Json): number {
  if (typeof value === 'string') return Array.from(value).length;
  if (Array.isArray(value)) return value.length;
  if (isObject(value)) return Object.keys(value).length;
  throw new Error('no such overload');
}

function typeName(value: Json): string {
  if (Array.isArray(value)) return 'type:list';
  if (isObject(value)) return 'type:map';
  if (typeof value === 'number') return Number.isInteger(value) ? 'type:int' : 'type:double';
  return typeof value === 'boolean' ? 'type:bool' : isRawJson(value) ? 'type:int' : 'type:string';
}

const FUNCTIONS: Readonly<Record<string, (value: Json) => Json>> = {
  size,
  type: typeName,
  int: (value) => Math.trunc(Number(value)),
  string: (value) => String(value),
  double: Number,
};

function words(value: Json): string {
  if (typeof value !== 'string') throw new Error('no such overload');
  return value;
}

const METHODS: Readonly<Record<string, (of: Json, items: readonly Json[]) => Json>> = {
  size: (of) => size(of),
  startsWith: (of, [text = '']) => words(of).startsWith(words(text)),
  endsWith: (of, [text = '']) => words(of).endsWith(words(text)),
  contains: (of, [text = '']) => words(of).includes(words(text)),
  matches: (of, [pattern = '']) => new RegExp(words(pattern), 'u').test(words(of)),
  split: (of, [text = '']) => words(of).split(words(text)),
  lowerAscii: (of) => words(of).toLowerCase(),
};

function compare(left: Json, right: Json): number {
  if (typeof left === 'string' && typeof right === 'string') return left < right ? -1 : left > right ? 1 : 0;
  return number(left) - number(right);
}

function divisor(value: Json): number {
  const by = number(value);
  if (by === 0) throw new Error('division by zero');
  return by;
}

/** Logic as CEL has it: one side that decides hides an error of the other. */
function decide(deciding: boolean, left: Expression, right: Expression, scope: Scope): boolean {
  let failed: unknown;
  for (const side of [left, right]) {
    try {
      const value = side(scope);
      if (typeof value !== 'boolean') throw new Error('no such overload');
      if (value === deciding) return deciding;
    } catch (error) {
      failed ??= error;
    }
  }
  if (failed !== undefined) throw failed as Error;
  return !deciding;
}

function combine(operator: string, left: Expression, right: Expression): Expression {
  switch (operator) {
    case '||':
      return (scope) => decide(true, left, right, scope);
    case '&&':
      return (scope) => decide(false, left, right, scope);
    case '==':
      return (scope) => equal(left(scope), right(scope));
    case '!=':
      return (scope) => !equal(left(scope), right(scope));
    case '<':
      return (scope) => compare(left(scope), right(scope)) < 0;
    case '<=':
      return (scope) => compare(left(scope), right(scope)) <= 0;
    case '>':
      return (scope) => compare(left(scope), right(scope)) > 0;
    case '>=':
      return (scope) => compare(left(scope), right(scope)) >= 0;
    case 'in':
      return (scope) => {
        const [item, of] = [left(scope), right(scope)];
        return Array.isArray(of) ? of.some((member) => equal(member, item)) : isObject(of) && Object.hasOwn(of, String(item));
      };
    case '+':
      return (scope) => {
        const [a, b] = [left(scope), right(scope)];
        return typeof a === 'string' ? a + words(b) : number(a) + number(b);
      };
    case '-':
      return (scope) => number(left(scope)) - number(right(scope));
    case '*':
      return (scope) => number(left(scope)) * number(right(scope));
    case '/':
      return (scope) => Math.trunc(number(left(scope)) / divisor(right(scope)));
    default:
      return (scope) => number(left(scope)) % divisor(right(scope));
  }
}
