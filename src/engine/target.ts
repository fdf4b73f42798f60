/**
 * A target: one outside system that rules describe and Kiln changes. The Northbound database is one, the objects of the API server are
 * another. Everything that is particular to the system is behind this interface; the rules and the loop over the targets know none of it.
 *
 * A target owns:
 * - what is observed of the system: its tables in the World, which it alone fills;
 * - its part of the desired state (`DesiredPart`): the kinds of its outputs, and their identities;
 * - ownership: which of the things that exist are Kiln's, and may be changed or collected;
 * - diff, guards and commit: each write holds only if the system still is as the diff saw it, also for a process that has lost its
 *   leadership (the *fence*), as far as the system can check that.
 *
 * It promises:
 * - It changes its tables between runs of rules, never during one, and schedules a turn after that.
 * - Before it is `observed`, no target writes anything. What its tables lack after that does not exist.
 * - A write counts as done when its result was observed. So after each reply the next diff sees what was written: OVSDB sends the change
 *   before the reply, the API server's reply is put into the caches, and a system that tells nothing is read again.
 * - While it is `quiet`, each identity is as emitted, or has a report that says why not and a backoff that ends by itself.
 * - What another program made is not touched; if it prevents a write, that is a report.
 *
 * Retried: every difference, by a new diff, never an old write; with growing delays for what the system rejects. An output stands until its
 * rule withdraws it, so nothing is lost by a failed write.
 *
 * Costs: one comparison for each identity that changed or whose outputs changed, some thousand in one turn at most; all identities only
 * after a start and after a loss of the connection (`examineAll`).
 */
export interface Target {
  /** As a user would call it. */
  readonly name: string;
  /** Everything was read once. */
  readonly observed: boolean;
  /** A part of a large change is in the tables and the rest is not: no rule may run. */
  readonly busy: boolean;
  /** No write is due or under way. */
  readonly quiet: boolean;
  /** What is missing before the first write, in words; empty once nothing is. */
  readonly waitingFor: readonly string[];
  /** Begins to observe. */
  start(): void;
  /** Ends observation, and the writes under way. */
  stop(): Promise<void>;
  /** Compares every identity again, some in each `flush`. */
  examineAll(): void;
  /** The writes that are due now, whether they may be sent or not: for dry runs and audits. Changes nothing. */
  plan(): readonly unknown[];
  /** Called in each turn before any target is flushed: decides what may be written. No rule is due. */
  prepare?(): void;
  /**
   * Compares what is due and begins to write it, if this process may write. It does not wait for replies.
   * @returns false: it has to be called again before any other write
   */
  flush(): boolean;
}
