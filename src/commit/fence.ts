/**
 * The fence: the leader's term in NB_Global.external_ids. Every transaction waits for it (`wait`), so a process that lost the Lease and
 * does not know it yet cannot change a row.
 */
import { TERM_KEY } from '../nb/ownership.ts';
import type { Operation, OvsdbError, OvsdbSession, Row, TransactOutcome } from '../ovsdb/index.ts';
import { type Gate, GateKeeper } from '../timing/gate.ts';
import { includes, insert, mapSet, waitFor, waitForRow } from '../ovsdb/index.ts';

export type FenceState =
  | { readonly kind: 'held'; readonly term: number }
  /** The key is missing or older: another program changed the map. */
  | { readonly kind: 'lost' }
  /** Another process has led since. */
  | { readonly kind: 'deposed'; readonly term: number };

/**
 * Most failures in a row of the guard although the replica fulfils it and no update arrives: a race with another writer is over by then.
 */
const MOST_CONTRADICTIONS = 3;

export class Fence {
  readonly #session: OvsdbSession;
  readonly #onFailed: (error: OvsdbError) => void;
  #term: number | undefined;
  readonly #raised = new GateKeeper('term');
  /** The highest term that this process has seen: another program may remove the key. */
  #highest = 0;
  /** The row whose guard failed although the replica fulfils it, and how often in a row. */
  #contradicted: { readonly row: Row; readonly times: number } | undefined;

  /** @param onFailed called with the reason when the server rejects a new term; not when another program wrote first */
  constructor(session: OvsdbSession, onFailed: (error: OvsdbError) => void = () => undefined) {
    this.#session = session;
    this.#onFailed = onFailed;
    session.onChanges((changes) => {
      for (const { table, kind, row } of changes)
        if (table === 'NB_Global' && kind !== 'delete') this.#highest = Math.max(this.#highest, termOf(row) ?? 0);
    });
  }

  get term(): number | undefined {
    return this.#term;
  }

  /** Open while this process has a term. */
  get raised(): Gate {
    return this.#raised.gate;
  }

  /** Forgets the term: no transaction can be built until the next `raise`. */
  drop(): void {
    this.#term = undefined;
    this.#raised.close();
  }

  /**
   * Takes the next term. Call it only while this process certainly holds the Lease and the replica is synced.
   * @param gains the Lease's `leaseTransitions` when it was acquired: there were at least as many terms, even if the key was removed
   * @returns false: another program changed the key meanwhile, or the server did not answer; try again
   */
  async raise(gains: number): Promise<boolean> {
    const row = this.#global();
    const before = row === undefined ? undefined : termOf(row);
    const next = Math.max(before ?? 0, this.#highest, gains) + 1;
    if (row === undefined) {
      const made = await this.#session.transact([insert('NB_Global', { external_ids: { [TERM_KEY]: String(next) } })], {
        comment: `kiln: term ${next}`,
      });
      return this.#concluded(made, next);
    }
    return this.#write(row, before, next);
  }

  /** Writes the own term again after another program removed it; never if this process has ever seen a newer one. */
  async restore(): Promise<boolean> {
    const row = this.#global();
    if (row === undefined || this.#term === undefined || this.#highest > this.#term) return false;
    return this.#write(row, termOf(row), this.#term);
  }

  /** The state of the fence by all that the replica has shown: a newer term deposes this process also after another program removed it. */
  state(): FenceState {
    const row = this.#global();
    const seen = row === undefined ? undefined : termOf(row);
    if (this.#term === undefined) return { kind: 'lost' };
    if (this.#highest > this.#term) return { kind: 'deposed', term: this.#highest };
    return seen === this.#term ? { kind: 'held', term: seen } : { kind: 'lost' };
  }

  /** Whether this process has a term, and NB_Global a row. */
  get isRaised(): boolean {
    return this.#term !== undefined && this.#global() !== undefined;
  }

  /** The first operations of every transaction; undefined: there is no term, or no row of NB_Global. */
  guards(): readonly Operation[] | undefined {
    const row = this.#global();
    if (row === undefined || this.#term === undefined) return undefined;
    return [waitForRow('NB_Global', row._uuid, [includes('external_ids', { [TERM_KEY]: String(this.#term) })])];
  }

  async #write(row: Row, seen: number | undefined, term: number): Promise<boolean> {
    const unchanged =
      seen === undefined
        ? waitForAbsent(row)
        : waitForRow('NB_Global', row._uuid, [includes('external_ids', { [TERM_KEY]: String(seen) })]);
    const outcome = await this.#session.transact(
      [unchanged, mapSet('NB_Global', row._uuid, 'external_ids', { [TERM_KEY]: String(term) })],
      {
        comment: `kiln: term ${term}`,
      },
    );
    if (!outcome.ok && outcome.error.outcome === 'rejected' && outcome.error.operation?.op === 'wait') this.#contradict(row);
    else this.#contradicted = undefined;
    return this.#concluded(outcome, term);
  }

  /** The guard failed: another program wrote first and its update will arrive, or the server does not send updates. */
  #contradict(row: Row): void {
    const times = this.#contradicted?.row === row ? this.#contradicted.times + 1 : 1;
    this.#contradicted = { row, times };
    if (times < MOST_CONTRADICTIONS) return;
    this.#contradicted = undefined;
    this.#session.abandonServer(`the term in NB_Global is not the one that the replica has, ${times} times in a row`);
  }

  #concluded(outcome: TransactOutcome, term: number): boolean {
    if (outcome.ok) this.#take(term);
    else if (outcome.error.outcome === 'rejected' && outcome.error.operation?.op !== 'wait') this.#onFailed(outcome.error);
    return outcome.ok;
  }

  #take(term: number): void {
    this.#term = term;
    this.#highest = Math.max(this.#highest, term);
    this.#raised.open();
  }

  #global(): Row | undefined {
    for (const row of this.#session.replica.table('NB_Global').values()) return row;
    return undefined;
  }
}

/** A condition cannot test that a map lacks a key: the guard compares the whole map. */
function waitForAbsent(row: Row): Operation {
  return waitFor('NB_Global', row._uuid, [{ external_ids: new Map(row.external_ids as ReadonlyMap<string, string>) }]);
}

function termOf(row: Row): number | undefined {
  const map = row.external_ids;
  const text: unknown = map instanceof Map ? map.get(TERM_KEY) : undefined;
  const term = Number(text);
  // Only the exact text that Kiln writes counts: the guards compare it as text.
  return Number.isSafeInteger(term) && String(term) === text ? term : undefined;
}
