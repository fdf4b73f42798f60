/** Signs for who reads them: as they are where the locale is of UTF-8, in ASCII elsewhere, where a terminal would show other letters. */

const ASCII: Readonly<Record<string, string>> = {
  '├─': '|-',
  '└─': '`-',
  '│': '|',
  '─': '-',
  '✔': '+',
  '✖': 'x',
  '·': '-',
  '…': '...',
  '⠋': '|',
  '⠙': '/',
  '⠹': '-',
  '⠸': '\\',
  '⠼': '|',
  '⠴': '/',
  '⠦': '-',
  '⠧': '\\',
  '⠇': '|',
  '⠏': '/',
};
const SIGNS = new RegExp(Object.keys(ASCII).join('|'), 'gu');

/** The first that is set decides (POSIX, "Environment Variables"): none is the C locale, which is ASCII. */
export function isUtf8Locale({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test([LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '') ?? '');
}

/** Text of Kiln's own as this process may print it. Not for what programs read. */
export function glyphs(text: string, env: NodeJS.ProcessEnv = process.env): string {
  return isUtf8Locale(env) ? text : text.replace(SIGNS, (sign) => ASCII[sign] ?? sign);
}
