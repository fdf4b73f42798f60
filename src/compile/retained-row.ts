/**
 * Rows emitted as they are observed: a row that no rule emits would be collected. For frozen Subnets, networks whose Subnet was removed by
 * force, and objects whose desired rows are unknown for now.
 */
import { LEFTOVER_RULE, OWNER_KEY, RULE_KEY, UID_KEY, VENDOR_KEY } from '../nb/ownership.ts';
import type { RowId } from '../nb/row-id.ts';
import type { World } from '../world/world.ts';
import type { RowOwner, RowOutput } from './output.ts';

const ADDED_BY_DIFF: ReadonlySet<unknown> = new Set([VENDOR_KEY, OWNER_KEY, UID_KEY, RULE_KEY]);

/**
 * All rows with this owner text (`<kind>/<namespace>/<name>`), as they are, with their ownership keys; leftovers have a rule of their own.
 */
export function retainedRows(world: World, owner: string): readonly RowOutput[] {
  return [...world.rows.ownedBy(owner)].toSorted().flatMap((id) => {
    const ownership = world.rows.state(id)?.ownership;
    return ownership?.kind === 'ours' && ownership.rule === LEFTOVER_RULE ? [] : (retainedRow(world, id) ?? []);
  });
}

/** A row as it is, with its ownership keys; undefined if it is not ours. */
export function retainedRow(world: World, id: RowId): RowOutput | undefined {
  const state = world.rows.state(id);
  if (state === undefined || state.ownership.kind !== 'ours') return undefined;
  const [kind = '', namespace = '', name = ''] = state.ownership.owner.split('/');
  return asItIs(world, id, { kind, namespace, name, uid: state.ownership.uid, created: '' }, state.ownership.rule);
}

/** A row that lost its ownership keys, as it is, with these keys again. */
export function rowWithOwnershipKeys(world: World, { id, owner, rule }: RowOutput): RowOutput {
  return asItIs(world, id, { ...owner, created: '' }, rule);
}

/**
 * A legacy row as it is, with the ownership keys of an owner and a rule that adopt it. Undefined if it is not legacy, or has a foreign
 * parent.
 */
export function adoptedRow(world: World, id: RowId, owner: RowOwner, rule: string): RowOutput | undefined {
  const state = world.rows.state(id);
  if (state?.ownership.kind !== 'legacy') return undefined;
  const parent = state.parent === undefined ? undefined : world.rows.byUuid(state.parent.uuid);
  return parent?.ownership.kind === 'foreign' ? undefined : asItIs(world, id, owner, rule);
}

function asItIs(world: World, id: RowId, owner: RowOwner, rule: string): RowOutput {
  const state = world.rows.state(id);
  const held = world.rows.column(id, 'external_ids');
  const externalIds =
    held instanceof Map
      ? Object.fromEntries([...held].filter(([key]) => !ADDED_BY_DIFF.has(key)).map(([key, value]) => [String(key), String(value)]))
      : {};
  const parent = state?.parent === undefined ? undefined : world.rows.byUuid(state.parent.uuid);
  return {
    kind: 'row',
    id,
    owner,
    rule,
    ...(parent !== undefined && state?.parent !== undefined && { parent: { id: parent.id, column: state.parent.column } }),
    columns: {},
    externalIds,
  };
}
