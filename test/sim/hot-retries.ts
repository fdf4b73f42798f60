/**
 * What failed is not sent again at once, time after time: a server that is overloaded, or a cache that is behind, is not helped by that. Held against
 * requests and answers alone. Who is told meanwhile that the object is another by now may try at once.
 */
import type { KubeRequest } from '../../src/kube/transport.ts';
import { stringifyJson } from '../../src/kube/json.ts';

/** Longer than an answer is under way, and much less than any pause in the product. */
const AT_ONCE_MS = 8;
/** Once or twice it may be that something else is wanted of the object just then. */
const MOST = 3;

interface Failed {
  readonly at: number;
  readonly body: string;
  /** Of the object that the request names, when it failed. */
  readonly version: string;
  /** How often in a row it was sent at once after it had failed. */
  hot: number;
}

export class HotRetries {
  readonly #now: () => number;
  readonly #versionOf: (path: string) => string;
  /** By process, method and path. */
  readonly #failed = new Map<string, Failed>();

  /** @param now milliseconds */
  constructor(now: () => number, versionOf: (path: string) => string) {
    this.#now = now;
    this.#versionOf = versionOf;
  }

  /** @param process of this start. @returns what is wrong, as the rest of a sentence */
  sent(process: string, request: KubeRequest): string | undefined {
    const key = keyOf(process, request);
    const last = this.#failed.get(key);
    if (last === undefined) return undefined;
    if (this.#now() - last.at >= AT_ONCE_MS || last.version !== this.#versionOf(request.path) || last.body !== bodyOf(request)) {
      this.#failed.delete(key);
      return undefined;
    }
    return ++last.hot >= MOST ? `was sent ${last.hot} times at once after the same had failed` : undefined;
  }

  failed(process: string, request: KubeRequest): void {
    const { method, path } = request;
    // Who leads is asked for by the clock, and Events are told otherwise.
    if (method === 'GET' || /\/(leases|events)\b/.test(path)) return;
    const key = keyOf(process, request);
    this.#failed.set(key, {
      ...{ at: this.#now(), body: bodyOf(request), version: this.#versionOf(path) },
      hot: this.#failed.get(key)?.hot ?? 0,
    });
  }
}

function keyOf(process: string, { method, path }: KubeRequest): string {
  return `${process} ${method} ${path}`;
}

function bodyOf({ body }: KubeRequest): string {
  return body === undefined ? '' : stringifyJson(body);
}
