/** Growth of typed arrays used as table columns: by half while small, then by a quarter, to waste little memory. */

const smallest = 16;
const large = 65_536;

export function grownInt32(column: Int32Array<ArrayBuffer>, length: number): Int32Array<ArrayBuffer> {
  return new Int32Array(column.buffer.transfer(4 * enlarged(column.length, length)));
}

export function grownFloat64(column: Float64Array<ArrayBuffer>, length: number): Float64Array<ArrayBuffer> {
  return new Float64Array(column.buffer.transfer(8 * enlarged(column.length, length)));
}

export function grownUint8(column: Uint8Array<ArrayBuffer>, length: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(column.buffer.transfer(enlarged(column.length, length)));
}

function enlarged(current: number, needed: number): number {
  return Math.max(smallest, needed, current + (current >>> (current < large ? 1 : 2)));
}
