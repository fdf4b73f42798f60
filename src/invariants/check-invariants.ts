/**
 * Checks all invariants. Call it when the system has converged: nothing queued, nothing in flight.
 */
import type { Verdict } from '../diff/edits.ts';
import type { ObjectWrite } from '../diff/object-diff.ts';
import { INVARIANTS_OF_KINDS } from '../kinds/generated/invariants.ts';
import type { RowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import { addressHolders } from './address-holders.ts';
import { blockedDeletions } from './blocked-deletions.ts';
import type { ForeignSnapshot } from './foreign-rows.ts';
import { foreignRows } from './foreign-rows.ts';
import type { KindInvariants } from './kind-invariants.ts';
import { ownedRows } from './owned-rows.ts';
import type { Violation } from './violation.ts';
import type { LoggedTransaction } from './writers.ts';
import { writers } from './writers.ts';

export interface Observed {
  /** Complete: every cache listed, the replica synced, everything derived. */
  readonly world: World;
  /** The plan of a fresh controller. */
  readonly plan: { readonly rows: readonly { readonly id: RowId; readonly verdict: Verdict }[]; readonly objects: readonly ObjectWrite[] };
  /** Foreign rows before and after whatever happened (I4). */
  readonly foreign?: { readonly before: ForeignSnapshot; readonly after: ForeignSnapshot };
  /** The Northbound database's log (I10). */
  readonly log?: readonly LoggedTransaction[];
}

/** All violations; empty: none. */
export function checkInvariants({ world, plan, foreign, log }: Observed): readonly Violation[] {
  const holders = addressHolders(world);
  return [
    ...Object.values<KindInvariants>(INVARIANTS_OF_KINDS).flatMap((check) => check(world, holders)),
    ...ownedRows(world, plan.rows),
    ...(foreign === undefined ? [] : foreignRows(foreign.before, foreign.after)),
    ...blockedDeletions(world),
    ...plan.objects.map((write): Violation => {
      const subject = `${write.resource} ${write.namespace === '' ? '' : `${write.namespace}/`}${write.name}`;
      return { invariant: 'I8', subject, message: `a fresh controller would ${write.verb} ${subject}: ${shown(write)}` };
    }),
    ...(log === undefined ? [] : writers(log)),
  ];
}

function shown(write: ObjectWrite): string {
  const written = write.verb === 'create' ? write.object : write.verb === 'patch' ? write.patch : {};
  return JSON.stringify(written, (_key, part: unknown) => (typeof part === 'bigint' ? String(part) : part)).slice(0, 300);
}
