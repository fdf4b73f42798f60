/** Bodies and answers in YAML: the same data as in JSON, with integers exact up to 64 bits. */
import { parse, stringify, YAMLParseError } from 'yaml';
import type { Json } from './json.ts';
import { parseJson } from './json.ts';

/** @throws SyntaxError of one line when the text is not YAML. */
export function parseYaml(text: string): Json {
  try {
    return jsonOf(parse(text, { intAsBigInt: true }) as unknown);
  } catch (error) {
    if (!(error instanceof YAMLParseError)) throw error;
    const [problem = ''] = error.message.split(/ at line \d|\n/);
    throw new SyntaxError(`yaml: line ${error.linePos?.[0].line ?? 1}: ${problem}`, { cause: error });
  }
}

function jsonOf(value: unknown): Json {
  if (typeof value === 'bigint') return parseJson(value.toString());
  if (Array.isArray(value)) return value.map(jsonOf);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries<Json>(Object.entries(value).map(([key, one]) => [key, jsonOf(one)]));
  return value as Json;
}

/** Quotes strings that YAML 1.1, which Go's parsers read, would take for booleans. @param json text */
export function yamlOf(json: string): string {
  const exact = (_key: string, value: unknown, { source = '' }: { readonly source?: string }): unknown =>
    typeof value === 'number' && !Number.isSafeInteger(value) && /^-?\d+$/.test(source) ? BigInt(source) : value;
  const value: unknown = JSON.parse(json, exact as (key: string, value: unknown) => unknown);
  return stringify(value, { version: '1.1', sortMapEntries: true, lineWidth: 0, aliasDuplicateObjects: false, indentSeq: false });
}
