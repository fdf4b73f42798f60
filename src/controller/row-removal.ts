/**
 * Removes all of Kiln's rows from the Northbound database, and the keys of NB_Global that Kiln set, with the Northbound writer and no
 * output. Foreign rows stay, and so do rows with foreign children and keys with another program's value. The term in NB_Global stays too: a
 * suspended process that resumes after the next installation finds a newer term and writes nothing.
 */
import { OPEN_GATE } from '../commit/collection-gate.ts';
import { Fence } from '../commit/fence.ts';
import { NorthboundWriter } from '../commit/northbound-writer.ts';
import { DesiredRows } from '../compile/desired-rows.ts';
import type { Journal } from '../journal/journal.ts';
import { NO_JOURNAL } from '../journal/journal.ts';
import { GLOBAL_ROW, keysOfRow } from '../nb/global-keys.ts';
import type { NeighbourPattern } from '../nb/neighbours.ts';
import { GLOBAL_KEYS } from '../nb/tables.ts';
import { firstRead } from '../ovsdb/index.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { World } from '../world/world.ts';

export interface RowRemovalOptions {
  /** Not started yet; closed with the removal. */
  readonly session: OvsdbSession;
  /** Called before each transaction: whether this process certainly holds the Lease. */
  readonly mayWrite: () => boolean;
  /** Takes every row before it goes. Default: none. */
  readonly journal?: Journal;
  /** Programs in the database that are known by patterns: their rows stay, and so do rows of Kiln that these are in. Default: none. */
  readonly neighbours?: readonly NeighbourPattern[];
}

/** Rows that remain, and why. */
export interface RowsLeft {
  readonly count: number;
  /** Sentences; up to ten. */
  readonly why: readonly string[];
}

const LOOK_MS = 20;

export class RowRemoval implements AsyncDisposable {
  readonly world: World;
  readonly #session: OvsdbSession;
  readonly #fence: Fence;
  readonly #writer: NorthboundWriter;
  #failure: string | undefined;
  #closed = false;

  constructor({ session, mayWrite, journal = NO_JOURNAL, neighbours = [] }: RowRemovalOptions) {
    this.world = new World({ ...DEFAULT_SETTINGS, neighbours });
    this.#session = session;
    this.#fence = new Fence(session);
    const wake = (): void => void setImmediate(() => this.#closed || this.#writer.flush());
    this.#writer = new NorthboundWriter({
      session,
      world: this.world,
      desired: new DesiredRows(),
      fence: this.#fence,
      // The user has confirmed the number of rows.
      gate: OPEN_GATE,
      journal,
      // What an undo restored goes too.
      ownerExists: () => true,
      undecided: () => false,
      mayWrite: () => mayWrite() && session.state === 'synced',
      deposed: () => {
        this.#failure = 'another process writes with a newer term';
      },
      onTransaction: ({ error }) => {
        if (error !== undefined) this.#failure = `${error.code}: ${error.message}`;
      },
      onDrift: () => undefined,
      onLeftOut: () => undefined,
      now: () => performance.now(),
      wallTime: () => Date.now(),
      later: (ms, run) => void setTimeout(run, ms).unref(),
      wake,
    });
    session.onChanges((batch) => {
      this.world.rows.apply(session.replica, batch);
      wake();
    });
    session.onState((state) => {
      if (state === 'synced') this.#writer.examineAll();
      wake();
    });
  }

  /** Keys of NB_Global, as `key=value`: those that Kiln set, and those of the same names with another program's value. */
  globalKeys(): ReturnType<typeof keysOfRow> {
    const row = this.world.rows.best(GLOBAL_ROW)?.row;
    return row === undefined ? { own: [], foreign: [] } : keysOfRow(row, GLOBAL_KEYS);
  }

  /** Reads the database. @throws OvsdbError if no server could be read within this time */
  read(timeoutMs: number): Promise<void> {
    return firstRead(this.#session, timeoutMs);
  }

  /**
   * @param gains the Lease's `leaseTransitions` when it was acquired
   * @returns the remaining rows: none, rows with foreign children, or rows that could not be removed in time
   */
  async removeAll(gains: number, timeoutMs: number): Promise<RowsLeft> {
    const until = performance.now() + timeoutMs;
    while (this.#fence.term === undefined && performance.now() < until) if (!(await this.#fence.raise(gains))) await pause();
    this.#writer.examineAll();
    this.#writer.flush();
    while (performance.now() < until) {
      const { conflicts } = this.#left();
      if (this.#writer.quiet && this.world.rows.owned.size === conflicts.length) break;
      await pause();
    }
    const { count, conflicts } = this.#left();
    const why =
      count === 0 ? [] : [...conflicts, ...(count > conflicts.length ? [this.#failure ?? `not gone after ${timeoutMs / 1_000} s`] : [])];
    return { count, why: why.slice(0, 10) };
  }

  #left(): { readonly count: number; readonly conflicts: readonly string[] } {
    const conflicts = this.#writer.plan().flatMap(({ verdict }) => (verdict.kind === 'conflict' ? [verdict.message] : []));
    return { count: this.world.rows.owned.size, conflicts };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#closed = true;
    await this.#session.close();
  }
}

function pause(): Promise<void> {
  return new Promise((done) => setTimeout(done, LOOK_MS));
}
