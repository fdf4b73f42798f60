/** One column of a row of ours: desired value against observed value. */
import type { ColumnValue, Scalar } from '../compile/output.ts';
import type { RowId, RowRef } from '../nb/row-id.ts';
import { isRowRef } from '../nb/row-id.ts';
import type { ColumnMode } from '../nb/tables.ts';
import type { InputValue, Uuid, Value } from '../ovsdb/index.ts';

export type Resolve = (id: RowId) => Uuid | undefined;

export type Resolved = { readonly ok: true; readonly value: InputValue } | { readonly ok: false; readonly missing: RowId };

/** Replaces references by UUIDs. */
export function resolveValue(value: ColumnValue, resolve: Resolve): Resolved {
  if (Array.isArray(value)) {
    const atoms: Scalar[] = [];
    for (const member of value as readonly (Scalar | RowRef)[]) {
      const atom = isRowRef(member) ? resolve(member.ref) : member;
      if (atom === undefined) return { ok: false, missing: (member as RowRef).ref };
      atoms.push(atom);
    }
    return { ok: true, value: atoms };
  }
  if (isRowRef(value)) {
    const uuid = resolve(value.ref);
    return uuid === undefined ? { ok: false, missing: value.ref } : { ok: true, value: uuid };
  }
  return { ok: true, value: value as InputValue };
}

/** Whether a column has the desired value. The order of a set does not count; a missing optional equals null. */
export function holds(observed: Value | undefined, desired: InputValue): boolean {
  if (observed === undefined) return false;
  if (observed instanceof Set) {
    // Most sets have at most one member.
    if (Array.isArray(desired) && desired.length < 2)
      return observed.size === desired.length && (desired.length === 0 || observed.has(desired[0]));
    const atoms =
      desired === null ? [] : Array.isArray(desired) || desired instanceof Set ? [...(desired as Iterable<Scalar>)] : [desired as Scalar];
    return new Set(atoms).size === observed.size && atoms.every((atom) => observed.has(atom));
  }
  if (observed instanceof Map) return false;
  if (Array.isArray(desired)) return desired.length === 0 ? observed === null : desired.length === 1 && desired[0] === observed;
  return observed === desired;
}

export interface KeyDiff {
  readonly set: Readonly<Record<string, string>>;
  readonly remove: readonly string[];
}

/** Keys of other vendors contain a colon (`neutron:port_name`). They always stay. */
function isForeignKey(key: string): boolean {
  return key.includes(':');
}

/** Whether Kiln removes a key of a map column that neither the row output nor a member has. */
export function isRemovable(key: string, mode: ColumnMode | undefined): boolean {
  if (mode === 'entries') return true;
  if (Array.isArray(mode)) return (mode as readonly string[]).includes(key);
  return mode === 'map' && !isForeignKey(key);
}

/**
 * @param isMember whether another rule emits a key as a member
 * @returns undefined if the map has the desired keys. With `entries` it removes none: `diffMembers` does
 */
export function diffKeys(
  observed: Value | undefined,
  desired: Readonly<Record<string, string>>,
  mode: ColumnMode,
  isMember: (key: string) => boolean,
): KeyDiff | undefined {
  const held = observed instanceof Map ? (observed as ReadonlyMap<string, string>) : new Map<string, string>();
  const set: Record<string, string> = {};
  let differs = false;
  for (const key of Object.keys(desired)) {
    const value = desired[key] as string;
    if (held.get(key) === value) continue;
    set[key] = value;
    differs = true;
  }
  const remove: string[] = [];
  if (mode !== 'entries')
    for (const key of held.keys()) if (!Object.hasOwn(desired, key) && isRemovable(key, mode) && !isMember(key)) remove.push(key);
  return differs || remove.length > 0 ? { set, remove } : undefined;
}
