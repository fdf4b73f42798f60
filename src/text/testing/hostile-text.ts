/** Texts that attack their reader, or a shell into which they are pasted. */
import fc from 'fast-check';

/** One character of each kind that must be escaped. */
export const HOSTILE_PIECES: readonly string[] = [
  '\n',
  '\r',
  '\t',
  '\0',
  '\u0007',
  '\b',
  '\u001b[2J\u001b[H',
  '\u001b]0;owned\u0007',
  '\u001b]8;;http://example.com\u001b\\link\u001b]8;;\u001b\\',
  '\u001b[31m',
  '\u001b[39m',
  '\u007f',
  '\u0085',
  '\u009b31m',
  '\u009d0;owned\u009c',
  '\u00ad',
  '\u034f',
  '\u061c',
  '\u115f',
  '\u180e',
  '\u200b',
  '\u200d',
  '\u200e',
  '\u200f',
  '\u2028',
  '\u2029',
  '\u202a',
  '\u202e',
  '\u2060',
  '\u2066',
  '\u2069',
  '\u3164',
  '\ufe0f',
  '\ufeff',
  '\uffa0',
  '\ufff9',
  '\ud800',
  '\udc00',
  '\ue000',
  '\uffff',
  '\u{e0001}',
  '\u{e0100}',
  '\u{f0000}',
  `e${'\u0301'.repeat(12)}`,
];

/** Texts with a special meaning in a shell, a message or a format. */
export const MEANINGFUL_PIECES: readonly string[] = [
  '; touch owned',
  '$(touch owned)',
  '`touch owned`',
  '| touch owned',
  '&& touch owned',
  '\ntouch owned\n',
  "'; touch owned; '",
  '"; touch owned; "',
  "'\\''; touch owned",
  '> owned',
  '< /dev/zero',
  '~',
  '*',
  '{a,b}',
  '!!',
  '#',
  '\\',
  '$HOME',
  '${IFS}',
  ' ',
  '--kubeconfig=owned',
  '-o',
  '=touch',
  '; kubectl delete namespace prod',
  "; kubectl get x '",
  '"; kubectl get pods; touch owned',
  ': ovn-nbctl remove a b; touch owned',
  'web',
  'a.b-c',
  'ä漢字',
  '😀',
];

/** Random names and messages of both. */
export function hostileText(): fc.Arbitrary<string> {
  const piece = fc.oneof(
    fc.constantFrom(...HOSTILE_PIECES),
    fc.constantFrom(...MEANINGFUL_PIECES),
    fc.string({ unit: 'binary', maxLength: 6 }),
  );
  return fc.array(piece, { minLength: 1, maxLength: 6 }).map((pieces) => pieces.join(''));
}

/** Independent of the tables of the tested code: every character above is given by its number. */
export function unseenIn(text: string): string | undefined {
  for (const character of text) {
    const point = character.codePointAt(0) ?? 0;
    const between = (low: number, high: number): boolean => point >= low && point <= high;
    if (
      between(0, 0x1f) ||
      between(0x7f, 0x9f) ||
      [0xad, 0x34f, 0x61c, 0x115f, 0x1160, 0x3164, 0xfeff, 0xffa0].includes(point) ||
      between(0x180b, 0x180f) ||
      between(0x200b, 0x200f) ||
      between(0x2028, 0x202e) ||
      between(0x2060, 0x206f) ||
      between(0xfe00, 0xfe0f) ||
      between(0xfff0, 0xfffb) ||
      between(0xfffe, 0xffff) ||
      between(0xd800, 0xdfff) ||
      between(0xe000, 0xf8ff) ||
      between(0xe0000, 0xe0fff) ||
      between(0xf0000, 0x10ffff)
    )
      return `U+${point.toString(16)} in ${JSON.stringify(text)}`;
  }
  return undefined;
}
