/** The journal of a process in a simulation: in memory, the last transactions. It survives the process, as files do. */
import type { Journal, JournaledChange, JournalEntry } from '../../../src/journal/journal.ts';
import { NO_JOURNAL } from '../../../src/journal/journal.ts';
import type { Uuid } from '../../../src/ovsdb/index.ts';

/** A transaction may take effect after its process has given it up and sent the next. */
const REMEMBERED = 4;

export class SimulatedJournal {
  readonly #transactions: (readonly JournaledChange[])[] = [];

  readonly journal: Journal = {
    ...NO_JOURNAL,
    isOn: true,
    append: (entries) => {
      this.#take(entries);
      return Promise.resolve(true);
    },
  };

  /** The entries about a row, the latest last. */
  of(uuid: Uuid): readonly JournaledChange[] {
    return this.#transactions.flatMap((changes) => changes.filter((change) => change.uuid === uuid));
  }

  #take(entries: readonly JournalEntry[]): void {
    this.#transactions.push(entries.flatMap((entry) => (entry.kind === 'change' ? [entry] : [])));
    if (this.#transactions.length > REMEMBERED) this.#transactions.shift();
  }
}
