/**
 * An IPv4 or IPv6 address as a number with its family.
 *
 * Text forms: IPv4 is a strict dotted quad (no leading zeros, RFC 6943 section 3.1.1);
 * IPv6 is RFC 4291 section 2.2 without a zone. Output is RFC 5952.
 */

export type Family = 4 | 6;

export interface Address {
  readonly family: Family;
  readonly value: bigint;
}

/** Canonical text of one address: dotted quad, or RFC 5952. */
export type AddressText = string & { readonly __text: 'address' };

/** Number of bits of an address of the family. */
export function bitsOf(family: Family): 32 | 128 {
  return family === 4 ? 32 : 128;
}

/** The address that the text names, or undefined. Leading and trailing blanks are not accepted. */
export function parseAddress(text: string): Address | undefined {
  if (text.includes(':')) {
    const value = parseV6(text);
    return value === undefined ? undefined : { family: 6, value };
  }
  const value = parseV4(text);
  return value === undefined ? undefined : { family: 4, value: BigInt(value) };
}

/** Canonical text of an address. */
export function formatAddress(address: Address): AddressText {
  return address.family === 4 ? formatV4(Number(address.value)) : formatV6(address.value);
}

/** The canonical spelling of an address text, or undefined if it is no address. */
export function canonicalAddress(text: string): AddressText | undefined {
  const address = parseAddress(text);
  return address === undefined ? undefined : formatAddress(address);
}

/**
 * The spelling of an address. Kube-OVN rejects upper-case IPv6 (`upper-case`) and compares any other spelling (`not-canonical`: zero
 * padding, missing or misplaced `::`) as text, which then equals no address.
 */
export function addressSpelling(text: string): 'canonical' | 'upper-case' | 'not-canonical' | 'invalid' {
  const canonical = canonicalAddress(text);
  if (canonical === undefined) return 'invalid';
  if (canonical === text) return 'canonical';
  return /[A-F]/.test(text) ? 'upper-case' : 'not-canonical';
}

/** The rule that the text breaks, or undefined if it is an address. For messages. */
export function addressProblem(text: string): string | undefined {
  if (parseAddress(text) !== undefined) return undefined;
  if (text === '') return 'is empty';
  if (text.trim() !== text) return 'has blanks around it';
  if (text.includes('/')) return 'has a prefix length where a single address is wanted';
  if (text.includes('%')) return 'has a zone, which only means something on one host';
  if (text.includes(':')) return 'is not an IPv6 address (up to eight groups of up to four hex digits, at most one "::")';
  if (/^\d+(\.\d+){3}$/.test(text)) return 'is not an IPv4 address (each of the four numbers is 0 to 255, without leading zeros)';
  return 'is not an IP address';
}

/** As `addressProblem`, for the part that a longer text begins or ends with. Names the part and the rule that it breaks. */
export function partProblem(where: 'begin' | 'end', part: string): string {
  const problem = /^[\d.]+$|:/.test(part) ? addressProblem(part) : undefined;
  return problem === undefined ? `does not ${where} with an IP address` : `${where}s with "${part}", which ${problem}`;
}

export function sameAddress(a: Address, b: Address): boolean {
  return a.family === b.family && a.value === b.value;
}

/** IPv4 before IPv6, then by number. */
export function compareAddresses(a: Address, b: Address): number {
  if (a.family !== b.family) return a.family - b.family;
  return a.value < b.value ? -1 : a.value > b.value ? 1 : 0;
}

/** The address `count` steps further (or back); after the family's last address comes the first. */
export function stepAddress(address: Address, count: bigint): Address {
  return { family: address.family, value: BigInt.asUintN(bitsOf(address.family), address.value + count) };
}

const dot = 46;
const zero = 48;

function parseV4(text: string): number | undefined {
  if (text.length < 7 || text.length > 15) return undefined;
  let value = 0;
  let octet = -1;
  let dots = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === dot) {
      if (octet < 0 || ++dots > 3) return undefined;
      value = value * 256 + octet;
      octet = -1;
      continue;
    }
    const digit = code - zero;
    if (digit < 0 || digit > 9 || octet === 0) return undefined;
    octet = octet < 0 ? digit : octet * 10 + digit;
    if (octet > 255) return undefined;
  }
  return dots === 3 && octet >= 0 ? value * 256 + octet : undefined;
}

const colon = 58;

/** One pass without substrings: at a start each address is parsed several times. */
function parseV6(text: string): bigint | undefined {
  if (text.length < 2 || text.length > 45) return undefined;
  const groups: number[] = [];
  /** Number of groups before `::`. */
  let elidedAt = -1;
  let group = 0;
  let digits = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === colon) {
      const elides = text.charCodeAt(i + 1) === colon;
      // A group ends here, except for `::` at the start of the text.
      if (digits > 0) groups.push(group);
      else if (!elides || i > 0) return undefined;
      if (elides) {
        if (elidedAt >= 0) return undefined;
        elidedAt = groups.length;
        i++;
      } else if (i === text.length - 1) return undefined;
      group = digits = 0;
      continue;
    }
    if (code === dot) {
      // The last 32 bits as a dotted quad.
      const quad = parseV4(text.slice(i - digits));
      if (quad === undefined) return undefined;
      groups.push(Math.floor(quad / 65536));
      group = quad % 65536;
      digits = 4;
      break;
    }
    const digit = hexDigit(code);
    if (digit < 0 || ++digits > 4) return undefined;
    group = group * 16 + digit;
  }
  if (digits > 0) groups.push(group);
  const missing = 8 - groups.length;
  if (elidedAt >= 0 ? missing < 1 : missing !== 0) return undefined;
  const at = (place: number): number => {
    if (elidedAt < 0 || place < elidedAt) return groups[place] ?? 0;
    return place < elidedAt + missing ? 0 : (groups[place - missing] ?? 0);
  };
  const [high, middle, low] = [at(0) * 65536 + at(1), (at(2) * 65536 + at(3)) * 65536 + at(4), (at(5) * 65536 + at(6)) * 65536 + at(7)];
  return (BigInt(high) << 96n) | (BigInt(middle) << 48n) | BigInt(low);
}

function hexDigit(code: number): number {
  if (code >= zero && code <= zero + 9) return code - zero;
  const letter = code | 32;
  return letter >= 97 && letter <= 102 ? letter - 87 : -1;
}

function formatV4(value: number): AddressText {
  return `${(value >>> 24) & 255}.${(value >>> 16) & 255}.${(value >>> 8) & 255}.${value & 255}` as AddressText;
}

function formatV6(value: bigint): AddressText {
  const groups: number[] = [];
  for (let shift = 96n; shift >= 0n; shift -= 32n) {
    const pair = Number(BigInt.asUintN(32, value >> shift));
    groups.push(pair >>> 16, pair & 0xffff);
  }
  // RFC 5952 section 5: the well-known mapped prefix keeps its dotted quad.
  if (value >> 32n === 0xffffn) return `::ffff:${formatV4(Number(value & 0xffffffffn))}` as AddressText;

  let bestStart = -1;
  let bestLength = 1;
  for (let i = 0; i < 8; i++) {
    let length = 0;
    while (groups[i + length] === 0) length++;
    if (length > bestLength) [bestStart, bestLength] = [i, length];
    i += length;
  }
  const hex = groups.map((group) => group.toString(16));
  if (bestStart < 0) return hex.join(':') as AddressText;
  return `${hex.slice(0, bestStart).join(':')}::${hex.slice(bestStart + bestLength).join(':')}` as AddressText;
}
