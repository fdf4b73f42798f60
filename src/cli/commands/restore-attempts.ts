/**
 * The transaction of a restore, until its outcome is known. A cluster of servers may change its leader under so large a transaction, and
 * then nobody tells whether it took effect; so the command reads the database again, plans anew, and sends what is still missing. Each row
 * has its UUID, so none can come twice.
 */
import type { TransactOutcome } from '../../ovsdb/index.ts';

/** After these the outcome is told as unknown. */
const MOST_ATTEMPTS = 4;

export interface Attempts<Plan> {
  readonly send: (plan: Plan) => Promise<TransactOutcome>;
  /** Waits until the database can be read again, and plans with what is there then; undefined: nothing is missing. */
  readonly planAgain: () => Promise<Plan | undefined>;
  readonly again: (why: string) => void;
}

/** @returns the last outcome; undefined: an attempt took effect whose reply was lost */
export async function untilKnown<Plan>(plan: Plan, { send, planAgain, again }: Attempts<Plan>): Promise<TransactOutcome | undefined> {
  let next: Plan = plan;
  for (let attempt = 1; ; attempt++) {
    const outcome = await send(next);
    if (outcome.ok || outcome.error.outcome === 'rejected' || attempt === MOST_ATTEMPTS) return outcome;
    again(`${outcome.error.code}: ${outcome.error.message}`);
    const planned = await planAgain();
    if (planned === undefined) return undefined;
    next = planned;
  }
}
