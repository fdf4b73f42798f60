/**
 * Only the leader writes: it holds the Lease when it sends a request or a transaction, a transaction of an older term fails at its fence,
 * and a process that received a newer term takes another one or stops. Read from the Lease in the store and from transactions.
 */
import { CONTROLLER_LEASE } from '../../../src/api/well-known.ts';
import type { KubeRequest } from '../../../src/kube/transport/transport.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import { TERM_KEY } from '../../../src/nb/ownership.ts';
import type { SimulatedDatabase } from '../../../src/ovsdb/simulated/database.ts';
import type { SimulatedController } from '../cluster/simulated-controller.ts';
import type { Check, Transacted } from './check.ts';
import { mapOf } from './observed-state.ts';

/** The longest time in which a process reacts to what it has received. */
const AT_ONCE_MS = 20;
/** The longest time for which its earlier messages may be under way. */
const UNDER_WAY_MS = 500;

export class Leadership implements Check {
  readonly #store: ObjectStore;
  readonly #database: SimulatedDatabase;
  readonly #now: () => number;
  /** Processes whose last transaction had an older term than the current one, and since when they know it. */
  readonly #deposed = new Map<string, number | undefined>();

  /** @param now virtual time, milliseconds */
  constructor(store: ObjectStore, database: SimulatedDatabase, now: () => number) {
    this.#store = store;
    this.#database = database;
    this.#now = now;
  }

  process(name: string, what: 'started' | 'leads' | 'failed'): void {
    if (what !== 'failed') this.#deposed.delete(name);
    else if (this.#deposed.has(name)) this.#deposed.set(name, this.#deposed.get(name) ?? this.#now());
  }

  sending({ name, identity, clock }: SimulatedController, request: KubeRequest | undefined): readonly string[] {
    if (request !== undefined && (request.method === 'GET' || request.path.includes('/leases'))) return [];
    // After sleep a process cannot know of the new leader before the fence has failed one of its transactions: until then nothing can keep
    // it from other writes.
    if (clock.overslept && this.#now() - (this.#deposed.get(name) ?? Infinity) < AT_ONCE_MS) return [];
    const leader = leaderOf(this.#store);
    return leader === identity ? [] : [`was sent while ${leader === '' ? 'no process' : leader} leads`];
  }

  transacted({ process, execution: { ok, results }, operations }: Transacted): readonly string[] {
    const { own, comment, term } = this.#termsOf(operations);
    if (ok || own >= term) return [];
    if (!this.#deposed.has(process)) this.#deposed.set(process, undefined);
    const informedAt = this.#deposed.get(process);
    const failed = results.findIndex((result) => typeof result === 'object' && result !== null && 'error' in result);
    const isPast = failed >= 0 && (operations[failed] as { readonly table?: string }).table !== 'NB_Global';
    return [
      ...(informedAt !== undefined && this.#now() - informedAt >= UNDER_WAY_MS
        ? ['continues with an old term, although it received the newer one']
        : []),
      ...(isPast ? [`transaction "${comment}" passed its fence although the current term is ${term}`] : []),
    ];
  }

  /** The term of a transaction, from its comment, and the current one. */
  #termsOf(operations: readonly unknown[]): { readonly own: number; readonly comment: string; readonly term: number } {
    const [global] = this.#database.rows('NB_Global');
    const term = Number(mapOf(global?.[1]['external_ids']).get(TERM_KEY));
    const comment = (operations as readonly { readonly comment?: string }[]).flatMap((one) => one.comment ?? [])[0] ?? '';
    return { own: Number(/^kiln: term (\d+), /.exec(comment)?.[1]), comment, term };
  }
}

/** The identity of the leader in the Lease; empty for none. */
function leaderOf(store: ObjectStore): string {
  const lease = store.get('leases', `kube-system/${CONTROLLER_LEASE}`);
  return ((lease?.['spec'] ?? {}) as { readonly holderIdentity?: string }).holderIdentity ?? '';
}
