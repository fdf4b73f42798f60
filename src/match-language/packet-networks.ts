/** The networks to which a match limits the source and the destination of a packet. */
import type { Token } from './token.ts';
import { tokensOf } from './token.ts';

export interface PacketNetworks {
  /** Undefined for both. */
  readonly family: 4 | 6 | undefined;
  /** As written; undefined for any. */
  readonly sources: readonly string[] | undefined;
  readonly destinations: readonly string[] | undefined;
  /** The match takes every packet of these networks. Without it: some of them, or none. */
  readonly isWhole: boolean;
}

const ANY: PacketNetworks = { family: undefined, sources: undefined, destinations: undefined, isWhole: false };

/** Of a match that is more than terms with `&&` between them nothing is known. */
export function packetNetworks(text: string): PacketNetworks {
  const tokens = tokensOf(text).filter(({ kind }) => kind !== 'end');
  if (tokens.some(({ kind, text: sign }) => kind === 'error' || (kind === 'sign' && ['||', '!', '(', ')'].includes(sign)))) return ANY;
  let found: PacketNetworks = { ...ANY, isWhole: tokens.length > 0 };
  for (const term of termsOf(tokens)) found = limited(found, term);
  return found;
}

function termsOf(tokens: readonly Token[]): readonly (readonly Token[])[] {
  const terms: Token[][] = [[]];
  for (const token of tokens) {
    if (isSign(token, '&&')) terms.push([]);
    else terms.at(-1)?.push(token);
  }
  return terms;
}

function limited(found: PacketNetworks, term: readonly Token[]): PacketNetworks {
  const [field, sign, ...values] = term;
  const family = /^ip([46])(\.(src|dst))?$/.exec(field?.kind === 'name' ? field.text : '');
  if (field?.text === 'ip' && term.length === 1) return found;
  if (family === null) return { ...found, isWhole: false };
  const of = { ...found, family: family[1] === '4' ? (4 as const) : (6 as const) };
  if (family[3] === undefined) return term.length === 1 ? of : { ...of, isWhole: false };
  const side = family[3] === 'src' ? 'sources' : 'destinations';
  const networks = isSign(sign, '==') ? numbersIn(values) : undefined;
  return networks === undefined || found[side] !== undefined ? { ...of, isWhole: false } : { ...of, [side]: networks };
}

/** One number, or several in braces. */
function numbersIn(values: readonly Token[]): readonly string[] | undefined {
  const isList = isSign(values[0], '{') && isSign(values.at(-1), '}');
  const items = isList ? values.slice(1, -1).filter((token) => !isSign(token, ',')) : values.length === 1 ? values : [];
  return items.length > 0 && items.every(({ kind }) => kind === 'number') ? items.map(({ text }) => text) : undefined;
}

function isSign(token: Token | undefined, text: string): boolean {
  return token?.kind === 'sign' && token.text === text;
}
