/** The part of etcd's JSON gateway (/v3) that is needed to fill it. */

/** Operations of a transaction; etcd's default limit is 128. */
const BATCH = 100;

export interface Stored {
  readonly key: string;
  readonly value: string;
}

/** Puts all entries, in concurrent batches. @param url for clients of etcd */
export async function putAll(url: string, entries: readonly Stored[]): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < entries.length) {
      const batch = entries.slice(next, (next += BATCH));
      const success = batch.map(({ key, value }) => ({ requestPut: { key: base64(key), value: base64(value) } }));
      await post(url, '/v3/kv/txn', { success });
    }
  };
  await Promise.all(Array.from({ length: 8 }, worker));
}

/** The newest revision at which anything under a prefix was written. */
export async function newestRevision(url: string, prefix: string): Promise<string> {
  const found = await post(url, '/v3/kv/range', {
    key: base64(prefix),
    range_end: base64(after(prefix)),
    limit: 1,
    sort_order: 'DESCEND',
    sort_target: 'MOD',
    keys_only: true,
  });
  const { kvs = [] } = found as { readonly kvs?: readonly { readonly mod_revision: string }[] };
  return kvs[0]?.mod_revision ?? '0';
}

async function post(url: string, path: string, body: object): Promise<unknown> {
  const response = await fetch(url + path, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`etcd answered ${response.status} to ${path}: ${text}`);
  return JSON.parse(text);
}

/** The first key after all keys with a prefix. */
function after(prefix: string): string {
  return prefix.slice(0, -1) + String.fromCharCode(prefix.charCodeAt(prefix.length - 1) + 1);
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}
