/**
 * Commands that users may paste into a shell. `commandText` is the only way to make one: the template is Kiln's own text, and each value in
 * it becomes one argument, each item of a list likewise.
 */
import { isVisible } from './visible-text.ts';

/** Text that a shell reads unchanged, without quotes. */
const BARE = /^(?!=)[A-Za-z0-9_./:=@%+,-]+$/;
/** No object has a longer name, nor a label a longer key and value. */
const LONGEST = 512;
/** Placeholder for a value that is left out: names of objects have no capital letters. */
const LEFT_OUT = 'NAME';

type Argument = string | number | bigint | readonly (string | number | bigint)[];

/**
 * A value directly after a character of the template continues that argument: `--replicas=${count}`.
 * A value that looks like a flag, is empty, or has invisible characters is left out: the placeholder is `NAME`.
 */
export function commandText(texts: TemplateStringsArray, ...values: readonly Argument[]): string {
  return texts.reduce((before, text, index) => {
    const value = values[index - 1] ?? '';
    const all = typeof value === 'object' ? value : [value];
    const standsAlone = /(^|\s)$/.test(before);
    const quoted = all.map((one) => argument(String(one), standsAlone && typeof value !== 'object')).join(' ');
    return `${quoted === '' && standsAlone ? before.trimEnd() : `${before}${quoted}`}${text}`;
  });
}

function argument(text: string, standsAlone: boolean): string {
  if (text === '' || text.length > LONGEST || (standsAlone && text.startsWith('-')) || !isVisible(text)) return LEFT_OUT;
  return BARE.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`;
}

/** A name for a list of arguments, in which an item that begins with a dash is an intended flag. */
export function nameArgument(name: string): string {
  return name.startsWith('-') ? LEFT_OUT : name;
}

/** The flag for a namespace; nothing for a cluster-scoped object. */
export function inNamespace(namespace: string): readonly string[] {
  return namespace === '' ? [] : ['-n', nameArgument(namespace)];
}

/** Verbs and flags that are accepted: they read, retry or fix the object itself. Another program may have written the condition. */
const PROGRAMS: Readonly<Record<string, ReadonlySet<string>>> = {
  kubectl: new Set(['get', 'describe', 'edit', 'delete', 'auth', 'annotate', 'label', 'scale']),
  kiln: new Set(['explain', 'status', 'diff', 'delete', 'reserve', 'release']),
  'ovn-nbctl': new Set(['list', 'remove', 'show']),
};
const FLAGS =
  /^(-n|-A|-l|-o|-w|--all|--all-namespaces|--cascade|--dry-run=(client|server)|--as|--subresource|--replicas=\d+|--namespace|--selector|-o=?(yaml|json|wide|name))$/;

/**
 * The command at the end of a message, if Kiln could have written it. A message may quote tenants, so a command is accepted only if it has
 * no shell syntax, and no flag that reads files or contacts other servers.
 */
export function commandAtEnd(sentence: string): string | undefined {
  for (const { index, 0: mark } of sentence.matchAll(/;\s*(?=(?:kubectl|kiln) )|: (?=ovn-nbctl |kubectl (?:edit|get) |kiln explain )/g)) {
    const text = sentence.slice(index + mark.length).replace(/ \(and [^)]*\)$/, '');
    if (isOffered(text)) return text;
  }
  return undefined;
}

const WORD = /(?:[A-Za-z0-9_./:=@%+,-]+|'[^']*'|\\')+/y;

/** @returns whether a shell runs exactly one program with these arguments, and it is one of those above */
function isOffered(text: string): boolean {
  if (!isVisible(text)) return false;
  const words: string[] = [];
  for (let at = 0; at < text.length;) {
    WORD.lastIndex = at;
    const [word = ''] = WORD.exec(text) ?? [];
    // With a full stop or a comma it is a sentence.
    if (word === '' || /[.,:]$/.test(word)) return false;
    words.push(word);
    at += word.length;
    if (at < text.length && text[at] !== ' ') return false;
    at++;
  }
  const [program = '', verb = '', ...rest] = words;
  return PROGRAMS[program]?.has(verb) === true && rest.every((word) => !/^['\\]*-/.test(word) || FLAGS.test(word));
}
