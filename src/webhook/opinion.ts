/** What the judge of a kind thinks of a write. */
import type { Reason } from '../api/reasons.ts';
import type { RequestFailure } from '../allocate/allocation-step.ts';
import type { Finding } from '../api/validation/finding.ts';
import type { AddressRequest } from '../world/reservations.ts';
import type { World } from '../world/world.ts';

/** Why a write is refused: the rule's code and sentence. */
export interface Objection {
  readonly code: Reason;
  /** Path of the field; empty where it is the object as a whole. */
  readonly field: string;
  readonly message: string;
  /** `forbidden`: the object is sound, but its time is not (its parent is going away, somebody still uses it). */
  readonly kind: 'invalid' | 'forbidden';
}

export interface Opinion {
  readonly objections: readonly Objection[];
  /** What is accepted, and yet not, or not at once, what its author may expect. */
  readonly warnings: readonly string[];
}

/** What a judge may look at. */
export interface Observed {
  readonly world: World;
  /** Every list was read in full. Until then an object is judged by itself. */
  readonly complete: boolean;
  /** Why a request for addresses by name would be refused now. */
  readonly checkRequest: (request: AddressRequest) => RequestFailure | undefined;
}

export const NO_OPINION: Opinion = { objections: [], warnings: [] };

export function invalid({ code, field, message }: Pick<Finding, 'code' | 'field' | 'message'>): Objection {
  return { code, field, message, kind: 'invalid' };
}

export function forbidden({ reason, message }: { readonly reason: Reason; readonly message: string }, field = ''): Objection {
  return { code: reason, field, message, kind: 'forbidden' };
}

/** A change is refused for what it makes wrong, not for what was wrong before. */
export function newOnes<T extends { readonly message: string }>(after: readonly T[], before: readonly T[]): readonly T[] {
  const known = new Set(before.map(({ message }) => message));
  return after.filter(({ message }) => !known.has(message));
}
