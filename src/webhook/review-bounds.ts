/**
 * What of a review is looked at before its rules are asked. JSON that nests deeply or has very many values costs far more than its bytes;
 * the bytes are counted before anything is made of them. Pure.
 */
/** Levels of arrays and objects. The deepest object of an API server (a definition's schema aside) has about 20. */
export const DEEPEST_REVIEW = 100;
/** Members and elements: a judge may find one rule broken, or two, for each. */
export const MOST_VALUES = { proven: 131_072, unknown: 32_768 } as const;
/** Keys and values together, in UTF-16 units: an API server takes 256 KiB in UTF-8, which is never fewer. */
export const MOST_ANNOTATION_TEXT = 256 * 1024;

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const [OPEN_ARRAY, CLOSE_ARRAY, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];

/** Why a body is not parsed; undefined where it may be. Bytes that are no JSON are the parser's business. */
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

/** Why the annotations of an object are not read; undefined where they may be. */
export function annotationsProblem(annotations: Readonly<Record<string, unknown>> = {}): string | undefined {
  let length = 0;
  for (const [key, value] of Object.entries(annotations)) length += key.length + (typeof value === 'string' ? value.length : 0);
  return length > MOST_ANNOTATION_TEXT
    ? `metadata.annotations are longer than ${MOST_ANNOTATION_TEXT} characters, which no API server takes`
    : undefined;
}
