/** Box and mark characters: unchanged in a UTF-8 locale, replaced by ASCII elsewhere, since the terminal would show other characters. */

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

/** The first variable with a value decides (POSIX, "Environment Variables"); without one it is the C locale, which is ASCII. */
export function isUtf8Locale({ LC_ALL, LC_CTYPE, LANG }: NodeJS.ProcessEnv): boolean {
  return /utf-?8/i.test([LC_ALL, LC_CTYPE, LANG].find((value) => value !== undefined && value !== '') ?? '');
}

/** Formats text of Kiln for this process's terminal. Not for output that programs read. */
export function glyphs(text: string, env: NodeJS.ProcessEnv = process.env): string {
  return isUtf8Locale(env) ? text : text.replace(SIGNS, (sign) => ASCII[sign] ?? sign);
}
