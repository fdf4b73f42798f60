/** Names of fields, variables, headers and parameters with a secret value, in any case and with any separator between the words. */

/** Matched anywhere in the name, reduced to letters and digits. */
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
    ...['samlresponse', 'samlrequest', 'requirepass', 'masterauth', 'pwd', 'pswd', 'snmpcommunity'],
    '(?<!by|com|tres|sur|under|over|en)pass$',
    '(db|user|root|admin|bind|mail|smtp)pw$',
    ...['connectionstring', 'connstr', 'mnemonic', 'seedphrase', 'sharedaccess', 'recoverycode', 'onetimecode'],
    '(api|access|private|signing|encrypt(ion)?|account|master|client|shared|ssh|storage|license|auth|app|service|admin|deploy|session|hmac|consumer|subscription|preshared|symmetric|tls|web|webhook|host)key',
  ].join('|'),
);
/** Matched only as a whole word: within other words they mean nothing. */
const WORDS: ReadonlySet<string> = new Set([
  ...['pass', 'pwd', 'pw', 'psw', 'auth', 'cred', 'creds', 'pin', 'otp', 'totp', 'mfa', 'sig', 'signature', 'sas', 'salt', 'dsn', 'csrf'],
  ...[
    'xsrf',
    'sid',
    'psk',
    'pat',
    'seed',
    'hmac',
    'refresh',
    'passe',
    'mdp',
    'senha',
    'clave',
    'heslo',
    'haslo',
    'parola',
    'sifre',
    'losenord',
  ],
]);
/** In other languages, after Unicode normalization (NFKC). */
const FOREIGN = /парол|密码|密碼|口令|パスワード|비밀번호|암호|contrase[nñ]a|motdepasse|kennwort|wachtwoord|hasło|şifre|salasana|lösenord/;
/** Settings of Kiln that are names of objects or files: an administrator has to see them. */
const NAMES_A_PLACE: ReadonlySet<string> = new Set([
  ...['KILN_WEBHOOK_SECRET', 'webhookSecret', 'webhook-secret'],
  ...['KILN_METRICS_TOKEN_FILE', 'metricsTokenFile', 'metrics-token-file'],
  ...['KILN_WEBHOOK_KEY', 'webhookKey', 'webhook-key'],
]);
/** Secret even as a word in a sentence. */
const SPOKEN = /^(passw[a-z]{0,5}|passphrase|passcode|pwd|requirepass|masterauth|community)$/i;
/** The form of identifiers in programs; sentences and names of objects do not have it. */
const WRITTEN = /_|^[a-z][a-z0-9]*[A-Z]|^[A-Z][A-Z0-9]+$/;
/** Fields that name another value: `"name":"DB_PASSWORD","value":"…"`. */
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
const NOT_ASCII = /[^\0-\x7f]/;

const letters = (name: string): string =>
  name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^a-z0-9]/g, '');

export function isSecretName(name: string): boolean {
  const whole = NOT_ASCII.test(name) ? name.normalize('NFKC').replace(/\p{Default_Ignorable_Code_Point}/gu, '') : name;
  const short = whole.length > LONGEST ? whole.slice(-LONGEST) : whole;
  if (NAMES_A_PLACE.has(short.replace(/^-+/, ''))) return false;
  if (WITHIN.test(letters(short))) return true;
  if (
    FOREIGN.test(
      short
        .normalize('NFKC')
        .toLowerCase()
        .replace(/[^\p{L}]/gu, ''),
    )
  )
    return true;
  return short
    .normalize('NFKC')
    .replace(/\p{Default_Ignorable_Code_Point}/gu, '')
    .replace(/([a-z0-9])([A-Z])/g, '$1 $2')
    .replace(/([A-Z])([A-Z][a-z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z]+/)
    .some((word) => WORDS.has(word));
}

/** A value may follow it after white space alone. */
export function isSpokenSecret(name: string): boolean {
  return SPOKEN.test(name) || FOREIGN.test(name.toLowerCase()) || (WRITTEN.test(name) && isSecretName(name));
}

/** The field has a name, and another field its value. */
export function namesAnother(field: string): boolean {
  return NAMING.has(letters(field));
}

/** The field has the value that another field names. */
export function isNamedByAnother(field: string): boolean {
  return NAMED.has(letters(field));
}
