/** The networks to which a match limits the destination. */
import type { Token } from './token.ts';
import { tokensOf } from './token.ts';

/**
 * As written, of the first comparison `ip4.dst == …` or `ip6.dst == …`. Undefined if the match has none, or has parts of which one is enough
 * or that it excludes: it may then concern any destination.
 */
export function destinationsInMatch(text: string): readonly string[] | undefined {
  const tokens = tokensOf(text);
  if (tokens.some((token) => token.kind === 'sign' && (token.text === '||' || token.text === '!'))) return undefined;
  const at = tokens.findIndex((token, i) => token.kind === 'name' && /^ip[46]\.dst$/.test(token.text) && isSign(tokens[i + 1], '=='));
  return at === -1 ? undefined : valuesFrom(tokens, at + 2);
}

function valuesFrom(tokens: readonly Token[], at: number): readonly string[] | undefined {
  const first = tokens[at];
  if (first?.kind === 'number') return [first.text];
  if (!isSign(first, '{')) return undefined;
  const values: string[] = [];
  for (const token of tokens.slice(at + 1)) {
    if (isSign(token, '}')) return values;
    if (isSign(token, ',')) continue;
    if (token.kind !== 'number') return undefined;
    values.push(token.text);
  }
  return undefined;
}

function isSign(token: Token | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text;
}
