/** Faults that wait for a match: each is used up by the next request, transaction or event that it fits. */
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import type { ApiFaults, RequestFate } from './api-transport.ts';

/** Which requests a fault applies to. */
export type RequestSort = 'write' | 'read' | 'lease';

export interface ApiFault {
  readonly sort: RequestSort;
  readonly fate: 'too-many' | 'unavailable' | 'error-after' | 'lost-after' | 'conflict' | 'gone';
  /** Requests of that sort that pass before the fault applies. */
  readonly after: number;
  /** How many requests it applies to. */
  readonly times: number;
}

/** `reject`: the transaction fails as a whole, for a reason of the server's own. */
export type TransactionFault = 'lose-request' | 'lose-reply' | 'reject';

interface Armed {
  readonly fault: ApiFault;
  skip: number;
  left: number;
}

const FATES: Readonly<Record<ApiFault['fate'], RequestFate>> = {
  'too-many': { kind: 'reject', status: 429, retryAfterSeconds: 1 },
  unavailable: { kind: 'reject', status: 503 },
  gone: { kind: 'reject', status: 410 },
  'error-after': { kind: 'fail-after', status: 500 },
  'lost-after': { kind: 'fail-after', status: 0 },
  conflict: { kind: 'conflict' },
};

const EXECUTE: RequestFate = { kind: 'execute' };

export class ArmedFaults implements ApiFaults {
  #armed: Armed[] = [];
  #transactions: TransactionFault[] = [];
  readonly #delays = new Map<string, number>();
  readonly #repeats = new Map<string, number>();
  /** A write took effect, and its sender got an error or no answer. */
  repliesLost = false;

  arm(fault: ApiFault): void {
    this.#armed.push({ fault, skip: fault.after, left: fault.times });
  }

  armTransaction(fault: TransactionFault): void {
    this.#transactions.push(fault);
  }

  /** Delays events of a kind from now on, so that they come after those of other kinds. */
  delay(plural: string, ms: number): void {
    if (ms === 0) this.#delays.delete(plural);
    else this.#delays.set(plural, ms);
  }

  repeat(plural: string, times: number): void {
    this.#repeats.set(plural, times);
  }

  /** Ends all faults. */
  clear(): void {
    this.#armed = [];
    this.#transactions = [];
    this.#delays.clear();
    this.#repeats.clear();
  }

  fate(request: KubeRequest): RequestFate {
    if (this.#armed.length === 0) return EXECUTE;
    const sort: RequestSort = request.path.includes('/leases') ? 'lease' : request.method === 'GET' ? 'read' : 'write';
    const armed = this.#armed.find(({ fault }) => fault.sort === sort && (fault.fate !== 'gone' || request.path.includes('watch=true')));
    if (armed === undefined) return EXECUTE;
    if (armed.skip > 0) {
      armed.skip--;
      return EXECUTE;
    }
    armed.left--;
    if (armed.left <= 0) this.#armed.splice(this.#armed.indexOf(armed), 1);
    const fate = FATES[armed.fault.fate];
    if (fate.kind === 'fail-after' && sort === 'write') this.repliesLost = true;
    return fate;
  }

  transactionFate(): 'execute' | TransactionFault {
    return this.#transactions.shift() ?? 'execute';
  }

  watchDelay(plural: string): number {
    return this.#delays.get(plural) ?? 0;
  }

  repeats(plural: string): boolean {
    const left = this.#repeats.get(plural) ?? 0;
    if (left === 0) return false;
    this.#repeats.set(plural, left - 1);
    return true;
  }
}
