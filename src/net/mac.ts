/**
 * Unicast 48-bit MAC addresses, always lower case with colons: MACs of OVN rows and annotations are compared as text, and for Kube-OVN
 * `AA:..` and `aa:..` are two.
 */

/** Canonical text of a unicast MAC: `0a:00:00:00:00:01`. */
export type Mac = string & { readonly __text: 'mac' };

/** Fast path for canonical unicast MACs other than the all-zero one, as nearly all are: the second digit is even. */
const usual = /^(?!00:00:00:00:00:00)[0-9a-f][02468ace](?::[0-9a-f]{2}){5}$/;
const spellings = [/^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/i, /^[0-9a-f]{2}(?:-[0-9a-f]{2}){5}$/i, /^[0-9a-f]{4}(?:\.[0-9a-f]{4}){2}$/i];

/** The MAC of a text (colons, dashes, or three dotted groups); undefined for another text, a multicast MAC, or the all-zero one. */
export function parseMac(text: string): Mac | undefined {
  if (usual.test(text)) return text as Mac;
  return macProblem(text) === undefined ? canonical(text) : undefined;
}

/** The rule that the text breaks, or undefined if an interface may have this MAC. For messages. */
export function macProblem(text: string): string | undefined {
  if (!spellings.some((spelling) => spelling.test(text))) return 'is not a MAC address (six bytes in hex, as in 0a:00:00:00:00:01)';
  const mac = canonical(text);
  if (Number.parseInt(mac.slice(0, 2), 16) & 1) return 'is a multicast MAC address; an interface needs a unicast one';
  if (mac === '00:00:00:00:00:00') return 'is the all-zero MAC address, which no interface may have';
  return undefined;
}

/**
 * A locally administered unicast MAC from six bytes of a hash or of randomness: the first becomes (b | 2) & 0xfe,
 * as Kube-OVN and IEEE 802c do. Throws RangeError on fewer than six bytes.
 */
export function macFromBytes(bytes: Uint8Array): Mac {
  const first = bytes[0];
  if (first === undefined || bytes.length < 6) throw new RangeError(`a MAC needs six bytes, got ${bytes.length}`);
  const octets = [(first | 2) & 0xfe, ...bytes.subarray(1, 6)];
  return octets.map(hexOctet).join(':') as Mac;
}

const [digit0, colon, letterA] = [48, 58, 97];

/** The 48 bits as one number, below 2^48. */
export function macToNumber(mac: Mac): number {
  let value = 0;
  for (let at = 0; at < mac.length; at++) {
    const code = mac.charCodeAt(at);
    if (code !== colon) value = value * 16 + (code < letterA ? code - digit0 : code - letterA + 10);
  }
  return value;
}

/** The reverse of `macToNumber`. */
export function macFromNumber(value: number): Mac {
  const hex = value.toString(16).padStart(12, '0');
  return withColons(hex);
}

function canonical(text: string): Mac {
  return withColons(text.toLowerCase().replaceAll(/[:.-]/g, ''));
}

function withColons(hex: string): Mac {
  return `${hex.slice(0, 2)}:${hex.slice(2, 4)}:${hex.slice(4, 6)}:${hex.slice(6, 8)}:${hex.slice(8, 10)}:${hex.slice(10, 12)}` as Mac;
}

function hexOctet(octet: number): string {
  return octet.toString(16).padStart(2, '0');
}
