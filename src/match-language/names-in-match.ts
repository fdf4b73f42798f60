/** The address sets and port groups that a match names. They need not exist for the match to be valid. */
import { tokensOf } from './token.ts';

export interface NamedInMatch {
  readonly kind: 'address set' | 'port group';
  /** Without `$` or `@`. */
  readonly name: string;
}

/** Each once, in the order of the text. */
export function namesInMatch(text: string): readonly NamedInMatch[] {
  const found = new Map<string, NamedInMatch>();
  for (const token of tokensOf(text)) {
    if (token.kind === 'address set' || token.kind === 'port group') found.set(token.text, { kind: token.kind, name: token.text.slice(1) });
  }
  return [...found.values()];
}
