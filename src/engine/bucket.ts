/** Sets of texts by key. Most have one member: that is stored without a Set, which would cost 250 bytes. */

const NOTHING: ReadonlySet<never> = new Set();

export function bucketOf<T extends string>(bucket: T | Set<T> | undefined): ReadonlySet<T> {
  if (bucket === undefined) return NOTHING;
  return typeof bucket === 'string' ? new Set([bucket]) : bucket;
}

export function putInto<T extends string>(buckets: Map<string, T | Set<T>>, key: string, member: T): void {
  const bucket = buckets.get(key);
  if (bucket === undefined) buckets.set(key, member);
  else if (typeof bucket !== 'string') bucket.add(member);
  else if (bucket !== member) buckets.set(key, new Set([bucket, member]));
}

export function takeOut<T extends string>(buckets: Map<string, T | Set<T>>, key: string, member: T): void {
  const bucket = buckets.get(key);
  if (bucket === member) buckets.delete(key);
  if (bucket === undefined || typeof bucket === 'string') return;
  bucket.delete(member);
  if (bucket.size === 0) buckets.delete(key);
}
