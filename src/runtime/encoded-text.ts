/** Encoded texts within a text: percent signs, escapes of JSON and HTML, base64, hexadecimal digits. */

/** @param clean removes secrets from decoded text; where it removes one, the decoded clean text replaces the encoded one */
export function withoutEncodedSecrets(text: string, clean: (text: string) => string, hidden: string): string {
  return withoutEscapes(text, clean)
    .replace(BASE64, (run) => (parts(run).some((part) => isDirty(Buffer.from(part, 'base64'), clean)) ? hidden : run))
    .replace(HEX, (run) => (isDirty(Buffer.from(run, 'hex'), clean) ? hidden : run));
}

/** As a whole: quotes and blanks that were escaped, and such as were not, belong together. */
function withoutEscapes(text: string, clean: (text: string) => string): string {
  const plain = unescaped(text);
  if (plain === text) return text;
  const cleaned = clean(plain);
  return cleaned === plain ? text : cleaned;
}

const ESCAPED: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };
const BASE64 = /[A-Za-z0-9+/_-]{12,}={0,2}/g;
const HEX = /(?<![0-9A-Za-z])(?:[0-9a-fA-F]{2}){8,}(?![0-9A-Za-z])/g;
const ENTITIES: Readonly<Record<string, string>> = { quot: '"', amp: '&', apos: "'", lt: '<', gt: '>', equals: '=', colon: ':' };

function unescaped(text: string): string {
  let plain = text;
  const ofCode = (digits: string): string => String.fromCharCode(Number.parseInt(digits, 16));
  if (plain.includes('%')) plain = plain.replace(/%([0-9a-fA-F]{2})/g, (_, digits: string) => ofCode(digits));
  if (plain.includes('\\'))
    plain = plain.replace(
      /\\u([0-9a-fA-F]{4})|\\x([0-9a-fA-F]{2})|\\([nrt"'/\\])/g,
      (_, four: string | undefined, two: string | undefined, letter: string | undefined) =>
        letter === undefined ? ofCode(four ?? two ?? '') : (ESCAPED[letter] ?? letter),
    );
  if (plain.includes('&'))
    plain = plain.replace(/&(?:#(\d{1,6})|#x([0-9a-fA-F]{1,5})|([a-z]{2,6}));/g, (whole, decimal?: string, hex?: string, name?: string) => {
      if (name !== undefined) return ENTITIES[name] ?? whole;
      return String.fromCodePoint(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal));
    });
  return plain;
}

/** A path may stand before it, and is of the same letters. */
function parts(run: string): readonly string[] {
  const [, ...rest] = run.split('/');
  return rest.length === 0 || rest.length > 32 ? [run] : [run, ...rest];
}

const FEWEST = 6;

function isDirty(bytes: Buffer, clean: (text: string) => string): boolean {
  if (bytes.length < FEWEST) return false;
  const text = bytes.toString(bytes.length % 2 === 0 && bytes[1] === 0 && bytes[3] === 0 ? 'utf16le' : 'utf8');
  const unreadable = text.match(/[^\t\n\r -~\u00a0-\ud7ff]|\ufffd/g)?.length ?? 0;
  return unreadable <= text.length / 10 && clean(text) !== text;
}
