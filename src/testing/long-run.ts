/**
 * Whether the long tests run (`npm run test:long`): every scenario on every API server and OVN, many random histories. Otherwise a share of
 * them that ends within the time limit.
 */
export const LONG_RUN = process.env['TEST_LONG'] === '1';

/** Whether a name is in one of `shares` equal shares, independent of all other names. */
export function isInShare(name: string, shares: number): boolean {
  // FNV-1a: names that differ in one letter get very different hashes.
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return ((hash ^ (hash >>> 15)) >>> 0) % shares === 0;
}
