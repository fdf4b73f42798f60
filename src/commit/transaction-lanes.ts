/**
 * Which rows go into one transaction. A transaction fails as a whole: a row that OVN rejects makes the rows of other namespaces fail with
 * it, and a tenant with a new invalid row for each edit could do so for ever. So the rows of a share with a failed row go into transactions
 * of their own, in turn with the common ones, and are in backoff after many failures. A share is a namespace; each cluster-scoped object is
 * a share.
 */
import { TokenBucket } from '../kube/fairness/token-bucket.ts';

/** Empty: the common lane of all shares without a failure. */
export type Lane = string;

/** After so long without a failure a share returns to the common lane. */
const FAILING_MS = 300_000;
/** Failed transactions of one share before its backoff: burst, and rate a second. */
const FAILURES = [80, 4] as const;

interface FailingShare {
  lastFailed: number;
  readonly failures: TokenBucket;
  /** Monotonic milliseconds. */
  backoffUntil: number;
  /** Most rows in its next transaction. */
  rows: number;
}

export class TransactionLanes {
  readonly #maxRows: number;
  /** In the order of their turns. */
  readonly #failing = new Map<string, FailingShare>();
  #rows: number;
  #lastWasCommon = false;

  /** @param maxRows in one transaction */
  constructor(maxRows: number) {
    this.#maxRows = maxRows;
    this.#rows = maxRows;
  }

  /** Lanes that may send now, in the order of their turns. All others are in backoff. */
  turns(now: number): readonly Lane[] {
    const ready: Lane[] = [];
    for (const [share, { lastFailed, backoffUntil }] of this.#failing) {
      if (now - lastFailed > FAILING_MS) this.#failing.delete(share);
      else if (backoffUntil <= now) ready.push(share);
    }
    return this.#lastWasCommon ? [...ready, ''] : ['', ...ready];
  }

  /** When the first lane in backoff may send again, in monotonic milliseconds. */
  nextBackoffEnd(now: number): number | undefined {
    let first: number | undefined;
    for (const { backoffUntil } of this.#failing.values())
      if (backoffUntil > now && (first === undefined || backoffUntil < first)) first = backoffUntil;
    return first;
  }

  /** Whether there is only the common lane. */
  get isOne(): boolean {
    return this.#failing.size === 0;
  }

  has(lane: Lane, share: string): boolean {
    return lane === '' ? !this.#failing.has(share) : lane === share;
  }

  /** Most rows in its next transaction. */
  rows(lane: Lane): number {
    return this.#failing.get(lane)?.rows ?? this.#rows;
  }

  sent(lane: Lane): void {
    this.#lastWasCommon = lane === '';
    const failing = this.#failing.get(lane);
    if (failing === undefined) return;
    this.#failing.delete(lane);
    this.#failing.set(lane, failing);
  }

  /** Its transaction was committed. */
  committed(lane: Lane): void {
    this.#setRows(lane, Math.min(this.rows(lane) * 2, this.#maxRows));
  }

  /** Its transaction failed as a whole, or was too large: the next one has half as many rows. */
  halve(lane: Lane, rows: number): void {
    this.#setRows(lane, Math.max(1, Math.floor(Math.min(this.rows(lane), rows) / 2)));
  }

  /** A row of this share failed. @param share empty for a row without an owner */
  failed(share: string, now: number): void {
    if (share === '') return;
    let failing = this.#failing.get(share);
    if (failing === undefined) {
      failing = { lastFailed: now, failures: new TokenBucket(...FAILURES, now), backoffUntil: 0, rows: this.#maxRows };
      this.#failing.set(share, failing);
    }
    failing.lastFailed = now;
    if (!failing.failures.take(now)) failing.backoffUntil = now + failing.failures.waitMs(now);
  }

  #setRows(lane: Lane, rows: number): void {
    const failing = this.#failing.get(lane);
    if (failing === undefined) this.#rows = rows;
    else failing.rows = rows;
  }
}
