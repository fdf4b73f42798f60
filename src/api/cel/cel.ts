/**
 * One CEL evaluator, for the rules of Kiln's own CRDs (API servers before 1.25 do not evaluate them) and for the laboratory's API server.
 * The language is that of the package `@marcbachmann/cel-js` (MIT, no dependencies, about 2 µs for a rule). It lacks Kubernetes' own
 * functions (`isIP`, `cidr`, `quantity`, `find`): none of Kiln's rules uses them, and a rule that does is not compiled. This file adds what
 * follows from the schema: whole numbers are `int`, numbers are `double`, and property names are escaped. A string remains a string, also
 * if its format is a time.
 */
import { Environment } from '@marcbachmann/cel-js';
import type { SchemaNode } from '../schema/schema.ts';

declare const converted: unique symbol;

/** A JSON value, converted for CEL. */
export type CelValue = { readonly [converted]: true };

/** A compiled rule. */
export interface CelProgram {
  /** Whether the rule reads `oldSelf`: then it is evaluated only if there is an old value. */
  readonly comparesWithOld: boolean;
  /**
   * Evaluates the rule; values come from `celValue`.
   * @throws Error if the value lacks what the rule reads, or has another type; an API server rejects such a value too
   */
  readonly holds: (self: CelValue, old?: CelValue) => boolean;
}

const environment = new Environment().registerVariable('self', 'dyn').registerVariable('oldSelf', 'dyn');

/** @throws SyntaxError for a rule that does not parse, names something unknown, or whose result is no bool */
export function compileCel(rule: string): CelProgram {
  const evaluate = parsed(rule);
  const { valid, type, error } = evaluate.check();
  if (!valid) throw unreadable(rule, error);
  if (type !== 'bool' && type !== 'dyn') throw new SyntaxError(`the rule ${JSON.stringify(rule)} gives ${type}, not bool`);
  return {
    comparesWithOld: /\boldSelf\b/.test(rule),
    holds: (self, old) => {
      try {
        return evaluate(old === undefined ? { self } : { self, oldSelf: old }) === true;
      } catch (error) {
        throw new Error(summary(error), { cause: error });
      }
    },
  };
}

function parsed(rule: string): ReturnType<Environment['parse']> {
  try {
    return environment.parse(rule);
  } catch (error) {
    throw unreadable(rule, error);
  }
}

function unreadable(rule: string, error: unknown): SyntaxError {
  return new SyntaxError(`the rule ${JSON.stringify(rule)} cannot be read: ${summary(error)}`, { cause: error });
}

/** The first line alone: the others repeat the text of the rule. */
function summary(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  return line;
}

export function celValue(node: SchemaNode, value: unknown): CelValue {
  return inCel(node, value) as CelValue;
}

function inCel(node: SchemaNode | undefined, value: unknown): unknown {
  if (typeof value === 'number') return node?.type !== 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (typeof value === 'bigint') return node?.type === 'number' ? Number(value) : value;
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => inCel(node?.items, item));
  const exact = (value as { readonly rawJSON?: unknown }).rawJSON;
  // An integer beyond 2^53, in the form of `JSON.rawJSON`. This is unambiguous: no value of an integer schema is an object.
  if (node?.type === 'integer' && typeof exact === 'string') return BigInt(exact);
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const property = node?.properties?.[key];
      return property === undefined ? [key, inCel(node?.additionalProperties, member)] : [escaped(key), inCel(property, member)];
    }),
  );
}

const KEYWORDS = new Set(
  'true false null in as break const continue else for function if import let loop package namespace return var void while'.split(' '),
);
const ESCAPES: Readonly<Record<string, string>> = { __: '__underscores__', '.': '__dot__', '-': '__dash__', '/': '__slash__' };

/** The escaped name of a property that is no CEL identifier; keys of maps are not escaped. */
function escaped(property: string): string {
  return KEYWORDS.has(property) ? `__${property}__` : property.replace(/__|[./-]/g, (part) => ESCAPES[part] as string);
}
