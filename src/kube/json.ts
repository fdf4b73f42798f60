/**
 * JSON without loss of integers. An integer beyond 2^53 becomes a bigint and is written out unchanged (a Subnet's
 * counts over a /64 are such); everything else is as in `JSON`. The exact path costs
 * about three times as much and is used only if the text may have such a number.
 */

type SourceReviver = (key: string, value: unknown, context: { readonly source?: string }) => unknown;
interface SourceTextJson {
  parse(text: string, reviver: SourceReviver): unknown;
  rawJSON(text: string): unknown;
}
// TypeScript's types lack source text access; Node has it since 22.
const sourceTextJson = JSON as unknown as SourceTextJson;

/** A value position followed by 16 digits. It may match inside a string, which costs time and nothing else. */
const LONG_INTEGER = /(?:^|[:[,])\s*-?\d{16}/;
/** A much faster test, and most texts have none. */
const DIGITS = /\d{16}/;
const INTEGER = /^-?\d+$/;

const exactIntegers: SourceReviver = (_key, value, context) => {
  if (typeof value !== 'number' || Number.isSafeInteger(value)) return value;
  return context.source !== undefined && INTEGER.test(context.source) ? BigInt(context.source) : value;
};

/** Throws SyntaxError as `JSON.parse` does. */
export function parseJson(text: string): unknown {
  return DIGITS.test(text) && LONG_INTEGER.test(text) ? sourceTextJson.parse(text, exactIntegers) : JSON.parse(text);
}

export function stringifyJson(value: unknown): string {
  try {
    return JSON.stringify(value);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return JSON.stringify(value, (_key, item: unknown) => (typeof item === 'bigint' ? sourceTextJson.rawJSON(item.toString()) : item));
  }
}

const INT64_MAX = 2n ** 63n - 1n;
const INT64_MIN = -(2n ** 63n);

/**
 * An integer as an API server returns it: exact within int64, a float64 beyond. Apply this to the desired value before comparing it with
 * one that was read, or they never become equal.
 */
export function asStoredInteger(value: number | bigint): number | bigint {
  const exact = typeof value === 'number' && Number.isInteger(value) ? BigInt(value) : value;
  if (typeof exact === 'number') return exact;
  if (exact <= INT64_MAX && exact >= INT64_MIN) {
    const plain = Number(exact);
    return Number.isSafeInteger(plain) ? plain : exact;
  }
  const digits = String(Number(exact));
  return INTEGER.test(digits) ? BigInt(digits) : Number(exact);
}
