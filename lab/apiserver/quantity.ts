/** Quantities of resources (`500m`, `1Gi`, `2e3`), exact to a billionth, printed as an API server prints them. */

type Notation = 'decimal' | 'binary' | 'exponent';

export interface Quantity {
  /** Billionths. */
  readonly nano: bigint;
  readonly notation: Notation;
}

const NANO = 1_000_000_000n;
const BINARY = ['', 'Ki', 'Mi', 'Gi', 'Ti', 'Pi', 'Ei'];
const DECIMAL: readonly (readonly [suffix: string, exponent: number])[] = [
  ['n', -9],
  ['u', -6],
  ['m', -3],
  ['', 0],
  ['k', 3],
  ['M', 6],
  ['G', 9],
  ['T', 12],
  ['P', 15],
  ['E', 18],
];

const ZERO: Quantity = { nano: 0n, notation: 'decimal' };

export function parseQuantity(text: string): Quantity | undefined {
  const match = /^([+-]?)(\d*)(?:\.(\d*))?(n|u|m|k|M|G|T|P|E|[KMGTPE]i|[eE][+-]?\d+)?$/.exec(text);
  const [, sign, whole = '', fraction = '', suffix = ''] = match ?? [];
  if (match === null || whole + fraction === '') return undefined;
  const power = BINARY.indexOf(suffix);
  const decimal = DECIMAL.find(([known]) => known === suffix)?.[1];
  const exponent = power > 0 ? 0 : (decimal ?? Number(suffix.slice(1)));
  // The digits without their point, in billionths; a remainder is rounded up, as by a real server.
  const shift = 9 + exponent - fraction.length;
  const factor = power > 0 ? 1024n ** BigInt(power) : 1n;
  const digits = BigInt(whole + fraction) * factor;
  const scale = 10n ** BigInt(Math.abs(shift));
  const nano = shift >= 0 ? digits * scale : (digits + scale - 1n) / scale;
  return { nano: sign === '-' ? -nano : nano, notation: power > 0 ? 'binary' : decimal === undefined ? 'exponent' : 'decimal' };
}

/** As `parseQuantity`, for any value of a field; zero if it is none. */
export function quantityOf(value: unknown): Quantity {
  return (typeof value === 'string' || typeof value === 'number' ? parseQuantity(String(value)) : undefined) ?? ZERO;
}

export function formatQuantity({ nano, notation }: Quantity): string {
  if (nano === 0n) return '0';
  const isWhole = nano % NANO === 0n;
  const size = nano < 0n ? -nano : nano;
  if (notation === 'binary' && isWhole && size >= 1024n * NANO) {
    let value = nano / NANO;
    let power = 0;
    while (power < BINARY.length - 1 && value % 1024n === 0n) {
      value /= 1024n;
      power++;
    }
    return `${value}${BINARY[power] ?? ''}`;
  }
  let value = nano;
  let exponent = -9;
  while (exponent < 18 && value % 1000n === 0n) {
    value /= 1000n;
    exponent += 3;
  }
  if (notation === 'exponent') return exponent === 0 ? String(value) : `${value}e${exponent}`;
  return `${value}${DECIMAL.find(([, known]) => known === exponent)?.[0] ?? ''}`;
}
