/**
 * Whether all that takes long is wanted (`npm run test:long`): every scenario on every API server and OVN, many histories and lives. Without
 * it, a share of them that ends in time.
 */
export const LONG_RUN = process.env['TEST_LONG'] === '1';

/** One of `shares` of what has names, always the same for a name, whatever else there is. */
export function isInShare(name: string, shares: number): boolean {
  // FNV-1a: names that differ in a letter are far apart.
  let hash = 0x811c9dc5;
  for (const byte of Buffer.from(name)) hash = Math.imul(hash ^ byte, 0x01000193) >>> 0;
  return ((hash ^ (hash >>> 15)) >>> 0) % shares === 0;
}
