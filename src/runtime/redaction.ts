/**
 * Removes secrets from what is logged, printed or bundled: texts of a known secret form, values behind a secret's name, and both within
 * other encodings. A text of unknown form under a harmless name stays, so `kiln bundle` leaves out beforehand what it does not need.
 */
import { withoutEncodedSecrets } from './encoded-text.ts';
import { REDACTED, withoutKnownForms } from './secret-forms.ts';
import { isNamedByAnother, isSecretName, namesAnother } from './secret-names.ts';
import { withoutEscapedValues, withoutNamedValues } from './secret-values.ts';

export { REDACTED } from './secret-forms.ts';

const DEEPEST = 16;
const NOT_ASCII = /[^\0-\x7f]/;
const IGNORABLE = /\p{Default_Ignorable_Code_Point}/gu;
/** Encodings within encodings. */
const MOST_LAYERS = 3;

/**
 * Every repetition in a pattern that is followed by something else has a bound: without one the time is quadratic in the text, and a line
 * may quote an annotation of 256 kB.
 *
 * @returns the text without what looks like a secret
 */
export function redactedText(text: string): string {
  return peeled(text, 0);
}

function peeled(text: string, layer: number): string {
  if (text.length < 4) return text;
  // Full-width letters and invisible characters would hide a name from the patterns, and not from a reader.
  const common = NOT_ASCII.test(text) ? text.normalize('NFKC').replace(IGNORABLE, '') : text;
  if (common === text) return withoutLayers(text, layer);
  const clean = withoutLayers(common, layer);
  return clean === common ? text : clean;
}

function withoutLayers(whole: string, layer: number): string {
  const text = withoutEscapedValues(whole);
  const json = inJson(text, layer);
  if (json !== undefined) return json;
  // Decode first: redaction of the encoded text could remove the end of the secret in it.
  const plain = layer < MOST_LAYERS ? withoutEncodedSecrets(text, (inner) => peeled(inner, layer + 1), REDACTED) : text;
  return withoutNamedValues(withoutKnownForms(plain));
}

/** A JSON document stays valid JSON. @returns undefined for any other text */
function inJson(text: string, layer: number): string | undefined {
  if (layer >= MOST_LAYERS || !/^\s*[[{"]/.test(text)) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  const clean = within(value, 0, layer + 1);
  return clean === value ? text : JSON.stringify(clean);
}

/**
 * Redacts the fields of a log line or the objects of a bundle; copies only what changes.
 *
 * @param longest most characters of one text; the number of cut characters is appended
 */
export function redacted<T>(value: T, longest = Number.POSITIVE_INFINITY): T {
  return within(value, 0, 0, longest) as T;
}

function shortened(text: string, longest: number): string {
  return text.length <= longest ? text : `${text.slice(0, longest)}… and ${text.length - longest} characters more`;
}

function within(value: unknown, depth: number, layer: number, longest = Number.POSITIVE_INFINITY): unknown {
  if (typeof value === 'string') return peeled(shortened(value, longest), layer);
  if (typeof value !== 'object' || value === null) return value;
  if (depth > DEEPEST || ArrayBuffer.isView(value)) return REDACTED;
  if ('toJSON' in value && typeof value.toJSON === 'function') return within((value.toJSON as () => unknown)(), depth + 1, layer, longest);
  if (value instanceof Map) return within(Object.fromEntries(value), depth + 1, layer, longest);
  if (value instanceof Set) return within([...(value as ReadonlySet<unknown>)], depth + 1, layer, longest);
  if (Array.isArray(value)) {
    const [first] = value as readonly unknown[];
    const pair = value.length === 2 && typeof first === 'string' && first.length <= 128 && !/\s/.test(first) && isSecretName(first);
    if (pair && typeof value[1] === 'string') return [peeled(first, layer), hidden(value[1])];
    const items = value.map((one: unknown) => within(one, depth + 1, layer, longest));
    return items.every((one, index) => one === value[index]) ? value : items;
  }
  const fields = Object.entries(value as Readonly<Record<string, unknown>>);
  const pair = fields.some(([name, field]) => namesAnother(name) && typeof field === 'string' && isSecretName(field));
  let changed = false;
  const copy = fields.map(([name, field]): readonly [string, unknown] => {
    const label = peeled(shortened(name, longest), layer);
    const secret = isSecretName(name) || (pair && isNamedByAnother(name));
    const clean = secret ? hidden(field) : within(field, depth + 1, layer, longest);
    changed ||= clean !== field || label !== name;
    return [label, clean];
  });
  return changed ? Object.fromEntries(copy) : value;
}

/** A boolean or an empty value cannot be a secret: it stays. */
function hidden(field: unknown): unknown {
  return field === undefined || field === null || field === '' || typeof field === 'boolean' ? field : REDACTED;
}
