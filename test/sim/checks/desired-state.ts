/**
 * Whether rows and objects are in desired state. The comparison is made here and not by `src/diff`: what the diff overlooks, the plan of a
 * fresh controller overlooks too.
 */
import { FINALIZER } from '../../../src/api/well-known.ts';
import type { Desired } from '../../../src/compile/desired.ts';
import type { DesiredRows } from '../../../src/compile/desired-rows.ts';
import { memberKey } from '../../../src/compile/desired-rows.ts';
import type { DesiredObjects } from '../../../src/compile/desired-objects.ts';
import type { ColumnValue, MemberOutput, ObjectId, PatchOutput, RowOutput } from '../../../src/compile/output.ts';
import type { KubeObject } from '../../../lab/apiserver/object.ts';
import type { ObjectStore } from '../../../lab/apiserver/store.ts';
import { ownerKeys } from '../../../src/nb/ownership.ts';
import type { RowId } from '../../../src/nb/row-id.ts';
import { isRowRef, tableOf } from '../../../src/nb/row-id.ts';
import { childColumns, tableSpec } from '../../../src/nb/tables.ts';
import type { DatabaseSchema, Uuid, Value } from '../../../src/ovsdb/index.ts';
import { conditionsOf } from '../../../src/world/conditions.ts';
import type { Entry } from '../../../src/world/observed-rows.ts';
import type { ResourceName } from '../../../src/world/resources.ts';
import { traitsOf } from '../../../src/world/resources.ts';
import type { World } from '../../../src/world/world.ts';
import type { Finding } from './check.ts';

export function desiredStateFindings(
  world: World,
  { rows, objects }: Desired,
  store: ObjectStore,
  schema: DatabaseSchema,
): readonly Finding[] {
  return [
    ...[...rows.rowIds].flatMap((id) => rowFaults(world, rows, id, schema).map((what) => rowFinding(id, what))),
    ...[...world.rows.owned].flatMap((id) => undesiredRows(world, rows, id).map((what) => rowFinding(id, what))),
    ...[...objects.ids].flatMap((id) => objectFaults(objects, store, id).map((what) => objectFinding(id, what))),
  ];
}

function rowFinding(id: RowId, what: string): Finding {
  return { kind: `I3 desired ${tableOf(id)}`, message: `I3: row ${id}: ${what}` };
}

function objectFinding(id: ObjectId, what: string): Finding {
  return { kind: `I8 desired ${id.slice(0, id.indexOf('/'))}`, message: `I8: ${id}: ${what}` };
}

const isOurs = (row: Entry | undefined): row is Entry => row?.ownership.kind === 'ours';

function rowFaults(world: World, desired: DesiredRows, id: RowId, schema: DatabaseSchema): readonly string[] {
  // A conflict: another program has a row of this name, and the object concerned reports it.
  if (world.rowConflicts.peek(id) !== undefined) return [];
  const { rows, members } = desired.row(id) ?? { rows: [], members: new Map<never, never>() };
  const [desiredRow] = rows;
  const row = world.rows.best(id);
  if (desiredRow !== undefined) {
    const parent = desiredRow.parent === undefined ? undefined : world.rows.best(desiredRow.parent.id);
    if (desiredRow.parent !== undefined && !isOurs(parent)) return [];
    if (!isOurs(row)) return [`rule ${desiredRow.rule} emits it, and it does not exist`];
    if (parent !== undefined && (row.parent?.uuid !== parent.uuid || row.parent.column !== desiredRow.parent?.column))
      return [`it is not in ${desiredRow.parent?.id ?? ''}`];
    const values = schema.tables.get(row.table)?.columns;
    const memberOutputs = [...members.values()].flatMap((outputs) => outputs.slice(0, 1));
    const strays =
      parent === undefined ? [] : world.rows.parentsOf(row.uuid).filter(({ uuid }) => world.rows.entry(uuid)?.id !== parent.id);
    if (strays.length > 0) return [`it is in ${strays.map(({ table }) => table).join(', ')} beside ${desiredRow.parent?.id ?? ''}`];
    const faults = columnFaults(
      world,
      desiredRow,
      row,
      memberOutputs,
      (column, atom) => values?.get(column)?.key.enum?.has(atom as never) ?? true,
    );
    if (faults.length > 0) return faults;
    const more = unemittedFaults(desiredRow, row);
    if (more.length > 0) return more;
  }
  return row !== undefined && (row.ownership.kind === 'ours' || row.table === 'NB_Global')
    ? [...members.values()].flatMap((outputs) => outputs.slice(0, 1)).flatMap((output) => memberFault(world, row, output))
    : [];
}

/**
 * Columns that decide whether the row works, although no rule emits them. A row that is retained as it is has no emitted columns at all.
 */
function unemittedFaults({ columns }: RowOutput, { table, row }: Entry): readonly string[] {
  if (Object.keys(columns).length === 0) return [];
  return Object.keys(tableSpec(table).unlessEmitted).flatMap((column) => {
    const held = row[column];
    const size =
      held instanceof Set || held instanceof Map
        ? held.size
        : held === undefined || held === null || held === false || Number(held) === 0
          ? 0
          : 1;
    return column in columns || size === 0 ? [] : [`${column} is ${text(held as Value)}, and no rule emits it`];
  });
}

/** @param allows whether the schema allows this value: what this OVN cannot hold is skipped */
function columnFaults(
  world: World,
  desiredRow: RowOutput,
  { table, row }: Entry,
  members: readonly MemberOutput[],
  allows: (column: string, atom: unknown) => boolean,
): readonly string[] {
  const columns: Readonly<Record<string, ColumnValue>> = {
    ...desiredRow.columns,
    external_ids: { ...desiredRow.externalIds, ...ownerKeys(desiredRow.owner, desiredRow.rule) },
  };
  const modes = tableSpec(table).columns;
  return Object.entries(columns).flatMap(([column, value]) => {
    const mode = modes[column];
    const held = row[column];
    if (held === undefined || mode === undefined || mode === 'refs') return [];
    const shown = (): string => `${column} is ${text(held)}, and a rule emits ${text(value)}`;
    if (mode === 'map' || mode === 'entries' || Array.isArray(mode)) {
      const map = held as ReadonlyMap<string, string>;
      const desired = value as Readonly<Record<string, string>>;
      const more = [...map.keys()].filter((key) => !(key in desired) && (mode === 'entries' || !key.includes(':')));
      const ruleKeys = Array.isArray(mode) ? more.filter((key) => (mode as readonly string[]).includes(key)) : more;
      const undesired = ruleKeys.filter(
        (key) => !members.some((one) => one.column === column && (one.member as { key?: string }).key === key),
      );
      return Object.entries(desired).some(([key, one]) => map.get(key) !== one) || undesired.length > 0 ? [shown()] : [];
    }
    const atoms = (Array.isArray(value) ? value : value === null ? [] : [value])
      .map((one: unknown) => (isRowRef(one) ? (world.rows.best(one.ref)?.uuid ?? '') : one))
      .filter((one) => allows(column, one));
    const has = new Set<unknown>(held instanceof Set ? held : held === null ? [] : [held]);
    const lacks = atoms.some((one) => !has.has(one));
    const others = members.filter((one) => one.column === column).length;
    return lacks || (mode === 'value' || others === 0 ? has.size !== new Set(atoms).size : false) ? [shown()] : [];
  });
}

function text(value: Value | ColumnValue): string {
  if (value instanceof Set) return JSON.stringify([...value].map(String).toSorted());
  if (value instanceof Map) return JSON.stringify(Object.fromEntries(value as ReadonlyMap<string, string>));
  return JSON.stringify(value, (_key, one: unknown) => (typeof one === 'bigint' ? String(one) : one));
}

function memberFault(world: World, { row, table }: Entry, { column, member }: MemberOutput): readonly string[] {
  const held = row[column];
  if (held === undefined) return [];
  if (isRowRef(member)) {
    const referred = world.rows.best(member.ref);
    if (!isOurs(referred) || (held instanceof Set && held.has(referred.uuid))) return [];
    return [`${column} of the ${table} lacks ${member.ref}`];
  }
  if (typeof member === 'object') {
    const { key, value } = member;
    return held instanceof Map && held.get(key) === value ? [] : [`${column} lacks ${key}=${value}`];
  }
  return held instanceof Set && held.has(member) ? [] : [`${column} lacks ${String(member)}`];
}

/** Rows, or members of one, that no rule emits any longer. */
function undesiredRows(world: World, desired: DesiredRows, id: RowId): readonly string[] {
  // A conflict: a row of another program has this name, or is inside. The object concerned reports it, and it is resolved first.
  if (world.rowConflicts.peek(id) !== undefined) return [];
  const all = world.rows.rowsOf(id).filter(isOurs);
  const slot = desired.row(id);
  const parent = slot?.rows[0]?.parent;
  if (parent !== undefined && !isOurs(world.rows.best(parent.id))) return [];
  const surplus = (slot?.rows.length ?? 0) === 0 ? all : all.filter(({ uuid }) => uuid !== world.rows.best(id)?.uuid);
  const uncollected = surplus.filter((row) => !hasForeignChild(world, row)).map(({ uuid }) => `${uuid} exists, and no rule emits it`);
  const row = world.rows.best(id);
  if ((slot?.rows.length ?? 0) === 0 || !isOurs(row)) return uncollected;
  const children = new Set(childColumns(row.table).map(({ column }) => column));
  const refs = Object.entries(tableSpec(row.table).columns).filter(([column, mode]) => mode === 'refs' && !children.has(column));
  return [
    ...uncollected,
    ...refs.flatMap(([column]) =>
      [...((row.row[column] ?? []) as Iterable<Uuid>)].flatMap((uuid) => {
        const entry = world.rows.entry(uuid);
        if (!isOurs(entry) || slot?.members.has(memberKey(column, { ref: entry.id })) === true) return [];
        return [`${column} has ${entry.id}, which no rule emits`];
      }),
    ),
  ];
}

/** A row with another program's row inside is not collected until that program removes it. */
function hasForeignChild(world: World, { table, row }: Entry): boolean {
  return childColumns(table).some(({ column }) => {
    const held = row[column];
    return held instanceof Set && [...held].some((uuid) => world.rows.entry(uuid as Uuid)?.ownership.kind === 'foreign');
  });
}

function objectFaults(desired: DesiredObjects, store: ObjectStore, id: ObjectId): readonly string[] {
  const at = id.indexOf('/');
  const resource = id.slice(0, at) as ResourceName;
  const { group, plural } = traitsOf(resource);
  const object = store.get(group === '' ? plural : `${plural}.${group}`, id.slice(at + 1));
  const outputs = desired.of(id);
  if (object === undefined) return outputs.some(({ kind }) => kind === 'create') ? ['a rule emits it, and it does not exist'] : [];
  const { uid, deletionTimestamp } = object.metadata;
  const patches = outputs.filter((output): output is PatchOutput => output.kind === 'patch' && output.uid === uid);
  const isOverdue = outputs.some((output) => output.kind === 'delete' && output.uid === uid) && deletionTimestamp === undefined;
  return [
    ...(isOverdue ? ['a rule deletes it, and it is not being deleted'] : []),
    ...patches.flatMap((patch) => [
      ...fieldFaults('annotation', patch.annotations, object.metadata.annotations),
      ...fieldFaults('label', patch.labels, object.metadata.labels),
      ...fieldFaults('spec', patch.spec, object['spec']),
      ...fieldFaults('status', patch.status, object['status']),
    ]),
    ...conditionFaults(resource, object, patches),
    ...finalizerFaults(object, patches),
  ];
}

function fieldFaults(part: string, desired: Readonly<Record<string, unknown>> | undefined, held: unknown): readonly string[] {
  const has = (held ?? {}) as Readonly<Record<string, unknown>>;
  return Object.entries(desired ?? {})
    .filter(([name, value]) => value !== undefined && plain(value) !== plain(has[name]))
    .map(([name, value]) => `${part} ${name} is ${plain(has[name])}, and a rule emits ${plain(value)}`);
}

/** One text for equal values: numbers of all types alike, keys sorted, without nulls. */
function plain(value: unknown): string {
  if (value === undefined || value === null) return 'nothing';
  if (typeof value === 'bigint' || typeof value === 'number') return String(Number(value));
  if (Array.isArray(value)) return `[${value.map(plain).join(',')}]`;
  if (typeof value !== 'object') return JSON.stringify(value);
  const fields = Object.entries(value).filter(([, one]) => one !== null && one !== undefined);
  return `{${fields
    .map(([key, one]) => `${key}:${plain(one)}`)
    .toSorted()
    .join(',')}}`;
}

function conditionFaults(resource: ResourceName, object: KubeObject, patches: readonly PatchOutput[]): readonly string[] {
  if (traitsOf(resource).conditions === 'none') return [];
  const held = conditionsOf(resource, object);
  const desired = patches.flatMap(({ conditions = [] }) => conditions);
  return [
    ...desired.flatMap(({ type, status, reason, message }) => {
      const is = held.find((one) => one.type === type);
      return is?.status === status && is.reason === reason && (is.message ?? '') === message
        ? []
        : [`condition ${type} is ${is?.status ?? 'not there'} (${is?.message ?? ''}), and a rule emits ${status} (${message})`];
    }),
    ...patches
      .flatMap(({ withoutConditions = [] }) => withoutConditions)
      .filter((type) => held.some((one) => one.type === type) && !desired.some((one) => one.type === type))
      .map((type) => `condition ${type} is there, and a rule removes it`),
  ];
}

function finalizerFaults(
  { metadata: { finalizers = [], deletionTimestamp } }: KubeObject,
  patches: readonly PatchOutput[],
): readonly string[] {
  const emitted = patches.flatMap(({ finalizer }) => (finalizer === undefined ? [] : [finalizer]));
  const has = finalizers.includes(FINALIZER);
  if (emitted.includes(true)) return has || deletionTimestamp !== undefined ? [] : ['it lacks the finalizer'];
  return emitted.length > 0 && has ? ['it has the finalizer, and has no blocker'] : [];
}
