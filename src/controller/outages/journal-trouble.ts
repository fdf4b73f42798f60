/**
 * The journal cannot be written: deletions wait. A log line and an Event at the begin and at the end; commands read the reason from the
 * Lease.
 */
import type { PlannedEvent } from '../../diff/condition-diff.ts';
import type { Journal } from '../../journal/journal.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Log } from '../../runtime/log.ts';
import type { ResourceName } from '../../world/resources.ts';

export interface JournalTroubleOptions {
  readonly journal: Journal;
  readonly log: Log;
  readonly clock: Clock;
  /** The object of the Events. */
  readonly about: { readonly resource: ResourceName; readonly key: string };
  readonly leads: () => boolean;
  readonly event: (resource: ResourceName, namespace: string, name: string, uid: string | undefined, event: PlannedEvent) => void;
}

/** Characters of an error that an Event has room for. */
const MOST_REASON = 300;

/** The rest follows by itself: the journal tries again every few seconds. */
const NEXT = 'Free space in its directory (--journal), or make it writable';

/** From now on. A journal that failed when it was opened is reported at once. */
export function reportJournal({ journal, log, clock, about, leads, event }: JournalTroubleOptions): void {
  let since: number | undefined;
  const send = (planned: PlannedEvent): void => {
    if (leads()) event(about.resource, '', about.key, undefined, planned);
  };
  const changed = (): void => {
    const failure = journal.failure?.slice(0, MOST_REASON);
    if (failure !== undefined && since === undefined) {
      since = clock.now();
      log.error('the journal cannot be written: no row is deleted until it can', { error: failure, next: NEXT });
      const message = `The journal cannot be written, so no row is deleted or adopted until it can; rows are created and changed as before. ${NEXT}: ${failure}`;
      send({ type: 'Warning', reason: 'JournalFailed', message });
    } else if (failure === undefined && since !== undefined) {
      log.info('the journal can be written again', { ms: Math.round(clock.now() - since) });
      since = undefined;
      send({ type: 'Normal', reason: 'JournalResumed', message: 'The journal can be written again, and deletions go on' });
    }
  };
  journal.onState(changed);
  changed();
}
