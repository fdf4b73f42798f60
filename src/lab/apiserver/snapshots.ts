/** Lists read in chunks: the rest of a list stays as it was when its first chunk was read. */
import type { Json, JsonObject } from './json.ts';
import { isObject, parseJson } from './json.ts';
import type { KubeObject } from './object.ts';
import { badRequest, expired } from './status.ts';

const KEPT = 200;
const LIFETIME_MS = 5 * 60_000;

interface Snapshot {
  readonly revision: number;
  readonly objects: readonly KubeObject[];
  readonly expires: number;
}

export interface Chunk {
  readonly objects: readonly KubeObject[];
  readonly revision: number;
  readonly continueToken: string;
  readonly remaining: number;
}

export class ListSnapshots {
  readonly #kept = new Map<string, Snapshot>();
  #next = 1;

  first(objects: readonly KubeObject[], revision: number, limit: number, now: number): Chunk {
    if (limit <= 0 || objects.length <= limit) return { objects, revision, continueToken: '', remaining: 0 };
    const id = String(this.#next++);
    this.#kept.set(id, { revision, objects, expires: now + LIFETIME_MS });
    while (this.#kept.size > KEPT) this.#kept.delete(this.#kept.keys().next().value ?? '');
    return this.#chunk(id, 0, limit);
  }

  /** @throws ApiError 410 when the list is no longer kept, 400 when the token is none. */
  next(token: string, limit: number, now: number): Chunk {
    const { id, start } = readToken(token);
    const snapshot = this.#kept.get(id);
    if (snapshot === undefined || snapshot.expires < now) {
      this.#kept.delete(id);
      throw expired(
        'The provided continue parameter is too old to display a consistent list result. You can start a new list without the continue parameter.',
      );
    }
    return this.#chunk(id, start, limit <= 0 ? snapshot.objects.length : limit);
  }

  #chunk(id: string, start: number, limit: number): Chunk {
    const snapshot = this.#kept.get(id) as Snapshot;
    const end = Math.min(snapshot.objects.length, start + limit);
    const remaining = snapshot.objects.length - end;
    const continueToken =
      remaining === 0
        ? ''
        : Buffer.from(JSON.stringify({ v: 'meta.k8s.io/v1', rv: snapshot.revision, id, start: end })).toString('base64url');
    return { objects: snapshot.objects.slice(start, end), revision: snapshot.revision, continueToken, remaining };
  }
}

function readToken(token: string): { readonly id: string; readonly start: number } {
  let value: Json;
  try {
    value = parseJson(Buffer.from(token, 'base64url').toString('utf8'));
  } catch {
    value = null;
  }
  const fields: JsonObject = isObject(value) ? value : {};
  const { id, start } = fields;
  if (typeof id !== 'string' || typeof start !== 'number') throw badRequest('continue key is not valid: illegal base64 data or fields');
  return { id, start };
}
