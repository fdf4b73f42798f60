/** The few elements of DER (X.690) that a certificate needs. */

export function der(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const body = Buffer.concat(parts);
  if (body.length < 128) return Buffer.concat([Buffer.from([tag, body.length]), body]);
  const length: number[] = [];
  for (let rest = body.length; rest > 0; rest = Math.floor(rest / 256)) length.unshift(rest % 256);
  return Buffer.concat([Buffer.from([tag, 0x80 | length.length, ...length]), body]);
}

export function sequence(...parts: readonly Uint8Array[]): Buffer {
  return der(0x30, ...parts);
}

/** @param dotted such as `2.5.29.17`. */
export function objectIdentifier(dotted: string): Buffer {
  const [first = 0, second = 0, ...rest] = dotted.split('.').map(Number);
  const bytes = [first * 40 + second];
  for (const part of rest) {
    const digits = [part & 127];
    for (let high = part >> 7; high > 0; high >>= 7) digits.unshift((high & 127) | 128);
    bytes.push(...digits);
  }
  return der(0x06, Buffer.from(bytes));
}

/** @param magnitude big-endian bytes of a positive number. */
export function integer(magnitude: Uint8Array): Buffer {
  return der(0x02, (magnitude[0] ?? 0) > 127 ? Buffer.concat([Buffer.from([0]), magnitude]) : magnitude);
}

export function utf8(text: string): Buffer {
  return der(0x0c, Buffer.from(text));
}

/** UTCTime up to the year 2049, GeneralizedTime from then on (RFC 5280 section 4.1.2.5). @param milliseconds since 1970 */
export function time(milliseconds: number): Buffer {
  const digits = new Date(milliseconds).toISOString().slice(0, 19).replace(/[-:T]/g, '');
  return digits < '2050' ? der(0x17, Buffer.from(`${digits.slice(2)}Z`)) : der(0x18, Buffer.from(`${digits}Z`));
}

export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return der(0x03, Buffer.from([unusedBits]), bytes);
}

export function octets(bytes: Uint8Array): Buffer {
  return der(0x04, bytes);
}

export const TRUE = Buffer.from([0x01, 0x01, 0xff]);
