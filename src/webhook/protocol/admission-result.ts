/** The result of validation. */
import type { Reason } from '../../api/reasons.ts';
import type { RequestFailure } from '../../allocate/allocation-step.ts';
import type { Finding } from '../../api/validation/finding.ts';
import type { AddressRequest } from '../../world/reservations.ts';
import type { World } from '../../world/world.ts';

/** Why a write is denied: code and message of the rule. */
export interface Denial {
  readonly code: Reason;
  /** Path of the field; empty if the fault is in the object as a whole. */
  readonly field: string;
  readonly message: string;
  /**
   * `forbidden`: the object is valid, but the present state does not allow it (its parent is being deleted, or a dependent still exists).
   */
  readonly kind: 'invalid' | 'forbidden';
}

export interface AdmissionResult {
  readonly denials: readonly Denial[];
  /** Faults of a write that is allowed: what the user expects will not happen, or not at once. */
  readonly warnings: readonly string[];
}

/** What validation can read. */
export interface Observed {
  readonly world: World;
  /** Whether every list was read in full. Until then validation considers the object alone. */
  readonly complete: boolean;
  /** Why the allocator would fail a request for addresses by name now. */
  readonly checkRequest: (request: AddressRequest) => RequestFailure | undefined;
}

export const ALLOWED: AdmissionResult = { denials: [], warnings: [] };

export function invalid({ code, field, message }: Pick<Finding, 'code' | 'field' | 'message'>): Denial {
  return { code, field, message, kind: 'invalid' };
}

export function forbidden({ reason, message }: { readonly reason: Reason; readonly message: string }, field = ''): Denial {
  return { code: reason, field, message, kind: 'forbidden' };
}

/** The findings that are new: a change is denied only for faults that it introduces. */
export function newFindings<T extends { readonly message: string }>(after: readonly T[], before: readonly T[]): readonly T[] {
  const known = new Set(before.map(({ message }) => message));
  return after.filter(({ message }) => !known.has(message));
}
