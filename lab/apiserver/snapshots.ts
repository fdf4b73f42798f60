/** Lists in chunks: later chunks show the list as it was when the first one was read. */
import type { JsonObject } from './json.ts';
import { isObject, parseJson, saidOfJson } from './json.ts';
import type { KubeObject } from './object.ts';
import type { ApiError } from './status.ts';
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

  /**
   * @param namesVersion whether the request also has a resourceVersion @throws ApiError 410 when the list has expired, 400 when the token
   * is invalid.
   */
  next(token: string, limit: number, now: number, namesVersion = false): Chunk {
    const { id, start } = readToken(token);
    if (namesVersion) throw badRequest('specifying resource version is not allowed when using continue');
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
      remaining === 0 ? '' : Buffer.from(JSON.stringify({ v: TOKEN_VERSION, rv: snapshot.revision, id, start: end })).toString('base64url');
    return { objects: snapshot.objects.slice(start, end), revision: snapshot.revision, continueToken, remaining };
  }
}

const TOKEN_VERSION = 'meta.k8s.io/v1';

function readToken(token: string): { readonly id: string; readonly start: number } {
  const { v = '', rv, id, start } = fieldsOf(token);
  if (v !== TOKEN_VERSION) throw unreadable(`server does not recognize this encoded version ${JSON.stringify(v)}`);
  if (rv === 0) throw unreadable(`incorrect encoded start resourceVersion (version ${TOKEN_VERSION})`);
  if (start === undefined || start === '') throw unreadable(`empty encoded start key (version ${TOKEN_VERSION})`);
  // A token of another server: its list does not exist here, so the caller answers 410.
  return { id: typeof id === 'string' ? id : '', start: Number(start) };
}

function fieldsOf(token: string): JsonObject {
  const odd = token.search(/[^-\w]/);
  if (odd >= 0) throw unreadable(`illegal base64 data at input byte ${odd}`);
  const text = Buffer.from(token, 'base64url').toString('utf8');
  try {
    const value = parseJson(text);
    return isObject(value) ? value : {};
  } catch (error) {
    throw unreadable(saidOfJson(error, text));
  }
}

function unreadable(why: string): ApiError {
  return badRequest(`invalid continue token: continue key is not valid: ${why}`);
}
