/** Names of fields, variables, headers and parameters whose value is a secret, in whatever case and with whatever between the words. */

/** Anywhere in the name, once it is letters and digits alone. */
const WITHIN = new RegExp(
  [
    ...[
      'passw',
      'passphrase',
      'passcode',
      'secret',
      'token',
      'credential',
      'authorization',
      'cookie',
      'bearer',
      'jwt',
      'sessionid',
      'oauth',
    ],
    ...['connectionstring', 'connstr', 'mnemonic', 'seedphrase', 'sharedaccess', 'recoverycode', 'onetimecode'],
    '(api|access|private|signing|encrypt(ion)?|account|master|client|shared|ssh|storage|license|auth|app|service|admin|deploy|session|hmac|consumer|subscription|preshared|symmetric|tls|web|webhook|host)key',
  ].join('|'),
);
/** As a word of its own: within others they say nothing. */
const WORDS: ReadonlySet<string> = new Set([
  ...['pass', 'pwd', 'pw', 'psw', 'auth', 'cred', 'creds', 'pin', 'otp', 'totp', 'mfa', 'sig', 'signature', 'sas', 'salt', 'dsn', 'csrf'],
  ...['xsrf', 'sid', 'psk', 'pat', 'seed', 'hmac'],
]);
/** What names another: `"name":"DB_PASSWORD","value":"…"`. */
const NAMING: ReadonlySet<string> = new Set([
  'name',
  'key',
  'field',
  'header',
  'variable',
  'var',
  'env',
  'param',
  'parameter',
  'option',
  'property',
  'attribute',
  'id',
]);
const NAMED: ReadonlySet<string> = new Set([
  'value',
  'val',
  'v',
  'data',
  'content',
  'contents',
  'text',
  'default',
  'stringvalue',
  'raw',
  'body',
]);
const LONGEST = 256;

const letters = (name: string): string => name.toLowerCase().replace(/[^a-z0-9]/g, '');

export function isSecretName(name: string): boolean {
  const short = name.length > LONGEST ? name.slice(-LONGEST) : name;
  if (WITHIN.test(letters(short))) return true;
  return short
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => WORDS.has(word));
}

/** The field has the name of something, whose value is in another field. */
export function namesAnother(field: string): boolean {
  return NAMING.has(letters(field));
}

/** The field has the value of what another field names. */
export function isNamedByAnother(field: string): boolean {
  return NAMED.has(letters(field));
}
