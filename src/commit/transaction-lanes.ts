/**
 * Which rows go into one transaction. OVN refuses a transaction as a whole: whoever has a row that it refuses takes down what others want with it,
 * and with a new row for each edit does so for ever. So what belongs to a share of which OVN refused a row lately goes into transactions of its own, in
 * turn with those of all others, and rests where very much of it is refused. A share is a namespace; of the cluster's objects each is one.
 */
import { TokenBucket } from '../kube/token-bucket.ts';

/** Empty: all shares that nothing is known against. */
export type Lane = string;

/** A share is trusted again when nothing of it was refused for so long. */
const SUSPECTED_MS = 300_000;
/** Refused transactions of one share: at once, and a second later on. */
const REFUSALS = [80, 4] as const;

interface Suspect {
  lastRefused: number;
  readonly refusals: TokenBucket;
  /** Monotonic milliseconds. */
  restsUntil: number;
  /** Rows in its next transaction. */
  rows: number;
}

export class TransactionLanes {
  readonly #maxRows: number;
  /** In the order of their turns. */
  readonly #suspects = new Map<string, Suspect>();
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
    for (const [share, { lastRefused, restsUntil }] of this.#suspects) {
      if (now - lastRefused > SUSPECTED_MS) this.#suspects.delete(share);
      else if (restsUntil <= now) ready.push(share);
    }
    return this.#lastWasCommon ? [...ready, ''] : ['', ...ready];
  }

  /** When the first of those that rest may send again, in monotonic milliseconds. */
  restUntil(now: number): number | undefined {
    let first: number | undefined;
    for (const { restsUntil } of this.#suspects.values())
      if (restsUntil > now && (first === undefined || restsUntil < first)) first = restsUntil;
    return first;
  }

  /** Whether all that there is goes into one lane. */
  get isOne(): boolean {
    return this.#suspects.size === 0;
  }

  has(lane: Lane, share: string): boolean {
    return lane === '' ? !this.#suspects.has(share) : lane === share;
  }

  /** Rows in its next transaction. */
  rows(lane: Lane): number {
    return this.#suspects.get(lane)?.rows ?? this.#rows;
  }

  sent(lane: Lane): void {
    this.#lastWasCommon = lane === '';
    const suspect = this.#suspects.get(lane);
    if (suspect === undefined) return;
    this.#suspects.delete(lane);
    this.#suspects.set(lane, suspect);
  }

  /** The server took it. */
  carriedOut(lane: Lane): void {
    this.#setRows(lane, Math.min(this.rows(lane) * 2, this.#maxRows));
  }

  /** It is not known which of its rows is at fault, or there is little room: fewer go next. */
  halve(lane: Lane, rows: number): void {
    this.#setRows(lane, Math.max(1, Math.floor(Math.min(this.rows(lane), rows) / 2)));
  }

  /** OVN refused a row of this share. @param share empty for nobody's */
  refused(share: string, now: number): void {
    if (share === '') return;
    let suspect = this.#suspects.get(share);
    if (suspect === undefined) {
      suspect = { lastRefused: now, refusals: new TokenBucket(...REFUSALS, now), restsUntil: 0, rows: this.#maxRows };
      this.#suspects.set(share, suspect);
    }
    suspect.lastRefused = now;
    if (!suspect.refusals.take(now)) suspect.restsUntil = now + suspect.refusals.waitMs(now);
  }

  #setRows(lane: Lane, rows: number): void {
    const suspect = this.#suspects.get(lane);
    if (suspect === undefined) this.#rows = rows;
    else suspect.rows = rows;
  }
}
