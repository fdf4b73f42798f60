/**
 * Takes all of Kiln's rows out of the Northbound database: the writer of every controller, with nothing that is wanted. What is foreign stays,
 * and a row with a foreign one in it stays with that. The term in NB_Global stays as well: a process that was stopped long ago and wakes after
 * the next installation finds its own outrun, and writes nothing.
 */
import { CollectionLimit } from '../commit/collection-limit.ts';
import { Fence } from '../commit/fence.ts';
import { NorthboundWriter } from '../commit/northbound-writer.ts';
import { Desired } from '../compile/desired.ts';
import { firstRead } from '../ovsdb/index.ts';
import type { OvsdbSession } from '../ovsdb/index.ts';
import { DEFAULT_SETTINGS } from '../world/settings.ts';
import { World } from '../world/world.ts';

export interface RowRemovalOptions {
  /** Not started yet; closed with the removal. */
  readonly session: OvsdbSession;
  /** Asked before each transaction: the Lease is surely held. */
  readonly mayWrite: () => boolean;
}

/** What stays, and why. */
export interface RowsLeft {
  readonly count: number;
  /** Sentences; up to ten. */
  readonly why: readonly string[];
}

const LOOK_MS = 20;

export class RowRemoval implements AsyncDisposable {
  readonly world = new World(DEFAULT_SETTINGS);
  readonly #session: OvsdbSession;
  readonly #fence: Fence;
  readonly #writer: NorthboundWriter;
  #refused: string | undefined;
  #closed = false;

  constructor({ session, mayWrite }: RowRemovalOptions) {
    this.#session = session;
    this.#fence = new Fence(session);
    const wake = (): void => void setImmediate(() => this.#closed || this.#writer.flush());
    this.#writer = new NorthboundWriter({
      session,
      world: this.world,
      desired: new Desired(),
      fence: this.#fence,
      // Whoever asks for this has seen how many there are.
      limit: new CollectionLimit({
        enabled: false,
        maxRows: 0,
        maxShare: 0,
        ownedRows: () => this.world.rows.owned.size,
        ownerExplained: () => true,
        paused: () => undefined,
      }),
      undecided: () => false,
      mayWrite: () => mayWrite() && session.state === 'synced',
      deposed: () => {
        this.#refused = 'another process writes with a newer term';
      },
      onTransaction: ({ error }) => {
        if (error !== undefined) this.#refused = `${error.code}: ${error.message}`;
      },
      onDrift: () => undefined,
      onLeftOut: () => undefined,
      now: () => performance.now(),
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

  /** Reads the database. @throws OvsdbError why none of its servers could be read in this time */
  read(timeoutMs: number): Promise<void> {
    return firstRead(this.#session, timeoutMs);
  }

  /**
   * @param gains how often the Lease had changed hands when it was gained
   * @returns what stays: nothing, or rows that hold foreign ones, or what could not be done in time
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
      count === 0 ? [] : [...conflicts, ...(count > conflicts.length ? [this.#refused ?? `not gone after ${timeoutMs / 1_000} s`] : [])];
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
