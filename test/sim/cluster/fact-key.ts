/** The key by which an Event and the fact that it reports are compared. */
import type { StandingFact } from '../../../src/controller/reports/standing-facts.ts';

/** The most characters of a message that an Event holds; a longer one is cut. */
const MOST_CHARACTERS = 1_000;

export function factKey({ uid, reason, message }: Pick<StandingFact, 'uid' | 'reason' | 'message'>): string {
  return `${uid} ${reason} ${message.slice(0, MOST_CHARACTERS)}`;
}
