/** Constants of OVN's match language: decimal and hexadecimal numbers, Ethernet, IPv4 and IPv6 addresses, each with an optional mask. */
import { parseAddress } from '../net/address.ts';

export type NumberFormat = 'decimal' | 'hexadecimal' | 'ethernet' | 'IPv4' | 'IPv6';

export interface NumberConstant {
  readonly format: NumberFormat;
  readonly value: bigint;
  /** Undefined without a mask. */
  readonly mask: bigint | undefined;
}

export type ReadNumber = { readonly ok: true; readonly constant: NumberConstant } | { readonly ok: false; readonly problem: string };

const LARGEST_DECIMAL = 2n ** 64n - 1n;
const LARGEST_HEXADECIMAL = 2n ** 128n - 1n;
const ETHERNET = /^[0-9a-f]{2}(:[0-9a-f]{2}){5}$/i;

/** The end of the digits that begin at an index. A colon after a dot is not part of them: `10.0.0.1:80`. */
export function endOfNumber(text: string, start: number): number {
  let end = start;
  let dotted = false;
  for (; end < text.length; end++) {
    const char = text[end] as string;
    if (char === '.' && text[end + 1] !== '.') dotted = true;
    else if (!/[0-9a-z]/i.test(char) && !(char === ':' && !dotted)) break;
  }
  return end;
}

/** @param text one constant without mask */
function readNumber(text: string): ReadNumber {
  const is = (format: NumberFormat, value: bigint): ReadNumber => ({ ok: true, constant: { format, value, mask: undefined } });
  const no = (problem: string): ReadNumber => ({ ok: false, problem });
  if (text === '') return no('expected a number or an address');
  if (ETHERNET.test(text)) return is('ethernet', BigInt(`0x${text.replaceAll(':', '')}`));
  if (/^\d+$/.test(text)) {
    if (text.length > 1 && text.startsWith('0')) return no('a decimal number must not have leading zeros');
    const value = BigInt(text);
    return value > LARGEST_DECIMAL ? no('a decimal number must be less than 2^64') : is('decimal', value);
  }
  if (/^0x/i.test(text)) {
    if (!/^0x[0-9a-f]+$/i.test(text)) return no('expected hexadecimal digits after 0x');
    const value = BigInt(text);
    return value > LARGEST_HEXADECIMAL ? no('a hexadecimal number must have at most 128 bits') : is('hexadecimal', value);
  }
  const address = parseAddress(text);
  return address === undefined ? no('neither a number nor an address') : is(address.family === 4 ? 'IPv4' : 'IPv6', address.value);
}

/** @param mask the text after the slash */
export function readConstant(text: string, mask: string | undefined): ReadNumber {
  const read = readNumber(text);
  if (!read.ok || mask === undefined) return read;
  const under = readNumber(mask);
  if (!under.ok) return under;
  const { format, value } = read.constant;
  const bits = maskOf(read.constant, under.constant);
  if (bits === undefined) return { ok: false, problem: 'value and mask must have the same format' };
  return { ok: true, constant: { format: format === 'decimal' ? under.constant.format : format, value: value & bits, mask: bits } };
}

function maskOf(of: NumberConstant, mask: NumberConstant): bigint | undefined {
  if (of.format === mask.format) return mask.value;
  if (of.format === 'IPv4' && mask.format === 'decimal') return prefixMask(32n, mask.value);
  if (of.format === 'IPv6' && mask.format === 'decimal') return prefixMask(128n, mask.value);
  return of.format === 'decimal' && mask.format === 'hexadecimal' && of.value === 0n ? mask.value : undefined;
}

function prefixMask(width: bigint, prefix: bigint): bigint | undefined {
  return prefix > width ? undefined : ((1n << prefix) - 1n) << (width - prefix);
}

/** The minimum width of a field for this constant, in bits. */
export function widthOf({ format, value, mask }: NumberConstant): number {
  if (mask !== undefined) return bitsIn(mask);
  return { decimal: bitsIn(value), hexadecimal: bitsIn(value), IPv4: 32, IPv6: 128, ethernet: 48 }[format];
}

function bitsIn(value: bigint): number {
  return value === 0n ? 0 : value.toString(2).length;
}
