/** Secrets of a known form, without regard to the text before them. Every repetition that is followed by something else has a bound. */
export const REDACTED = '[redacted]';

const FREE = '(?<![A-Za-z0-9])';

const PEM = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----[\s\S]*?(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----|$)/g;

/** Tokens with a prefix of their issuer. */
const MARKED = new RegExp(
  `${FREE}(?:${[
    'gh[pousr]_[A-Za-z0-9]{10,}',
    'github_pat_[A-Za-z0-9_]{10,}',
    'gl[a-z]{2,8}-[A-Za-z0-9_.-]{10,}',
    '(?:AKIA|ASIA|ABIA|ACCA|AROA|AIDA)[A-Z0-9]{12,}',
    'xox[a-z]-[A-Za-z0-9-]{8,}',
    'xapp-[A-Za-z0-9-]{8,}',
    'https://hooks\\.slack\\.com/[A-Za-z0-9/]+',
    '(?:sk|rk|pk|whsec)[-_][A-Za-z0-9_-]{8,}',
    'AIza[A-Za-z0-9_-]{20,}',
    'ya29\\.[A-Za-z0-9_-]{10,}',
    'GOCSPX-[A-Za-z0-9_-]{10,}',
    'npm_[A-Za-z0-9]{10,}',
    'pypi-[A-Za-z0-9_-]{10,}',
    'hv[sbr]\\.[A-Za-z0-9_-]{10,}',
    'do[opr]_v1_[a-f0-9]{10,}',
    'dckr_pat_[A-Za-z0-9_-]{10,}',
    'SG\\.[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{8,}',
    'shp(?:at|ca|pa|ss)_[a-fA-F0-9]{10,}',
    'sq0[a-z]{3}-[A-Za-z0-9_-]{10,}',
    'AGE-SECRET-KEY-1[A-Z0-9]{10,}',
    'lin_api_[A-Za-z0-9]{10,}',
    'nvapi-[A-Za-z0-9_-]{10,}',
    'hf_[A-Za-z0-9]{10,}',
    'dapi[a-f0-9]{20,}',
    'PMAK-[A-Za-z0-9-]{10,}',
    '(?<![_-])eyJ[A-Za-z0-9_-]{8,}\\.[A-Za-z0-9_-]{4,}(?:\\.[A-Za-z0-9_-]*){0,3}',
    '[a-z0-9]{6}\\.[a-z0-9]{16}(?![A-Za-z0-9.-])',
  ].join('|')})`,
  'g',
);

/** The password before the `@` of a URL. */
const IN_URL = /((?:[a-z][a-z0-9+.-]{0,30}:\/\/|\b(?:tcp|ssl):)[^\s:/@"'<>]{0,256}:)[^\s"'<>]{1,256}@/gi;
const USER_ALONE = /([a-z][a-z0-9+.-]{0,30}:\/\/)[^\s:/@"'<>]{1,256}@/gi;
const GO_DSN = /(\b[\w.-]{1,64}:)[^\s@"'<>]{1,256}@(?=[a-z0-9]{1,8}\()/gi;
const ORACLE = /(\bthin:)[^\s@"'<>]{1,256}@/gi;
const SCHEME = /\b(Bearer|Basic|Digest|Negotiate|ApiKey|Token)(\s+)[A-Za-z0-9._~+/=:-]{8,}/gi;
/** A sentence such as "token expired": no secret in it. */
const PROSE = /^(token|apikey)\s+[a-z-]*$/i;
const NETRC = /(\blogin\s{1,8}\S{1,128}\s{1,8}password\s{1,8})\S{1,256}/gi;
const OF_CURL = /((?:^|\s)(?:-u|--user|--proxy-user)[\s=]{1,4}["']?[^\s:"']{1,128}:)[^\s"']{1,256}/g;

const IDENTIFIED = /(\bidentified\s{1,8}by\s{1,8}(?:password\s{1,8})?["']?)[^\s"']{1,256}/gi;
const OF_COMMAND =
  /(\b(?:mysql|mysqldump|mysqladmin|mariadb)\b[^\n|;]{0,200}?\s-p|\bsshpass\b[^\n|;]{0,200}?\s-p\s{0,4}|\bredis-cli\b[^\n|;]{0,200}?\s-a\s{1,4}|\bhtpasswd\s{1,4}-\w{0,8}b\w{0,8}\s{1,4}\S{1,200}\s{1,4}\S{1,200}\s{1,4})["']?[^\s"']{1,256}/g;
const CODE = /((?:^|[?&\s])code=)[^&\s"'<>]{4,2048}(?=&)|([?&]code=)[^&\s"'<>]{4,2048}/g;
const HOOK = /(https?:\/\/[^\s/"'<>]{1,256}(?:\/[^\s/"'<>]{1,64}){0,4}\/(?:web)?hooks?\/)[^\s"'<>]{1,512}/gi;
/** A path in a store of secrets; `secret/name` of kubectl has no capitals. */
const STORED = /(?<![\w/.-])((?:secret|token|password|passwd)\/)(?![a-z0-9.-]{1,253}(?![\w/]))[\w.~+=-]{1,256}/g;

/** A quick test for texts that may have a secret: most have none. */
const SUSPECT =
  /identified|mysql|mariadb|sshpass|redis|htpasswd|code=|hook|secret\/|passw|-----BEGIN|@|eyJ|[_-]|AKIA|ASIA|ABIA|ACCA|AROA|AIDA|AIza|ya29|hv[sbr]\.|dapi|SG\.|bearer|basic|digest|negotiate|apikey|token|login|\.[a-z0-9]{16}|[A-Za-z0-9+/]{28}/i;

export function withoutKnownForms(text: string): string {
  if (!SUSPECT.test(text)) return text;
  return withoutUserInfo(text)
    .replace(PEM, REDACTED)
    .replace(SCHEME, (whole, scheme: string, blanks: string) => (PROSE.test(whole) ? whole : `${scheme}${blanks}${REDACTED}`))
    .replace(MARKED, REDACTED)
    .replace(NETRC, `$1${REDACTED}`)
    .replace(OF_CURL, `$1${REDACTED}`)
    .replace(IDENTIFIED, `$1${REDACTED}`)
    .replace(OF_COMMAND, `$1${REDACTED}`)
    .replace(CODE, (_, first?: string, second?: string) => `${first ?? second ?? ''}${REDACTED}`)
    .replace(HOOK, `$1${REDACTED}`)
    .replace(STORED, `$1${REDACTED}`)
    .replace(RANDOM, (run) => (isRandom(run) ? REDACTED : run));
}

function withoutUserInfo(text: string): string {
  if (!text.includes('@')) return text;
  return text
    .replace(IN_URL, `$1${REDACTED}@`)
    .replace(USER_ALONE, `$1${REDACTED}@`)
    .replace(GO_DSN, `$1${REDACTED}@`)
    .replace(ORACLE, `$1${REDACTED}@`);
}

/** Long random runs of all sorts of characters: tokens of an unlisted form. Names of objects have no capitals. */
const RANDOM = /(?<![A-Za-z0-9+/_=-])[A-Za-z0-9+/_=-]{28,}/g;

/** In names of the journal's files and of backups: `20260131T120000000Z`. Messages name these files. */
const COMPACT_TIME = /\d{8}T\d{6,9}Z/g;

function isRandom(whole: string): boolean {
  const run = whole.replace(COMPACT_TIME, '');
  if (!/[a-z]/.test(run) || !/[A-Z]/.test(run) || !/[0-9]/.test(run)) return false;
  const changes = [...run.slice(0, 256).matchAll(/[a-z][A-Z0-9]|[A-Z][0-9]|[0-9][A-Za-z]/g)].length;
  return new Set(run).size >= 14 && changes >= Math.min(run.length, 256) / 8;
}
