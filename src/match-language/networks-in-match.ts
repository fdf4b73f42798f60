/** The networks that a match names: addresses with a prefix. OVN silently clears the host bits. */
import { tokensOf } from './token.ts';

/** As written, each once, in the order of the text; none with a mask of another form. */
export function networksInMatch(text: string): readonly string[] {
  const found = new Set<string>();
  for (const token of tokensOf(text)) {
    if (token.kind === 'number' && /\/\d+$/.test(token.text)) found.add(token.text);
  }
  return [...found];
}
