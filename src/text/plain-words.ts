/**
 * Texts of other programs and of manifests pass word by word: a word in the form of prose, of a name or of an
 * address stays; of any other word, quotation or document the length stays. So a text is kept for what it is, not
 * for what it is not known to be.
 */

export function withheld(text: string): string {
  return `[text of ${text.length} characters]`;
}

const LONGEST = 253;
const LONGEST_SYMBOL = 4;
const WORD = /\[text of \d{1,9} characters\]|[^\s"'`(),;<>{}]+/g;
const OWN = /^\[text of \d{1,9} characters\]$/;
/** Between the parts of a name, an address or a path. */
const BETWEEN = /[./:_|$#~*?!&^…·\\[\]-]+/;
const AROUND = /^[^\p{L}\p{N}]+|[^\p{L}\p{N}]+$/gu;
const DOCUMENT = /[[{]\s*\\?"[\s\S]*["}\]]/;
const PARTS: readonly RegExp[] = [
  /^\p{L}{1,32}$/u,
  /^\d{1,20}$/,
  // Of an object's name or a UID: `7d9f8b6c5`, `v1beta1`. A token has longer ones.
  /^[a-z0-9]{1,15}$/,
  // `IPv4`, `TLSv1`, `SHA256`.
  /^[A-Z][A-Za-z]{0,20}\d{1,4}$/,
  // Of a date, also one in the name of a file.
  /^(?:\d{2}|\d{8})T\d{2,9}Z?$|^\d{2,9}Z$/,
];

/** Whether the word has the form of prose, a name, a number, an address or a path. */
export function isPlainWord(word: string): boolean {
  return word.length <= LONGEST && word.split(BETWEEN).every((part) => part === '' || PARTS.some((form) => form.test(part)));
}

/** @param isPlain of a word without the punctuation around it */
export function withPlainWords(text: string, isPlain: (word: string) => boolean = isPlainWord): string {
  const prose = withPlainQuotes(text, (quoted) => OWN.test(quoted) || isPlain(quoted)).replace(DOCUMENT, withheld);
  return prose.replace(WORD, (word) => {
    const inner = word.replace(AROUND, '');
    const stays = inner === '' ? word.length <= LONGEST_SYMBOL : OWN.test(word) || isPlain(inner);
    return stays ? word : withheld(word);
  });
}

/**
 * A quoted text may itself contain quotation marks: so everything is withheld from the first quotation that may not
 * stay to the last quotation mark of the message.
 */
function withPlainQuotes(message: string, isPlain: (quoted: string) => boolean): string {
  const parts = message.split('"');
  const first = parts.findIndex((part, at) => at % 2 === 1 && (at === parts.length - 1 || !isPlain(part)));
  if (first === -1) return message;
  // An odd number of quotation marks: the last text was truncated, or contains one.
  const last = parts.length % 2 === 0 ? parts.length : parts.length - 1;
  const hidden = withheld(parts.slice(first, last).join('"'));
  const after = last < parts.length ? `"${parts.slice(last).join('"')}` : '"';
  return `${parts.slice(0, first).join('"')}"${hidden}${after}`;
}
