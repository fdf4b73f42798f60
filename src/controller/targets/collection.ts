/**
 * When rows that no rule emits may be collected. At a start, and after a list that lacks known objects, such rows are counted before any is
 * collected. If they are too many, collection pauses until a second full list confirms that their owners are gone.
 */
import { COLLECTION_GRACE_MS, CollectionLimit, DEFAULT_LIMIT } from '../../commit/collection-limit.ts';
import type { DesiredRows } from '../../compile/desired-rows.ts';
import type { Log } from '../../runtime/log.ts';
import type { Ownership } from '../../nb/ownership.ts';
import { isRestored } from '../../nb/restored-row.ts';
import type { RowId } from '../../nb/row-id.ts';
import type { ObservedRows } from '../../world/observed-rows.ts';
import type { ResourceName } from '../../world/resources.ts';
import { resourcesWith } from '../../world/resources.ts';
import type { JournalTroubleOptions } from '../outages/journal-trouble.ts';
import type { Caches } from '../reading/caches.ts';
import { resourceOfOwner } from '../reading/row-owners.ts';

/** Kinds with at least one object in every cluster: the API server and Kiln make them. A cluster may have no pod or node for a while. */
const NEVER_EMPTY: ReadonlySet<ResourceName> = new Set(resourcesWith('inEveryCluster'));

export interface CollectionOptions {
  /** False: collection never pauses. */
  readonly enabled: boolean;
  readonly rows: ObservedRows;
  readonly desired: DesiredRows;
  readonly caches: Pick<Caches, 'explains' | 'confirmed' | 'sizeOf'>;
  readonly log: Log;
  readonly later: (ms: number, run: () => void) => void;
  /** The object of the Events. */
  readonly about: JournalTroubleOptions['about'];
  readonly event: JournalTroubleOptions['event'];
  readonly paused: () => void;
  readonly resumed: () => void;
}

export class Collection {
  readonly limit: CollectionLimit;
  readonly #options: CollectionOptions;
  #surveyed = false;

  constructor(options: CollectionOptions) {
    this.#options = options;
    const { enabled, rows, caches, log, later } = options;
    this.limit = new CollectionLimit({
      ...DEFAULT_LIMIT,
      enabled,
      ownedRows: () => rows.owned.size,
      ownerExplained: (owner) => caches.explains(owner),
      kindIsEmpty: (owner) => {
        const resource = resourceOfOwner(owner)?.resource;
        return resource !== undefined && NEVER_EMPTY.has(resource) && caches.sizeOf(resource) === 0;
      },
      paused: (count, limit) => {
        options.paused();
        log.error('collection paused: rows without an owner in the API server', {
          rows: count,
          limit: Math.floor(limit),
          graceMs: COLLECTION_GRACE_MS,
          next: 'check that this is the right cluster; collection continues after the grace period when a second full list confirms',
        });
        const why = `rows of Kiln without an owner in the API server, whose deletion was not seen: ${count} (limit ${Math.floor(limit)})`;
        this.#event(
          'Warning',
          'CollectionPaused',
          `No row is collected for now: ${why}; check that this is the right cluster: kiln gc plan`,
        );
        later(COLLECTION_GRACE_MS, () => this.#endPause());
      },
    });
  }

  /** Why no rows without an owner are collected; undefined: they are. */
  get pausedFor(): string | undefined {
    return this.limit.pausing ? `rows of Kiln without an owner in the API server: ${this.limit.held.size}` : undefined;
  }

  /** A list lacked known objects: the next `survey` counts again. */
  doubt(): void {
    this.#surveyed = false;
  }

  /** To be called before each diff that may be written, when the rules have run for everything observed. */
  survey(): void {
    if (this.#surveyed) return;
    this.#surveyed = true;
    const { rows, desired } = this.#options;
    const unwanted: (readonly [RowId, Ownership])[] = [];
    for (const id of rows.owned) {
      const row = rows.best(id);
      if (row === undefined || (desired.row(id)?.rows.length ?? 0) > 0) continue;
      // A restored row has no owner yet, and is not collected before it has one.
      if (!isRestored(id, row.uuid, row.ownership)) unwanted.push([id, row.ownership]);
    }
    this.limit.survey(unwanted);
  }

  #event(type: 'Normal' | 'Warning', reason: 'CollectionPaused' | 'CollectionResumed', message: string): void {
    const { about, event } = this.#options;
    event(about.resource, '', about.key, undefined, { type, reason, message });
  }

  #endPause(): void {
    const { caches, log, later, resumed } = this.#options;
    void caches.confirmed().then((confirmed) => {
      log.warn(
        confirmed
          ? 'collection continues: a second full list confirms'
          : 'collection stays paused: a second full list differs from the first',
      );
      if (!confirmed) return later(COLLECTION_GRACE_MS, () => this.#endPause());
      this.limit.end();
      this.#event('Normal', 'CollectionResumed', 'A second full list confirms that the owners are gone: their rows are collected');
      resumed();
    });
  }
}
