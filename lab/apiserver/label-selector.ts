/** Parses label selectors of list and watch as Kubernetes does, with the same errors. */
import { labelKeyProblems, labelValueProblem } from './object-meta.ts';
import type { KubeObject } from './object.ts';
import type { Selector } from './selectors.ts';
import { badRequest } from './status.ts';

type Kind = 'word' | 'symbol' | 'end';

interface Token {
  readonly kind: Kind;
  readonly text: string;
}

type Term = (labels: Record<string, string>) => boolean;

const SYMBOLS = ['==', '!=', '=', '!', '(', ')', ',', '>', '<'];
const OPERATORS = new Set(['=', '==', '!=', '>', '<', 'in', 'notin']);
const END: Token = { kind: 'end', text: '' };

function tokensOf(source: string): Token[] {
  const tokens: Token[] = [];
  let rest = source.trimStart();
  while (rest !== '') {
    const symbol = SYMBOLS.find((known) => rest.startsWith(known));
    const text = symbol ?? /^[^\s=!(),><]+/.exec(rest)?.[0] ?? '';
    tokens.push({ kind: symbol === undefined ? 'word' : 'symbol', text });
    rest = rest.slice(text.length).trimStart();
  }
  return tokens;
}

/** @throws ApiError 400 when the text is not a label selector. */
export function parseLabelSelector(source: string): Selector {
  const terms = new Parser(tokensOf(source)).terms();
  return (object: KubeObject) => {
    const labels = object.metadata.labels ?? {};
    return terms.every((term) => term(labels));
  };
}

class Parser {
  readonly #tokens: readonly Token[];
  #next = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  terms(): Term[] {
    const terms: Term[] = [];
    for (;;) {
      const first = this.#peek();
      if (first.kind === 'end') return terms;
      if (!beginsTerm(first)) throw badRequest(`found '${first.text}', expected: !, identifier, or 'end of string'`);
      terms.push(this.#term());
      const separator = this.#take();
      if (separator.kind === 'end') return terms;
      if (separator.text !== ',') throw badRequest(`found '${separator.text}', expected: ',' or 'end of string'`);
      const following = this.#peek();
      if (!beginsTerm(following)) throw badRequest(`found '${following.text}', expected: identifier after ','`);
    }
  }

  #term(): Term {
    const negated = this.#peek().text === '!';
    if (negated) this.#take();
    const { kind, text: key } = this.#take();
    if (kind !== 'word') throw wrong(`found '${key}', expected: identifier`);
    const problems = labelKeyProblems(key);
    if (problems.length > 0) throw wrong(`<nil>: Invalid value: ${JSON.stringify(key)}: ${problems.join('; ')}`);
    if (negated) return (labels) => !(key in labels);
    const after = this.#peek();
    if (after.kind === 'end' || after.text === ',') return (labels) => key in labels;
    const operator = this.#take().text;
    if (!OPERATORS.has(operator)) throw wrong(`found '${operator}', expected: in, notin, =, ==, !=, gt, lt`);
    const values = operator === 'in' || operator === 'notin' ? this.#list() : [this.#value()];
    values.forEach((value, index) => {
      const problem = labelValueProblem(value);
      if (problem !== undefined) throw wrong(`values[${index}][${key}]: Invalid value: ${JSON.stringify(value)}: ${problem}`);
    });
    return matcher(key, operator, values);
  }

  #value(): string {
    const { kind, text } = this.#peek();
    if (kind === 'end' || text === ',') return '';
    if (kind !== 'word') throw wrong(`found '${text}', expected: identifier`);
    return this.#take().text;
  }

  #list(): string[] {
    const open = this.#take();
    if (open.text !== '(') throw wrong(`found '${open.text}' expected: '('`);
    const values: string[] = [];
    for (;;) {
      const { kind, text } = this.#peek();
      if (kind === 'word') values.push(this.#take().text);
      else if (text === ',' || text === ')') values.push('');
      else throw wrong(`found '${text}', expected: ',', ')' or identifier`);
      const after = this.#take();
      if (after.text === ')') return values;
      if (after.text !== ',') throw wrong(`found '${after.text}', expected: ',' or ')'`);
    }
  }

  #peek(): Token {
    return this.#tokens[this.#next] ?? END;
  }

  #take(): Token {
    return this.#tokens[this.#next++] ?? END;
  }
}

function matcher(key: string, operator: string, values: readonly string[]): Term {
  const [value = ''] = values;
  switch (operator) {
    case 'in':
      return (labels) => key in labels && values.includes(labels[key] ?? '');
    case 'notin':
      return (labels) => !(key in labels) || !values.includes(labels[key] ?? '');
    case '!=':
      return (labels) => labels[key] !== value;
    case '>':
    case '<': {
      if (!/^-?\d+$/.test(value))
        throw wrong(`values[0][${key}]: Invalid value: ${JSON.stringify(value)}: for 'Gt', 'Lt' operators, the value must be an integer`);
      const bound = Number(value);
      return (labels) =>
        /^-?\d+$/.test(labels[key] ?? '') && (operator === '>' ? Number(labels[key]) > bound : Number(labels[key]) < bound);
    }
    default:
      return (labels) => labels[key] === value;
  }
}

function beginsTerm({ kind, text }: Token): boolean {
  return kind === 'word' || text === '!';
}

function wrong(problem: string): Error {
  return badRequest(`unable to parse requirement: ${problem}`);
}
