import type { Operations } from './operations.ts';
import type { ResourceRegistry } from './registry.ts';
import type { StoreEvent } from './store.ts';

/**
 * A controller within the server that follows the server's own store. Each event adds keys; each key is reconciled once, after the current
 * request. Subclasses add the keys of objects that exist at the start.
 */
export abstract class StoreController {
  protected readonly operations: Operations;
  protected readonly registry: ResourceRegistry;
  readonly #pending = new Set<string>();
  readonly #unwatch: () => void;

  constructor(operations: Operations, registry: ResourceRegistry) {
    this.operations = operations;
    this.registry = registry;
    this.#unwatch = operations.store.watchAll((event) => this.onEvent(event));
  }

  stop(): void {
    this.#unwatch();
  }

  protected enqueue(key: string): void {
    if (this.#pending.has(key)) return;
    this.#pending.add(key);
    this.operations.environment.schedule(() => {
      this.#pending.delete(key);
      this.reconcile(key);
    });
  }

  /** Enqueues the keys that an event concerns. */
  protected abstract onEvent(event: StoreEvent): void;

  protected abstract reconcile(key: string): void;
}
