/** One watch: the events of a resource as lines of JSON, encoded once for all watchers. */
import { asRead } from './exchanged.ts';
import type { WatchFault } from './faults/fault.ts';
import type { JsonObject } from './json.ts';
import type { KubeObject } from './object.ts';
import { encodeObject } from './object.ts';
import type { Operations } from './operations.ts';
import type { ResourceDefinition } from './resource.ts';
import { apiVersionOf } from './resource.ts';
import type { Selector } from './selectors.ts';
import { expired } from './status.ts';
import type { StoreEvent } from './store.ts';
import type { Presentation } from './table.ts';
import { partialMetadata, table } from './table.ts';

/** The target of a watch; Node's `ServerResponse` fits. */
export interface WatchSink {
  /** For a reader in the same process: gets each line as an object, instead of `write` with its text. The object is read-only. */
  take?(line: WatchLine): void;
  readonly writableLength: number;
  writeHead(status: number, headers: Readonly<Record<string, string>>): unknown;
  flushHeaders(): void;
  on(event: 'close' | 'error', listener: () => void): unknown;
  write(line: Buffer | string): unknown;
  end(): unknown;
  destroy(): unknown;
}

export interface WatchLine {
  readonly type: string;
  readonly object: unknown;
}

export interface WatchOptions {
  readonly definition: ResourceDefinition;
  readonly namespace: string;
  readonly matches: Selector;
  /** Undefined: start with the present objects as ADDED events. */
  readonly after: number | undefined;
  readonly presentation: Presentation;
  readonly bookmarks: boolean;
  /** Mark the end of the initial events with a bookmark. */
  readonly markInitialEnd: boolean;
  readonly timeoutMs: number;
  /** The fault for the next line. */
  readonly fault: (isBookmark: boolean) => WatchFault | undefined;
}

/** A watcher with this much unread data is disconnected, as by any API server. */
const MAX_BUFFERED_BYTES = 64 * 1024 * 1024;

const encodedEvents = new WeakMap<JsonObject, Map<string, Buffer>>();

function encodeEvent(type: string, object: JsonObject): Buffer {
  let byType = encodedEvents.get(object);
  if (byType === undefined) encodedEvents.set(object, (byType = new Map<string, Buffer>()));
  let bytes = byType.get(type);
  if (bytes === undefined) byType.set(type, (bytes = Buffer.from(`{"type":"${type}","object":${encodeObject(object)}}\n`)));
  return bytes;
}

export class WatchStream {
  readonly #options: WatchOptions;
  readonly #operations: Operations;
  readonly #response: WatchSink;
  #stop: (() => void) | undefined;
  #cancelTimer = (): void => {};
  #columnsSent = false;
  #ended = false;
  #isStalled = false;

  constructor(operations: Operations, response: WatchSink, options: WatchOptions) {
    this.#operations = operations;
    this.#response = response;
    this.#options = options;
  }

  /** @param onEnd runs once, when the watch ends for any reason. */
  start(onEnd: () => void): void {
    const { store } = this.#operations;
    const { after, definition, namespace, matches, timeoutMs } = this.#options;
    this.#response.writeHead(200, { 'Content-Type': 'application/json', 'Cache-Control': 'no-cache, private' });
    this.#response.flushHeaders();
    this.#response.on('close', () => {
      this.#release();
      onEnd();
    });
    this.#response.on('error', () => this.end());
    const since = after ?? store.revision;
    if (after === undefined) {
      for (const object of store.list(definition.table, namespace)) {
        const shown = this.#operations.toView(definition, object);
        if (matches(shown)) this.#send('ADDED', shown);
      }
      if (this.#options.markInitialEnd) this.#bookmark({ 'k8s.io/initial-events-end': 'true' });
    }
    this.#stop = store.watch(definition.table, since, (event) => {
      if (event.revision > since) this.#onEvent(event);
    });
    if (this.#stop === undefined) {
      this.#expire(since);
      return;
    }
    if (this.#ended) this.#release();
    else this.#cancelTimer = this.#operations.environment.after(timeoutMs, () => this.#finish());
  }

  /** Sends a bookmark with the current revision, if the watcher requested bookmarks. */
  bookmark(): void {
    if (this.#options.bookmarks) this.#bookmark(undefined);
  }

  end(): void {
    this.#ended = true;
    this.#release();
    this.#response.end();
  }

  #expire(since: number): void {
    const status = expired(`too old resource version: ${since} (${this.#operations.store.revision})`).toStatus();
    this.#put('ERROR', status);
    this.end();
  }

  #finish(): void {
    this.bookmark();
    this.end();
  }

  #release(): void {
    this.#stop?.();
    this.#stop = undefined;
    this.#cancelTimer();
  }

  #onEvent(event: StoreEvent): void {
    const { definition, namespace, matches } = this.#options;
    if (namespace !== '' && event.object.metadata.namespace !== namespace) return;
    const object = this.#operations.toView(definition, event.object);
    const before = event.previous !== undefined && matches(this.#operations.toView(definition, event.previous));
    if (event.type === 'DELETED') {
      if (before) this.#send('DELETED', object);
    } else if (matches(object)) this.#send(before ? 'MODIFIED' : 'ADDED', object);
    else if (before && event.previous !== undefined) {
      const last = this.#operations.toView(definition, event.previous);
      this.#send('DELETED', { ...last, metadata: { ...last.metadata, resourceVersion: object.metadata.resourceVersion } });
    }
  }

  #send(type: string, object: KubeObject): void {
    const { presentation } = this.#options;
    if (presentation.kind === 'Object') this.#write(type, object);
    else this.#write(type, presentation.kind === 'Table' ? this.#tableOf(object) : partialMetadata(object, presentation.version));
  }

  #tableOf(object: KubeObject): JsonObject {
    const presentation = this.#options.presentation as Extract<Presentation, { kind: 'Table' }>;
    const withColumns = !this.#columnsSent;
    this.#columnsSent = true;
    return table(
      this.#options.definition,
      [object],
      presentation,
      { resourceVersion: object.metadata.resourceVersion },
      this.#operations.environment.now(),
      withColumns,
    );
  }

  #bookmark(annotations: JsonObject | undefined): void {
    const { definition, presentation } = this.#options;
    const metadata = {
      resourceVersion: String(this.#operations.store.revision),
      creationTimestamp: null,
      ...(annotations === undefined ? {} : { annotations }),
    };
    const typeMeta =
      presentation.kind === 'Object'
        ? { kind: definition.kind, apiVersion: apiVersionOf(definition) }
        : { kind: presentation.kind, apiVersion: `meta.k8s.io/${presentation.version}` };
    const object =
      presentation.kind === 'Table'
        ? { ...typeMeta, metadata: { resourceVersion: metadata.resourceVersion }, columnDefinitions: null, rows: [] }
        : { ...typeMeta, metadata };
    this.#write('BOOKMARK', object);
  }

  #write(type: string, object: JsonObject): void {
    if (this.#ended || this.#isStalled) return;
    switch (this.#options.fault(type === 'BOOKMARK')) {
      case 'drop-event':
        return;
      case 'repeat-event':
        this.#put(type, object);
        break;
      case 'garble-event': {
        const line = encodeEvent(type, object);
        this.#response.write(`${line.toString().slice(0, line.length / 2)}\n`);
        return;
      }
      case 'close-watch':
        this.end();
        return;
      case 'expire-watch':
        this.#expire(0);
        return;
      case 'stall-watch':
        this.#isStalled = true;
        return;
      default:
    }
    this.#put(type, object);
    if (this.#response.writableLength > MAX_BUFFERED_BYTES) {
      this.#ended = true;
      this.#response.destroy();
    }
  }

  #put(type: string, object: JsonObject): void {
    if (this.#response.take === undefined) this.#response.write(encodeEvent(type, object));
    else this.#response.take({ type, object: asRead(object) });
  }
}
