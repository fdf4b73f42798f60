/** Networks that a match names: addresses with a prefix. OVN clears the bits beyond it without a word. */
import { tokensOf } from './token.ts';

/** As written, each once, in the order of the text. One with a mask of another form is none. */
export function networksInMatch(text: string): readonly string[] {
  const found = new Set<string>();
  for (const token of tokensOf(text)) {
    if (token.kind === 'number' && /\/\d+$/.test(token.text)) found.add(token.text);
  }
  return [...found];
}
