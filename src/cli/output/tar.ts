/** Writes a tar archive (POSIX.1-1988 "ustar", pax(1)) of text files. */

export interface TarMember {
  /** At most 100 bytes. */
  readonly path: string;
  readonly text: string;
}

const BLOCK = 512;
/** Offset and length of a header's fields. */
const FIELDS = { name: [0, 100], mode: [100, 8], uid: [108, 8], gid: [116, 8], size: [124, 12], mtime: [136, 12], sum: [148, 8] } as const;
const TYPE_AT = 156;
const MAGIC_AT = 257;

/** @param now milliseconds since the epoch: the modification time of the members */
export function tarOf(members: readonly TarMember[], now: number): Buffer {
  const parts = members.flatMap(({ path, text }) => {
    const content = Buffer.from(text, 'utf8');
    return [headerOf(path, content.length, now), content, Buffer.alloc((BLOCK - (content.length % BLOCK)) % BLOCK)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * BLOCK)]);
}

/** @throws RangeError for a path that is too long */
function headerOf(path: string, size: number, now: number): Buffer {
  const header = Buffer.alloc(BLOCK);
  const name = Buffer.from(path, 'utf8');
  if (name.length > FIELDS.name[1]) throw new RangeError(`the path ${path} is too long for an archive: at most ${FIELDS.name[1]} bytes`);
  name.copy(header);
  const octal = (field: keyof typeof FIELDS, value: number): void => {
    const [at, length] = FIELDS[field];
    header.write(`${value.toString(8).padStart(length - 1, '0')}\0`, at, 'latin1');
  };
  octal('mode', 0o644);
  octal('uid', 0);
  octal('gid', 0);
  octal('size', size);
  octal('mtime', Math.floor(now / 1_000));
  header.write('0', TYPE_AT, 'latin1');
  header.write('ustar\u000000', MAGIC_AT, 'latin1');
  // The checksum counts its own field as blanks.
  header.fill(' ', FIELDS.sum[0], FIELDS.sum[0] + FIELDS.sum[1]);
  const sum = header.reduce((total, byte) => total + byte, 0);
  header.write(`${sum.toString(8).padStart(6, '0')}\0 `, FIELDS.sum[0], 'latin1');
  return header;
}
