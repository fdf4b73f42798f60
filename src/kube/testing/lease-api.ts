import type { Lease } from '../leader/lease.ts';
import type { Exchange, ScriptedApi } from './scripted-api.ts';

/** Answers requests for one Lease as an API server does, with faults on demand. */
export class LeaseApi {
  lease: Lease | undefined;
  /** If it returns true, it has answered the exchange instead. */
  fault: ((exchange: Exchange) => boolean) | undefined;
  /** Number of successful writes of the Lease. */
  writes = 0;
  #version = 1;
  readonly #faulty: Exchange[] = [];

  constructor(api: ScriptedApi) {
    api.handler = (exchange) => {
      if (this.fault?.(exchange) === true) this.#faulty.push(exchange);
      else this.#answer(exchange);
    };
  }

  /** Requests that a fault left without an answer. */
  get hanging(): number {
    return this.#faulty.filter(({ answered, closed }) => !answered && !closed).length;
  }

  /** Changes the Lease as another program would. */
  set(spec: NonNullable<Lease['spec']>, annotations = this.lease?.metadata.annotations ?? {}): void {
    this.#version++;
    this.lease = { metadata: { name: 'l', namespace: 'ns', uid: 'lease-uid', resourceVersion: String(this.#version), annotations }, spec };
  }

  #answer(exchange: Exchange): void {
    if (exchange.method === 'GET') {
      if (this.lease === undefined) exchange.status(404, 'NotFound', 'leases "l" not found');
      else exchange.json(this.lease);
      return;
    }
    const wanted = exchange.body as Lease;
    if (exchange.method === 'POST' ? this.lease !== undefined : wanted.metadata.resourceVersion !== this.lease?.metadata.resourceVersion) {
      exchange.status(409, exchange.method === 'POST' ? 'AlreadyExists' : 'Conflict', 'changed meanwhile');
      return;
    }
    this.writes++;
    this.set(wanted.spec ?? {}, wanted.metadata.annotations ?? {});
    exchange.json(this.lease);
  }
}
