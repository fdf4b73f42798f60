/**
 * The transaction of a restore, until its outcome is known. A cluster of servers may change its leader under so large a transaction, and
 * then it is unknown whether it took effect; so the command reads the database again, plans anew, and sends what is still missing. Each row
 * has its UUID, so none can come twice. What is sent after a loss is smaller each time.
 */
import type { TransactOutcome } from '../../ovsdb/index.ts';

/** So many losses in a row, and the outcome is told as unknown. */
const MOST_LOSSES = 12;
/** Rows of the first part after a loss; half as many after the next. */
const PART_ROWS = 2_000;
const FEWEST_ROWS = 50;

export interface Attempts<Plan> {
  readonly send: (plan: Plan) => Promise<TransactOutcome>;
  /** As much of the plan as has about so many rows. */
  readonly partOf: (plan: Plan, rows: number) => Plan;
  /** Waits until the database can be read again, and plans with what is there then; undefined: nothing is missing. */
  readonly planAgain: () => Promise<Plan | undefined>;
  readonly again: (why: string) => void;
}

/** @returns the last outcome; undefined: an attempt took effect whose reply was lost */
export async function untilKnown<Plan>(
  plan: Plan,
  { send, partOf, planAgain, again }: Attempts<Plan>,
): Promise<TransactOutcome | undefined> {
  let next: Plan = plan;
  let part: Plan = plan;
  let rows = PART_ROWS;
  for (let losses = 0; ;) {
    const outcome = await send(part);
    if (outcome.ok && part === next) return outcome;
    if (!outcome.ok) {
      if (outcome.error.outcome === 'rejected' || ++losses === MOST_LOSSES) return outcome;
      again(`${outcome.error.code}: ${outcome.error.message}`);
      if (losses > 1) rows = Math.max(FEWEST_ROWS, Math.ceil(rows / 2));
    } else losses = 0;
    const planned = await planAgain();
    if (planned === undefined) return undefined;
    next = planned;
    part = partOf(next, rows);
  }
}
