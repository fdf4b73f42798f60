/**
 * Which rows that no rule emits may be collected now, and what is left in Kubernetes of objects that are gone. Settings, annotations, pauses and graces are observed (`diff/collection-policy.ts`).
 * At a start, and after a list that lacks known objects, such rows are counted before any is collected; if they are too many, they are
 * held until a person approves, or until a second full list confirms that fewer owners are gone.
 */
import type { CollectionGate } from '../../commit/collection-gate.ts';
import { COLLECTION_GRACE_MS, CollectionLimit } from '../../commit/collection-limit.ts';
import type { Hold, Unexplained } from '../../commit/collection-limit.ts';
import type { DesiredObjects } from '../../compile/desired-objects.ts';
import type { DesiredRows } from '../../compile/desired-rows.ts';
import type { ObjectId } from '../../compile/output.ts';
import type { Stay, Stays } from '../../diff/collection-policy.ts';
import { CollectionPolicy, pauseText } from '../../diff/collection-policy.ts';
import { leftoverId, leftoversIn, ownedSize } from '../../diff/leftovers.ts';
import { entryId, isEntryOfOption, unexplainedEntries, vipOf } from '../../diff/unexplained-entries.ts';
import type { Log } from '../../runtime/log.ts';
import { LOAD_BALANCERS_RULE } from '../../nb/ownership.ts';
import { isRestored } from '../../nb/restored-row.ts';
import type { Clock } from '../../timing/clock.ts';
import type { Entry } from '../../world/observed-rows.ts';
import type { ResourceName } from '../../world/resources.ts';
import { resourcesWith } from '../../world/resources.ts';
import { holderOfVip } from '../../world/vip-holder.ts';
import type { World } from '../../world/world.ts';
import type { JournalTroubleOptions } from '../outages/journal-trouble.ts';
import type { Caches } from '../reading/caches.ts';
import { resourceOfOwner } from '../reading/row-owners.ts';
import { FormerVips } from './former-vips.ts';

/** Kinds with at least one object in every cluster: the API server and Kiln make them. A cluster may have no pod or node for a while. */
const NEVER_EMPTY: ReadonlySet<ResourceName> = new Set(resourcesWith('inEveryCluster'));
/** Rows are looked at again at the end of a grace, not more often than this. */
const LEAST_LOOK_MS = 1_000;
const MOST_LOOK_MS = 3_600_000;

export interface CollectionOptions {
  /** False: there are no limits, and no grace. */
  readonly enabled: boolean;
  readonly world: World;
  readonly desired: DesiredRows;
  readonly objects: Pick<DesiredObjects, 'ids' | 'of'>;
  readonly caches: Pick<Caches, 'explains' | 'confirmed' | 'sizeOf'>;
  readonly log: Log;
  readonly clock: Clock;
  /** Whether the outputs about the owner are incomplete: none of its entries is removed. */
  readonly undecided: (owner: string) => boolean;
  readonly leads: () => boolean;
  readonly later: (ms: number, run: () => void) => void;
  /** The object of the Events. */
  readonly about: JournalTroubleOptions['about'];
  readonly event: JournalTroubleOptions['event'];
  readonly held: () => void;
  /** More rows may be collected than before: all are compared again. */
  readonly again: () => void;
  readonly wake: () => void;
}

export class Collection implements CollectionGate {
  readonly limit: CollectionLimit;
  readonly policy: CollectionPolicy;
  readonly #options: CollectionOptions;
  /** Rows that stayed when they were last compared, and why. */
  readonly #staying = new Map<string, Stay>();
  readonly #formerVips: FormerVips;
  /** A second full list has no Service that the first one lacked: only then does an entry without an owner go. */
  #confirmed: boolean;
  #confirming = false;
  #surveyed = false;
  #lookingAt = Infinity;
  /** The message about the hold that the rules know; null: they know nothing yet. */
  #published: string | undefined | null = null;
  /** The pause that was reported. */
  #paused: string | undefined;

  constructor(options: CollectionOptions) {
    this.#options = options;
    const { enabled, world, caches } = options;
    const { gcMaxRows, gcMaxShare, gcShareFrom } = world.settings;
    this.#confirmed = !enabled;
    this.#formerVips = new FormerVips(world, () => this.#again());
    this.policy = new CollectionPolicy(world, enabled, () => this.#policyChanged());
    this.limit = new CollectionLimit({
      ...{ enabled, maxRows: gcMaxRows, maxShare: gcMaxShare / 100, shareFrom: gcShareFrom },
      owned: () => ownedSize(world),
      ownerExplained: (owner) => caches.explains(owner),
      kindIsEmpty: (owner) => {
        const resource = resourceOfOwner(owner)?.resource;
        return resource !== undefined && NEVER_EMPTY.has(resource) && caches.sizeOf(resource) === 0;
      },
      approved: () => this.policy.approvedAt(this.#wallTime)?.digest,
      held: () => options.later(COLLECTION_GRACE_MS, () => this.#lookAgain()),
    });
  }

  /** Why no rows without an owner are collected; undefined: they are. */
  get pausedFor(): string | undefined {
    const { hold } = this.limit;
    if (hold !== undefined) return this.#holdText(hold);
    const { pause } = this.policy;
    return pause === undefined ? undefined : pauseText(pause);
  }

  /** Numbers of rows that nothing explains and that stay, by reason. */
  get staying(): ReadonlyMap<Stay, number> {
    const counts = new Map<Stay, number>();
    for (const why of this.#staying.values()) counts.set(why, (counts.get(why) ?? 0) + 1);
    return counts;
  }

  /** A list lacked known objects: the next `survey` counts again. */
  doubt(): void {
    this.#surveyed = false;
    this.#confirmed = !this.#options.enabled;
  }

  /** To be called before each diff that may be written, when the rules have run for everything observed. */
  survey(): void {
    if (!this.#surveyed) {
      this.#surveyed = true;
      this.limit.survey(this.#unwanted());
    }
    // A process may lead, and have observed all, some turns after it has counted.
    this.#publish();
  }

  allows(row: Entry): boolean {
    this.#staying.delete(row.id);
    const stays = this.#stays(row);
    if (stays === undefined) return row.ownership.kind !== 'ours' || this.limit.allows({ id: row.id, ...row.ownership });
    this.#staying.set(row.id, stays.why);
    if (stays.until !== undefined) this.#lookAt(stays.until);
    return false;
  }

  allowsEntry(row: Entry, column: string, key: string): boolean {
    const { world, caches, undecided } = this.#options;
    const id = entryId(row.id, column, key);
    this.#staying.delete(id);
    if (isEntryOfOption(world, row, column, key)) return false;
    const owner = this.#ownerOfEntry(row, column, key);
    if (owner === undefined || caches.explains(owner)) return owner === undefined || !undecided(owner);
    const stays = this.policy.entryStays(row);
    if (stays !== undefined) {
      this.#staying.set(id, stays.why);
      return false;
    }
    if (!this.#confirmed) return this.#confirm();
    return this.limit.allows({ id, owner, uid: '' });
  }

  /** Whether what is left of an owner that is gone may go from the object now. */
  allowsLeftover(object: ObjectId, owner: string): boolean {
    if (this.#options.caches.explains(owner)) return true;
    const stays = this.#leftoverStays(object, owner);
    if (stays === undefined) return this.limit.allows({ id: leftoverId(object, owner), owner, uid: '', isLeftover: true });
    if (stays.until !== undefined) this.#lookAt(stays.until);
    return false;
  }

  marks(row: Entry): boolean {
    return this.#stays(row)?.why !== 'off';
  }

  #stays(row: Entry): Stays | undefined {
    const { caches } = this.#options;
    return this.policy.stays(row, { now: this.#wallTime, explained: (owner) => caches.explains(owner) });
  }

  #leftoverStays(object: ObjectId, owner: string): Stays | undefined {
    const { caches } = this.#options;
    return this.policy.leftoverStays(object, owner, { now: this.#wallTime, explained: (one) => caches.explains(one) });
  }

  /** Undefined for an entry of a row that is of one object: the object decides about it. */
  #ownerOfEntry(row: Entry, column: string, key: string): string | undefined {
    const vip = vipOf(row, column, key);
    if (vip === undefined || row.ownership.kind !== 'ours' || row.ownership.rule !== LOAD_BALANCERS_RULE) return undefined;
    const service = holderOfVip(this.#options.world, vip)?.service ?? this.#formerVips.serviceOf(vip);
    return `service/${service ?? '/'}`;
  }

  /** Asks for a second full list; what waits for it is compared again. */
  #confirm(): false {
    if (!this.#confirming) this.#listOnceMore();
    this.#confirming = true;
    return false;
  }

  #listOnceMore(): void {
    const { caches, later } = this.#options;
    void caches.confirmed().then((confirmed) => {
      if (!confirmed) return later(COLLECTION_GRACE_MS, () => this.#listOnceMore());
      this.#confirming = false;
      this.#confirmed = true;
      this.#again();
    });
  }

  *#unwanted(): Generator<Unexplained> {
    const { world, desired, objects } = this.#options;
    const { rows } = world;
    for (const id of rows.owned) {
      const row = rows.best(id);
      if (row === undefined || (desired.row(id)?.rows.length ?? 0) > 0) continue;
      // A restored row has no owner yet, and is not collected before it has one; nor is a row that stays anyway.
      if (row.ownership.kind === 'ours' && !isRestored(id, row.uuid, row.ownership) && this.#stays(row) === undefined)
        yield { id, ...row.ownership };
    }
    for (const { row, column, key } of unexplainedEntries(world, desired)) {
      const owner = this.#ownerOfEntry(row, column, key);
      const isKept = owner === undefined || isEntryOfOption(world, row, column, key) || this.policy.entryStays(row) !== undefined;
      if (!isKept) yield { id: entryId(row.id, column, key), owner, uid: '' };
    }
    for (const { object, owner, uid } of leftoversIn(world, objects))
      if (this.#leftoverStays(object, owner) === undefined) yield { id: leftoverId(object, owner), owner, uid, isLeftover: true };
  }

  /** A process that does not lead counts too, and may have seen less than the leader: it says nothing. */
  #tell({ rows, limit }: Hold): void {
    const { held, log } = this.#options;
    held();
    log.error('collection held: rows without an owner in the API server', { rows, limit, next: HELD_NEXT });
  }

  #lookAgain(): void {
    if (this.limit.hold === undefined) return;
    const { caches, later } = this.#options;
    void caches.confirmed().then((confirmed) => {
      if (confirmed) this.limit.survey(this.#unwanted(), true);
      if (this.limit.hold === undefined)
        this.#released('A second full list confirms the owners that exist, and the rest is below the limits');
      else later(COLLECTION_GRACE_MS, () => this.#lookAgain());
    });
  }

  /** More rows may be collected: they are counted before. */
  #again(): void {
    this.#surveyed = false;
    this.#options.again();
  }

  #policyChanged(): void {
    const { log, leads } = this.#options;
    const approved = this.limit.approve();
    const { pause } = this.policy;
    const paused = pause === undefined ? undefined : pauseText(pause);
    if (paused !== this.#paused && leads()) {
      if (paused === undefined) log.info('collection goes on: the pause is over');
      else log.warn('collection is paused', { why: paused });
      if (paused === undefined && this.limit.hold === undefined)
        this.#event('Normal', 'CollectionResumed', 'The pause is over: rows are collected');
      else if (paused !== undefined && this.#paused === undefined)
        this.#event('Normal', 'CollectionPaused', `${sentence(paused)}; kiln gc resume ends it`);
    }
    this.#paused = paused;
    if (approved) this.#released(`Approved by ${this.policy.approval?.by ?? 'a user'}`);
    else {
      this.#publish();
      this.#again();
    }
  }

  #released(why: string): void {
    const { log, leads } = this.#options;
    if (!leads()) return this.#again();
    log.warn('collection continues', { why });
    this.#event('Normal', 'CollectionResumed', `${why}: rows without an owner are collected`);
    this.#publish();
    this.#again();
  }

  /** The rules of the default Vpc's status read it; the condition has an Event. Only the leader tells of holds. */
  #publish(): void {
    const { world, leads, wake } = this.#options;
    const { hold } = this.limit;
    const message = hold === undefined ? undefined : `${this.#holdText(hold)}: ${HELD_NEXT}`;
    if (message === this.#published || !leads()) return;
    if (hold !== undefined && typeof this.#published !== 'string') this.#tell(hold);
    this.#published = message;
    world.collection.set('hold', message === undefined ? { held: false } : { held: true, message });
    wake();
  }

  #event(type: 'Normal' | 'Warning', reason: 'CollectionPaused' | 'CollectionResumed', message: string): void {
    const { about, event } = this.#options;
    event(about.resource, '', about.key, undefined, { type, reason, message });
  }

  /** All rows are compared again then, at the end of a grace. */
  #lookAt(until: number): void {
    const now = this.#wallTime;
    const at = Math.min(Math.max(until, now + LEAST_LOOK_MS), now + MOST_LOOK_MS);
    if (at >= this.#lookingAt) return;
    this.#lookingAt = at;
    this.#options.later(at - now, () => {
      if (this.#lookingAt !== at) return;
      this.#lookingAt = Infinity;
      this.#again();
    });
  }

  /** `kiln gc approve` reads number and digest from it. */
  #holdText({ rows, leftovers, digest, why }: Hold): string {
    const approval = this.policy.approvedAt(this.#wallTime);
    const other =
      approval?.digest === undefined ? '' : `; the approval${approval.by === '' ? '' : ` by ${approval.by}`} is of other rows, or of more`;
    return `No row without an owner is collected: ${rows} have none in the API server (digest ${digest})${leftovers === 0 ? '' : `, ${leftovers} of them objects and keys in Kubernetes`}, and their deletion was not seen; ${why}${other}`;
  }

  get #wallTime(): number {
    return this.#options.clock.wallTime();
  }
}

const HELD_NEXT = 'check that this is the right cluster, and its data complete: kiln gc plan; then kiln gc approve';

function sentence(text: string): string {
  return `${text.slice(0, 1).toUpperCase()}${text.slice(1)}`;
}
