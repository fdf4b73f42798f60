/**
 * The way of every transaction into the journal. While the journal cannot be written, deletions and the adoption of Kube-OVN's rows wait:
 * what they take, nothing else has. Inserts go on, and so do overwrites of Kiln's own rows, since the objects say what the rows shall be;
 * these are counted.
 */
import type { Journal, JournaledChange, JournaledOutcome } from '../journal/journal.ts';
import type { RowId } from '../nb/row-id.ts';
import type { TransactOutcome } from '../ovsdb/index.ts';
import { GateKeeper } from '../timing/gate.ts';
import type { ChangeSources } from './journaled-changes.ts';
import { journaledChanges, mayGoUnjournaled } from './journaled-changes.ts';
import type { Part } from './transaction.ts';

export interface JournalGateOptions {
  readonly journal: Journal;
  readonly sources: ChangeSources;
  readonly term: () => number | undefined;
  readonly wallTime: () => number;
  /** Monotonic milliseconds. */
  readonly now: () => number;
  /** Compares a row again that had to wait for the journal. */
  readonly again: (id: RowId) => void;
  readonly wake: () => void;
}

/** What a transaction takes. */
export interface Taken {
  readonly tx: string;
  readonly changes: readonly JournaledChange[];
}

export class JournalGate {
  readonly #options: JournalGateOptions;
  readonly #withheld = new Set<RowId>();
  /** Open while the journal can be written. */
  readonly #writable = new GateKeeper('journal');
  #sequence = 0;
  #spentMs = 0;

  constructor(options: JournalGateOptions) {
    this.#options = options;
    const { journal } = options;
    const look = (): void => this.#writable.set(journal.failure === undefined);
    journal.onState(look);
    look();
  }

  readonly #reopened = (): void => {
    const { again, wake } = this.#options;
    for (const id of this.#withheld) again(id);
    this.#withheld.clear();
    wake();
  };

  /** Number of rows that wait until the journal can be written. */
  get withheld(): number {
    return this.#withheld.size;
  }

  /** Time for which transactions waited for the journal, in milliseconds. */
  get spentMs(): number {
    return this.#spentMs;
  }

  /** Whether it may be sent now. If not, it is compared again when the journal can be written. */
  admits(part: Part): boolean {
    const { journal, sources } = this.#options;
    if (!journal.isOn || this.#writable.gate.passes(this.#reopened) || mayGoUnjournaled(part, sources)) return true;
    this.#withheld.add(part.id);
    return false;
  }

  /** What the transaction takes; undefined if there is nothing to write before it is sent. */
  takenBy(parts: readonly Part[]): Taken | undefined {
    const { journal, sources, term, now } = this.#options;
    if (!journal.isOn) return undefined;
    const began = now();
    const tx = `${term() ?? 0}.${this.#sequence + 1}`;
    const changes = journaledChanges(tx, parts, sources);
    this.#spentMs += now() - began;
    if (changes.length === 0) return undefined;
    if (journal.failure === undefined) {
      this.#sequence++;
      return { tx, changes };
    }
    journal.missed(changes.length);
    return undefined;
  }

  /**
   * Begins to write. The transaction is made ready meanwhile, and then waits for `written`.
   * @returns false if it could not be written: the transaction must not be sent
   */
  write({ tx, changes }: Taken): Promise<boolean> {
    const { journal, now } = this.#options;
    const began = now();
    const writing = journal.append([{ kind: 'transaction', tx, at: this.#now(), changes: changes.length }, ...changes]);
    this.#spentMs += now() - began;
    return writing;
  }

  /** Waits for what `write` began. */
  async written(writing: Promise<boolean>): Promise<boolean> {
    const { now } = this.#options;
    const began = now();
    const written = await writing;
    this.#spentMs += now() - began;
    return written;
  }

  ended({ tx }: Taken, result: TransactOutcome | 'unsent'): void {
    this.#options.journal.note(outcomeEntry(tx, result, this.#now()));
  }

  #now(): string {
    return new Date(this.#options.wallTime()).toISOString();
  }
}

export function outcomeEntry(tx: string, result: TransactOutcome | 'unsent', at: string): JournaledOutcome {
  const entry = { kind: 'outcome', tx, at } as const;
  if (result === 'unsent') return { ...entry, outcome: 'unsent' };
  if (result.ok) return { ...entry, outcome: 'committed' };
  const { outcome, message } = result.error;
  return { ...entry, outcome: outcome === 'rejected' ? 'rejected' : 'unknown', error: message };
}
