/**
 * Which rows go into one transaction. OVN refuses a transaction as a whole: whoever has a row that it refuses takes down what others want with it,
 * and with a new row for each edit does so for ever. So what belongs to a share of which OVN refused a row lately goes into transactions of its own, in
 * turn with those of all others, and rests where very much of it is refused. A share is a namespace; of the cluster's objects each is one.
 */
import { TokenBucket } from '../kube/token-bucket.ts';

/** Empty: all shares that nothing is known against. */
export type Lane = string;

/** A share is trusted again when nothing of it was refused for so long. */
const FAILING_MS = 300_000;
/** Refused transactions of one share: at once, and a second later on. */
const FAILURES = [80, 4] as const;

interface FailingShare {
  lastFailed: number;
  readonly failures: TokenBucket;
  /** Monotonic milliseconds. */
  restsUntil: number;
  /** Rows in its next transaction. */
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

  /** Lanes that may send something now, whose turn is next first. All others rest. */
  turns(now: number): readonly Lane[] {
    const ready: Lane[] = [];
    for (const [share, { lastFailed, restsUntil }] of this.#failing) {
      if (now - lastFailed > FAILING_MS) this.#failing.delete(share);
      else if (restsUntil <= now) ready.push(share);
    }
    return this.#lastWasCommon ? [...ready, ''] : ['', ...ready];
  }

  /** When the first of those that rest may send again, in monotonic milliseconds. */
  restUntil(now: number): number | undefined {
    let first: number | undefined;
    for (const { restsUntil } of this.#failing.values())
      if (restsUntil > now && (first === undefined || restsUntil < first)) first = restsUntil;
    return first;
  }

  /** Whether all that there is goes into one lane. */
  get isOne(): boolean {
    return this.#failing.size === 0;
  }

  has(lane: Lane, share: string): boolean {
    return lane === '' ? !this.#failing.has(share) : lane === share;
  }

  /** Rows in its next transaction. */
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

  /** The server took it. */
  committed(lane: Lane): void {
    this.#setRows(lane, Math.min(this.rows(lane) * 2, this.#maxRows));
  }

  /** It is not known which of its rows is at fault, or there is little room: fewer go next. */
  halve(lane: Lane, rows: number): void {
    this.#setRows(lane, Math.max(1, Math.floor(Math.min(this.rows(lane), rows) / 2)));
  }

  /** OVN refused a row of this share. @param share empty for nobody's */
  failed(share: string, now: number): void {
    if (share === '') return;
    let failing = this.#failing.get(share);
    if (failing === undefined) {
      failing = { lastFailed: now, failures: new TokenBucket(...FAILURES, now), restsUntil: 0, rows: this.#maxRows };
      this.#failing.set(share, failing);
    }
    failing.lastFailed = now;
    if (!failing.failures.take(now)) failing.restsUntil = now + failing.failures.waitMs(now);
  }

  #setRows(lane: Lane, rows: number): void {
    const failing = this.#failing.get(lane);
    if (failing === undefined) this.#rows = rows;
    else failing.rows = rows;
  }
}
