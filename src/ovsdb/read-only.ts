/** A connection over which nothing can be changed: each message is looked at before it is sent. */
import { OvsdbError } from './errors.ts';
import type { Dial, Wire } from './transport.ts';

const METHODS: ReadonlySet<unknown> = new Set([
  ...['echo', 'list_dbs', 'get_schema', 'get_server_id', 'set_db_change_aware'],
  ...['monitor', 'monitor_cond', 'monitor_cond_since', 'monitor_cond_change', 'monitor_cancel'],
]);
const OPERATIONS: ReadonlySet<unknown> = new Set(['select', 'wait', 'comment', 'assert', 'abort']);

/** Whether a transaction of these operations changes nothing. */
export function onlyReads(operations: readonly { readonly op: string }[]): boolean {
  return operations.every(({ op }) => OPERATIONS.has(op));
}

export function readOnlyError(what: string): OvsdbError {
  return new OvsdbError('OVSDB_READ_ONLY', `the session only reads: ${what} was not sent`, { outcome: 'not-sent' });
}

export function readOnlyDial(dial: Dial): Dial {
  return (endpoint, tls, timeoutMs, clock, onOpen, onFailed) =>
    dial(endpoint, tls, timeoutMs, clock, (wire) => onOpen(new ReadOnlyWire(wire)), onFailed);
}

class ReadOnlyWire implements Wire {
  readonly send?: (message: object) => void;
  readonly #wire: Wire;

  constructor(wire: Wire) {
    this.#wire = wire;
    if (wire.send !== undefined)
      this.send = (message) => {
        check(message);
        wire.send?.(message);
      };
  }

  on(event: 'data' | 'message' | 'error' | 'close', listener: (value: never) => void): unknown {
    return this.#wire.on(event as 'message', listener as (value: unknown) => void);
  }

  once(event: 'close', listener: () => void): unknown {
    return this.#wire.once(event, listener);
  }

  /** @throws OvsdbError OVSDB_READ_ONLY */
  write(text: string): unknown {
    check(JSON.parse(text) as object);
    return this.#wire.write(text);
  }

  pause(): unknown {
    return this.#wire.pause();
  }

  resume(): unknown {
    return this.#wire.resume();
  }

  destroy(): unknown {
    return this.#wire.destroy();
  }
}

/** An answer has no method. */
function check(message: { readonly method?: unknown; readonly params?: unknown }): void {
  const { method, params } = message;
  if (method === undefined || METHODS.has(method)) return;
  const operations = Array.isArray(params) ? (params.slice(1) as readonly { readonly op: string }[]) : [];
  if (method === 'transact' && operations.length > 0 && onlyReads(operations)) return;
  throw readOnlyError(method === 'transact' ? 'a transaction that changes rows' : `request ${String(method)}`);
}
