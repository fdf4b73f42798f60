/**
 * A server that is a snapshot: the session gets the contents once, from whatever can print a schema and the answer to selects, such as
 * `ovsdb-client` in a pod. Nothing can be written to it, and nothing changes.
 */
import { EventEmitter } from 'node:events';
import { toOvsdbError } from './errors.ts';
import type { Dial, Wire } from './transport.ts';

export interface SnapshotSource {
  /** @returns the schema, as JSON text */
  schema(database: string): Promise<string>;
  /** @returns the results of the operations, as JSON text */
  select(database: string, operations: readonly object[]): Promise<string>;
}

export function snapshotDial(source: SnapshotSource): Dial {
  return (_endpoint, _tls, _timeoutMs, _clock, onOpen) => {
    let cancelled = false;
    queueMicrotask(() => {
      if (!cancelled) onOpen(new SnapshotWire(source));
    });
    return { cancel: () => (cancelled = true) };
  };
}

interface Request {
  readonly id: unknown;
  readonly method?: string;
  readonly params: readonly unknown[];
}

type Requests = Readonly<Record<string, readonly { readonly columns: readonly string[] }[]>>;
type Rows = readonly { readonly rows?: readonly Readonly<Record<string, unknown>>[] }[];

class SnapshotWire extends EventEmitter implements Wire {
  readonly #source: SnapshotSource;
  #closed = false;

  constructor(source: SnapshotSource) {
    super();
    this.#source = source;
  }

  write(text: string): void {
    const request = JSON.parse(text) as Request;
    if (request.method === undefined || request.id === null) return;
    this.#answer(request).then(
      (result) => this.#reply(`{"id":${JSON.stringify(request.id)},"error":null,"result":${result}}`),
      (cause: unknown) => this.#fail(cause),
    );
  }

  pause(): void {}

  resume(): void {}

  destroy(): void {
    if (this.#closed) return;
    this.#closed = true;
    queueMicrotask(() => this.emit('close'));
  }

  /** @returns JSON text; undefined in it: an error */
  async #answer({ id, method, params }: Request): Promise<string> {
    const [database, , requests] = params;
    if (method === 'echo') return JSON.stringify(params);
    if (method === 'get_schema') return await this.#source.schema(String(database));
    // A snapshot has no state of the server, and of the monitors the oldest is enough.
    if (method === 'monitor' && database !== '_Server') return await this.#contents(String(database), requests as Requests);
    this.#reply(JSON.stringify({ id, result: null, error: { error: 'unknown method' } }));
    return await new Promise(() => undefined);
  }

  async #contents(database: string, requests: Requests): Promise<string> {
    const tables = Object.entries(requests);
    const operations = tables.map(([table, parts]) => ({
      ...{ op: 'select', table, where: [] },
      columns: ['_uuid', ...parts.flatMap(({ columns }) => columns)],
    }));
    const results = JSON.parse(await this.#source.select(database, operations)) as Rows;
    const updates = tables.map(([table], at): [string, object] => {
      const rows = results[at]?.rows;
      if (rows === undefined) throw new Error(`there is no answer about table ${table}: ${JSON.stringify(results[at])}`);
      return [
        table,
        Object.fromEntries(rows.map(({ _uuid, ...row }): [string, object] => [String((_uuid as readonly unknown[])[1]), { new: row }])),
      ];
    });
    return JSON.stringify(Object.fromEntries(updates));
  }

  #reply(text: string): void {
    if (!this.#closed) this.emit('data', Buffer.from(text));
  }

  #fail(cause: unknown): void {
    if (!this.#closed) this.emit('error', toOvsdbError(cause, 'OVSDB_CONNECT_FAILED'));
    this.destroy();
  }
}
