/** The rows, and members of rows, that have to be compared, in an order in which rows may refer to earlier ones. */
import type { DesiredRows, MemberKey } from '../compile/desired-rows.ts';
import type { RowId } from '../nb/row-id.ts';
import { tableOf } from '../nb/row-id.ts';
import { tableSpec } from '../nb/tables.ts';
import type { World } from '../world/world.ts';

const RANKS = 5;

/** Tables with shared columns. */
const HAS_MEMBERS: ReadonlySet<string> = new Set([
  'Port_Group',
  'Logical_Switch',
  'Logical_Router',
  'Address_Set',
  'Load_Balancer',
  'NB_Global',
]);

export class PendingRows {
  /** By rank. */
  readonly rows: readonly Set<RowId>[] = Array.from({ length: RANKS }, () => new Set<RowId>());
  readonly members = new Map<RowId, Set<MemberKey> | 'all'>();
  /** Number of additions so far: shows whether some were made during a comparison. */
  additions = 0;
  readonly #world: World;
  readonly #desired: DesiredRows;

  constructor(world: World, desired: DesiredRows) {
    this.#world = world;
    this.#desired = desired;
  }

  get size(): number {
    const { dueRows, dueMembers, dueSelections } = this.#desired;
    return this.rows.reduce((sum, { size }) => sum + size, this.members.size + dueRows.size + dueMembers.size + dueSelections.size);
  }

  /**
   * @param how `all`: with its members
   * @param comes the row is being inserted: its members may no longer be desired when it is observed
   */
  mark(id: RowId, how: 'row' | 'all', comes: boolean): void {
    this.additions++;
    this.rows[rankOf(id)]?.add(id);
    if (how === 'row' || !hasMembers(id)) return;
    const slot = this.#desired.row(id);
    if (!comes && slot !== undefined && !this.#desired.hasMembers(id) && this.#world.rows.best(id) === undefined) return;
    this.members.set(id, 'all');
  }

  /** @param keys a set that this object keeps and changes: that of a large port group is too long to copy */
  markMembers(id: RowId, keys: Set<MemberKey>): void {
    this.additions++;
    const present = this.members.get(id);
    if (present === 'all') return;
    if (present === undefined) this.members.set(id, keys);
    else for (const key of keys) present.add(key);
  }

  has(id: RowId): boolean {
    return this.rows[rankOf(id)]?.has(id) === true || this.#desired.dueRows.has(id);
  }

  hasMember(id: RowId, key: MemberKey): boolean {
    const members = this.members.get(id);
    return members === 'all' || members?.has(key) === true || this.#desired.dueMembers.get(id)?.has(key) === true;
  }
}

export function hasMembers(id: RowId): boolean {
  return HAS_MEMBERS.has(tableOf(id));
}

/** Rows of a higher rank refer to rows of a lower one. */
export function rankOf(id: RowId): number {
  return tableSpec(tableOf(id)).rank;
}
