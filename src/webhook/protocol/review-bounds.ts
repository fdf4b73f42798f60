/**
 * Bounds of a review that are checked before its rules run. JSON with deep nesting or very many values costs far more than its bytes
 * suggest, so Kiln counts in the bytes before it parses them. Pure.
 */
/** Levels of arrays and objects. The deepest object of an API server (other than a CRD's schema) has about 20. */
export const DEEPEST_REVIEW = 100;
/** Members and elements: validation may find one or two faults in each. */
export const MOST_VALUES = { proven: 131_072, unknown: 32_768 } as const;
/** Keys and values together, in UTF-16 units. An API server accepts 256 KiB of UTF-8, which is never fewer units. */
export const MOST_ANNOTATION_TEXT = 256 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Why Kiln does not parse a body; undefined if it does. Bytes that are not JSON are left to the parser. */
export function bodyProblem(body: Uint8Array, mostValues: number): string | undefined {
  let depth = 0;
  let values = 0;
  let quoted = false;
  for (let at = 0; at < body.length; at++) {
    const byte = body[at];
    if (quoted) {
      if (byte === BACKSLASH) at++;
      else if (byte === QUOTE) quoted = false;
    } else if (byte === QUOTE) quoted = true;
    else if (byte === OPEN_ARRAY || byte === OPEN_OBJECT) {
      values++;
      if (++depth > DEEPEST_REVIEW) return `the body is nested deeper than ${DEEPEST_REVIEW} levels`;
    } else if (byte === CLOSE_ARRAY || byte === CLOSE_OBJECT) depth--;
    else if (byte === COMMA) values++;
    if (values > mostValues) return `the body has more than ${mostValues} values`;
  }
  return undefined;
}

/** Why Kiln does not read the annotations of an object; undefined if it does. */
export function annotationsProblem(annotations: Readonly<Record<string, unknown>> = {}): string | undefined {
  let length = 0;
  for (const [key, value] of Object.entries(annotations)) length += key.length + (typeof value === 'string' ? value.length : 0);
  return length > MOST_ANNOTATION_TEXT
    ? `metadata.annotations are longer than ${MOST_ANNOTATION_TEXT} characters, which no API server takes`
    : undefined;
}
