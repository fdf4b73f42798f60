/** The API for a caller in the same process: the same verbs on the same store as over HTTPS, as function calls. For simulations. */
import { ADMINISTRATOR } from './authorization/user.ts';
import { asRead, asSent } from './exchanged.ts';
import type { Json } from './json.ts';
import { ObjectList } from './reply.ts';
import { parseTarget } from './request.ts';
import type { RequestMessage, ResourceTarget } from './request.ts';
import type { ResourceRequest } from './resource-handler.ts';
import { ResourceHandler } from './resource-handler.ts';
import type { LabApi } from './server.ts';
import { ListSnapshots } from './snapshots.ts';
import { ApiError } from './status.ts';
import { watchOptionsOf } from './watch-request.ts';
import type { WatchSink } from './watch-stream.ts';
import { WatchStream } from './watch-stream.ts';

export interface ApiCall {
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly body?: object;
  readonly contentType?: string;
}

const NO_QUERY = new URLSearchParams();

export class InProcessApi {
  readonly #api: LabApi;
  readonly #resources: ResourceHandler;
  /** By path: a caller uses the same few paths again and again. */
  readonly #targets = new Map<string, ResourceTarget | undefined>();
  /** Each watch with its table. */
  readonly #watches = new Map<WatchStream, string>();

  constructor(api: LabApi) {
    this.#api = api;
    this.#resources = new ResourceHandler(api.operations, new ListSnapshots(), { isConfigured: false, admit: () => Promise.resolve([]) });
  }

  /** @returns objects of the store, which the caller must not change, with integers beyond 2^53 as bigint @throws ApiError */
  async request(call: ApiCall): Promise<{ readonly status: number; readonly body: unknown }> {
    const { status, body } = await this.#resources.handle(this.#requestOf(call));
    return { status, body: body instanceof ObjectList ? { ...body.head, items: body.items.map(asRead) } : asRead(body) };
  }

  /** @throws ApiError when the watch cannot start; @returns ends the watch */
  watch(call: ApiCall, sink: WatchSink): WatchStream {
    const request = this.#requestOf(call);
    const watch = new WatchStream(this.#api.operations, sink, { ...watchOptionsOf(request), fault: () => undefined });
    this.#watches.set(watch, request.definition.table);
    watch.start(() => this.#watches.delete(watch));
    return watch;
  }

  /** @param path with or without its query @returns undefined for a path that names no resource */
  targetOf(path: string): ResourceTarget | undefined {
    const at = path.indexOf('?');
    const whole = at < 0 ? path : path.slice(0, at);
    let target = this.#targets.get(whole);
    if (target === undefined) this.#targets.set(whole, (target = parseTarget(whole)));
    return target;
  }

  /** Sends every watch a bookmark with the current revision. */
  bookmarks(): void {
    for (const watch of [...this.#watches.keys()]) watch.bookmark();
  }

  /** Ends the watches of a table, or all of them: their clients reconnect. */
  endWatches(table?: string): void {
    for (const [watch, of] of [...this.#watches]) if (table === undefined || of === table) watch.end();
  }

  #requestOf({ method, path, body, contentType = 'application/json' }: ApiCall): ResourceRequest {
    const at = path.indexOf('?');
    const target = this.targetOf(path);
    const definition = target === undefined ? undefined : this.#api.registry.find(target.group, target.version, target.plural);
    if (target === undefined || definition === undefined)
      throw new ApiError(404, 'NotFound', 'the server could not find the requested resource', {});
    const message = new WholeMessage(method, contentType, body === undefined ? {} : asSent(body));
    return { definition, target, query: at < 0 ? NO_QUERY : new URLSearchParams(path.slice(at)), message, user: ADMINISTRATOR };
  }
}

/** A request with a parsed body. */
class WholeMessage implements RequestMessage {
  readonly method: string;
  readonly headers: RequestMessage['headers'];
  readonly whole: Json;

  constructor(method: string, contentType: string, whole: Json) {
    this.method = method;
    this.headers = { accept: 'application/json', 'content-type': contentType };
    this.whole = whole;
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<never> {}
}
