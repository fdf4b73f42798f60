/**
 * Commands that a person is offered for pasting into a shell. `commandText` is the only way to make one: what stands in the template is Kiln's,
 * and every value in it becomes one argument, or one argument each of a list.
 */
import { isVisible } from './visible-text.ts';

/** What a shell takes as it is, in front of nothing and behind nothing. */
const BARE = /^(?!=)[A-Za-z0-9_./:=@%+,-]+$/;
/** No object has a longer name, nor a label a longer key and value. */
const LONGEST = 512;
/** Stands for what could not be put in: no object of any kind has capital letters in its name. */
const LEFT_OUT = 'NAME';

type Argument = string | number | bigint | readonly (string | number | bigint)[];

/**
 * A value right behind a letter or sign of the template is the rest of that argument: `--replicas=${count}`.
 * One that a program would read as a flag, that is empty, or in which not every character is seen, is not put in: `NAME` stands there.
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

/** A name for a list of arguments: in a list, what begins with a dash is a flag on purpose. */
export function nameArgument(name: string): string {
  return name.startsWith('-') ? LEFT_OUT : name;
}

/** The flag that names a namespace; nothing for an object of the cluster. */
export function inNamespace(namespace: string): readonly string[] {
  return namespace === '' ? [] : ['-n', nameArgument(namespace)];
}

/** Words and flags that only look, ask again or mend what the object itself says; anything may have put a sentence with others into a condition. */
const PROGRAMS: Readonly<Record<string, ReadonlySet<string>>> = {
  kubectl: new Set(['get', 'describe', 'edit', 'delete', 'auth', 'annotate', 'label', 'scale']),
  kiln: new Set(['explain', 'status', 'diff', 'delete', 'reserve', 'release']),
  'ovn-nbctl': new Set(['remove', 'show']),
};
const FLAGS =
  /^(-n|-A|-l|-o|-w|--all|--all-namespaces|--cascade|--dry-run=(client|server)|--as|--subresource|--replicas=\d+|--namespace|--selector|-o=?(yaml|json|wide|name))$/;

/**
 * The command that ends a sentence, where it is one that Kiln would offer. A sentence may quote what tenants wrote, so a command is found
 * only where nothing of it means anything to a shell, and it has no flag that reads files or calls other servers.
 */
export function commandAtEnd(sentence: string): string | undefined {
  for (const { index, 0: mark } of sentence.matchAll(/;\s*(?=(?:kubectl|kiln) )|: (?=ovn-nbctl )/g)) {
    const text = sentence.slice(index + mark.length).replace(/ \(and [^)]*\)$/, '');
    if (isOffered(text)) return text;
  }
  return undefined;
}

const WORD = /(?:[A-Za-z0-9_./:=@%+,-]+|'[^']*'|\\')+/y;

/** @returns whether a shell runs one program with these arguments and nothing else, and it is one of those above */
function isOffered(text: string): boolean {
  if (!isVisible(text)) return false;
  const words: string[] = [];
  for (let at = 0; at < text.length;) {
    WORD.lastIndex = at;
    const [word = ''] = WORD.exec(text) ?? [];
    if (word === '') return false;
    words.push(word);
    at += word.length;
    if (at < text.length && text[at] !== ' ') return false;
    at++;
  }
  const [program = '', verb = '', ...rest] = words;
  return PROGRAMS[program]?.has(verb) === true && rest.every((word) => !/^['\\]*-/.test(word) || FLAGS.test(word));
}
