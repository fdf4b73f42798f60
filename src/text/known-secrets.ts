/**
 * The secrets that this process holds itself: tokens, keys, passwords. Whoever reads one makes it known here, and it
 * is cut out of every text that is logged, printed or archived, in the encodings in which other programs give it
 * back.
 */
export const REDACTED = '[redacted]';

/** A token that rotates is replaced; the newest are kept. */
const MOST = 64;
/** Shorter ones would be found in every text. */
const SHORTEST = 4;
/** Of a key, each line counts: a text may have a part of it. */
const SHORTEST_LINE = 16;

const known = new Set<string>();
let pattern: RegExp | undefined;

export function knowSecret(secret: string | Buffer | undefined): void {
  const text = String(secret ?? '').trim();
  const lines = text.includes('\n')
    ? text.split(/\s*\n\s*/).filter((line) => line.length >= SHORTEST_LINE && !line.startsWith('-----'))
    : [];
  for (const one of [text, ...lines]) {
    if (one.length < SHORTEST) continue;
    if (!known.delete(one)) pattern = undefined;
    known.add(one);
  }
  for (const oldest of known) {
    if (known.size <= MOST) break;
    known.delete(oldest);
    pattern = undefined;
  }
}

/** A header of HTTP, `Bearer TOKEN` or `Basic BASE64`: the credential, and what is encoded in it. */
export function knowAuthorization(header: string | undefined): void {
  const [, scheme = '', credential = ''] = /^(\S+)\s+(\S+)$/.exec(header ?? '') ?? [];
  knowSecret(credential);
  if (scheme.toLowerCase() !== 'basic') return;
  const pair = Buffer.from(credential, 'base64').toString('utf8');
  knowSecret(pair.slice(pair.indexOf(':') + 1));
}

/**
 * @returns the text without the secrets of this process, without private keys, and without passwords in URLs and
 *   JSON Web Tokens
 */
export function withoutSecrets(text: string): string {
  pattern ??= patternOf(known);
  return (known.size === 0 ? text : text.replace(pattern, REDACTED))
    .replace(PRIVATE_KEY, REDACTED)
    .replace(JSON_WEB_TOKEN, REDACTED)
    .replace(PASSWORD_IN_URL, `$1${REDACTED}@`);
}

/**
 * Forms that no other text has. Every repetition that is followed by something else has a bound, or the time would
 * be quadratic.
 */
const PRIVATE_KEY =
  /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;
const JSON_WEB_TOKEN = /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}(?:\.[A-Za-z0-9_-]*){0,3}/g;
/** Also of an endpoint of OVSDB, `ssl:user:password@host:port`. */
const PASSWORD_IN_URL = /((?:[a-z][a-z0-9+.-]{0,30}:\/\/|\b(?:tcp|ssl):)(?:[^\s:/@"'<>]{0,256}:)?)[^\s"'<>]{1,256}@/gi;

function patternOf(secrets: ReadonlySet<string>): RegExp {
  const forms = new Set([...secrets].flatMap(encodingsOf));
  // The longest first: a secret may begin with another one.
  const longestFirst = [...forms].toSorted((a, b) => b.length - a.length);
  return new RegExp(longestFirst.map((form) => form.replace(/[.*+?^${}()|[\]\\/-]/g, String.raw`\$&`)).join('|'), 'g');
}

/**
 * In plain text, JSON, a URL, hexadecimal digits, and base64, where the bytes before it shift it by none, one or
 * two.
 */
function encodingsOf(secret: string): readonly string[] {
  const escaped = JSON.stringify(secret).slice(1, -1);
  const uri = encodeURIComponent(secret.toWellFormed());
  const hex = Buffer.from(secret).toString('hex');
  const base64 = [0, 1, 2].flatMap((before) => {
    const whole = Buffer.from(`${'\0'.repeat(before)}${secret}`)
      .toString('base64')
      .replace(/=+$/, '');
    // The characters at both ends depend on the neighbours.
    const stable = whole.slice(before === 0 ? 0 : before + 1, whole.length - 1);
    return stable.length < 2 * SHORTEST ? [] : [stable, stable.replaceAll('+', '-').replaceAll('/', '_')];
  });
  return [secret, escaped, JSON.stringify(escaped).slice(1, -1), uri, hex, hex.toUpperCase(), ...base64];
}
