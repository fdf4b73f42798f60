/** One write as one line of a log: a CRC-32 in eight hex digits, a space, and the write as JSON. */
import { crc32 } from 'node:zlib';
import { parseJson } from '../json.ts';
import type { KubeObject } from '../object.ts';
import { encodeObject } from '../object.ts';

/** `removed`: the object was deleted, and `object` is its last state. */
export interface StoredWrite {
  readonly table: string;
  readonly key: string;
  readonly revision: number;
  readonly removed: boolean;
  readonly object: KubeObject;
}

interface Line {
  readonly r: number;
  readonly t: string;
  readonly k: string;
  readonly d?: true;
  readonly o: KubeObject;
}

const CHECKSUM_DIGITS = 8;

export function encodeWrite({ table, key, revision, removed, object }: StoredWrite): Buffer {
  const head = `{"r":${revision},"t":${JSON.stringify(table)},"k":${JSON.stringify(key)},${removed ? '"d":true,' : ''}"o":`;
  const body = Buffer.from(`${head}${encodeObject(object)}}\n`);
  return Buffer.concat([Buffer.from(`${checksum(body.subarray(0, -1))} `), body]);
}

/** `intact`: the number of bytes from the start that are complete lines with a correct checksum. */
export interface DecodedLog {
  readonly writes: readonly StoredWrite[];
  readonly intact: number;
}

/** Reads lines up to the first damaged or incomplete one. */
export function decodeLog(bytes: Buffer): DecodedLog {
  const writes: StoredWrite[] = [];
  let start = 0;
  for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
    const write = decodeLine(bytes.subarray(start, end));
    if (write === undefined) break;
    writes.push(write);
    start = end + 1;
  }
  return { writes, intact: start };
}

function decodeLine(line: Buffer): StoredWrite | undefined {
  const body = line.subarray(CHECKSUM_DIGITS + 1);
  if (line.toString('latin1', 0, CHECKSUM_DIGITS) !== checksum(body)) return undefined;
  const { r, t, k, d, o } = parseJson(body.toString('utf8')) as unknown as Line;
  return { table: t, key: k, revision: r, removed: d === true, object: o };
}

function checksum(bytes: Buffer): string {
  return crc32(bytes).toString(16).padStart(CHECKSUM_DIGITS, '0');
}
