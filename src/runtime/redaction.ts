/** Takes secrets out of what is logged or printed: private keys, bearer tokens, passwords in addresses, and fields named after such. */

const SECRET_NAME =
  /^(authorization|bearer|password|passwd|secret|token|(access|id|refresh|bearer|api)[-_]?token|(client[-_]?)?key[-_]?data|private[-_]?key)$/i;
const DEEPEST = 6;
export const REDACTED = '[redacted]';

/**
 * Every repetition that something has to follow is bounded: without a bound the time grows with the square of the text, and a line may
 * quote an annotation of 256 kB.
 *
 * @returns the text without what looks like a secret
 */
export function redactedText(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return text
    .replace(/-----BEGIN [A-Z ]*PRIVATE KEY-----[\s\S]*?(-----END [A-Z ]*PRIVATE KEY-----|$)/g, REDACTED)
    .replace(/\b(Bearer|Basic)\s+[A-Za-z0-9._~+/=-]{8,}/gi, `$1 ${REDACTED}`)
    .replace(/(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*/g, REDACTED)
    .replace(/((?:[a-z][a-z0-9+.-]{0,30}:\/\/|\b(?:tcp|ssl):)[^\s:/@]{1,256}:)[^\s/@]{1,1024}@/gi, `$1${REDACTED}@`)
    .replace(/\b(password|passwd|secret|token)(["']?\s*[=:]\s*["']?)[^\s"',;&}]{3,}/gi, `$1$2${REDACTED}`);
}

/** Cheap: most lines have none of these words. */
const SUSPECT = /PRIVATE KEY|Bearer|Basic |eyJ|:\/\/|tcp:|ssl:|passw|secret|token/i;

/** The fields of a log line, copied only where something is taken out. */
export function redacted<T>(value: T, depth = 0): T {
  if (typeof value === 'string') return redactedText(value) as T & string;
  if (typeof value !== 'object' || value === null || depth > DEEPEST) return value;
  if (Array.isArray(value)) {
    const items = value.map((one: unknown) => redacted(one, depth + 1));
    return items.every((one, index) => one === value[index]) ? value : (items as T);
  }
  const fields = value as Readonly<Record<string, unknown>>;
  let copy: Record<string, unknown> | undefined;
  for (const [name, field] of Object.entries(fields)) {
    const clean: unknown = SECRET_NAME.test(name) && field !== undefined && field !== '' ? REDACTED : redacted(field, depth + 1);
    if (clean === field) continue;
    copy ??= { ...fields };
    copy[name] = clean;
  }
  return (copy ?? value) as T;
}
