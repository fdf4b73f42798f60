/** The steps of a repair in words: each row and object, with what it has before and after. */
import type { Edit } from '../../diff/edits.ts';
import type { ObjectWrite } from '../../diff/object-diff.ts';
import type { PlannedChanges } from '../../explain/plan-text.ts';
import { wordsOf } from '../../explain/words.ts';
import { stringifyJson } from '../../kube/json.ts';
import { identityOf, tableOf } from '../../nb/row-id.ts';
import type { Uuid } from '../../ovsdb/index.ts';
import { keyOf, traitsOf } from '../../world/resources.ts';
import type { World } from '../../world/world.ts';

/** @param world as it is before the step */
export function stepLines({ rows, objects }: PlannedChanges, world: World): readonly string[] {
  return [...rows.flatMap((row) => rowLine(row, world)), ...objects.map((write) => objectLine(write, world))];
}

function rowLine({ id, verdict }: PlannedChanges['rows'][number], world: World): readonly string[] {
  if (verdict.kind !== 'change') return [];
  const changes = verdict.edits.flatMap((edit) => editText(edit, world));
  return [`${ROW_VERBS[verdict.change]}  ${tableOf(id)} ${identityOf(id)}${changes.length === 0 ? '' : `: ${changes.join('; ')}`}`];
}

const ROW_VERBS = { insert: 'make   ', update: 'change ', replace: 'replace', delete: 'delete ' } as const;

function editText(edit: Edit, world: World): readonly string[] {
  const before = 'uuid' in edit ? world.rows.entry(edit.uuid)?.row : undefined;
  const map = (column: string): ReadonlyMap<unknown, unknown> => {
    const held = before?.[column];
    return held instanceof Map ? held : new Map();
  };
  switch (edit.kind) {
    case 'insert':
      return Object.entries(edit.row)
        .filter(([column, value]) => column !== 'external_ids' && !isEmpty(value))
        .map(([column, value]) => `${column} ${shown(value, world)}`);
    case 'update':
      return Object.entries(edit.row).map(([column, value]) => `${column} ${shown(before?.[column], world)} -> ${shown(value, world)}`);
    case 'member': {
      const name = rowName(edit.uuid, edit.table, world);
      const member = shown(edit.value, world);
      return [edit.add ? `${member} into ${edit.column} of ${name}` : `${member} out of ${edit.column} of ${name}`];
    }
    case 'keys':
    case 'pairs': {
      const gone = Array.isArray(edit.remove) ? edit.remove : Object.keys(edit.remove);
      const held = map(edit.column);
      return [
        ...Object.entries(edit.set).map(([key, value]) => `${edit.column}:${key} ${shown(held.get(key), world)} -> ${value}`),
        ...gone.filter((key) => !(key in edit.set)).map((key) => `${edit.column}:${String(key)} ${shown(held.get(key), world)} -> none`),
      ];
    }
    case 'delete': {
      const held = Object.entries(before ?? {}).filter(
        ([column, value]) => !HIDDEN.has(column) && !isEmpty(value) && (typeof value !== 'object' || !(value instanceof Map)),
      );
      return held.length === 0 ? [] : [`it has ${held.map(([column, value]) => `${column} ${shown(value, world)}`).join(', ')}`];
    }
    default:
      return [];
  }
}

/** The name is printed already. */
const HIDDEN: ReadonlySet<string> = new Set(['_uuid', 'name', 'external_ids']);

function objectLine(write: ObjectWrite, world: World): string {
  const { resource, namespace, name } = write;
  const key = keyOf({ metadata: { namespace, name } });
  const object = world.tables[resource]?.peek(key);
  const named = `${traitsOf(resource).kind} ${key}`;
  const addresses = wordsOf(resource).addresses?.(world, key) ?? [];
  switch (write.verb) {
    case 'create':
      return `make     ${named}: ${cut(stringifyJson(write.object['spec'] ?? {}))}`;
    case 'delete':
      return `delete   ${named}${addresses.length === 0 ? '' : `: it has ${addresses.join(', ')}`}`;
    case 'evict':
      return `evict    ${named}`;
    default: {
      const changes = differences(write.patch, object as unknown as Fields, '');
      return `change   ${named}: ${cut(changes.join('; '))}`;
    }
  }
}

type Fields = Readonly<Record<string, unknown>> | undefined;

/** Fields that differ, down to those that are no objects. */
function differences(patch: Readonly<Record<string, unknown>>, held: Fields, path: string): readonly string[] {
  return Object.entries(patch).flatMap(([field, value]): readonly string[] => {
    const at = path === '' ? field : `${path}.${field}`;
    if (at === 'metadata.uid' || at === 'metadata.resourceVersion') return [];
    const before = held?.[field];
    if (field === 'conditions') return ['conditions'];
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return differences(value as Readonly<Record<string, unknown>>, before as Fields, at);
    return [`${at} ${jsonText(before)} -> ${jsonText(value)}`];
  });
}

function jsonText(value: unknown): string {
  if (value === undefined || value === null || value === '') return 'none';
  return Array.isArray(value) && value.length === 0 ? 'none' : typeof value === 'string' ? value : stringifyJson(value);
}

function rowName(uuid: Uuid, table: string, world: World): string {
  const id = world.rows.entry(uuid)?.id;
  return id === undefined ? `${table} ${uuid}` : `${tableOf(id)} ${identityOf(id)}`;
}

function isEmpty(value: unknown): boolean {
  if (value === undefined || value === '' || value === null) return true;
  if (value instanceof Set || value instanceof Map) return value.size === 0;
  return typeof value === 'object' && Object.keys(value).length === 0;
}

/** Members that are rows have their names. */
function shown(value: unknown, world: World): string {
  if (isEmpty(value)) return 'none';
  if (value instanceof Map) return cut([...value].map(([key, one]) => `${String(key)}=${String(one)}`).join(' '));
  if (value instanceof Set || Array.isArray(value)) return cut([...(value as Iterable<unknown>)].map((one) => shown(one, world)).join(' '));
  if (typeof value === 'object') return cut(stringifyJson(value));
  const text = String(value);
  const id = world.rows.entry(text as Uuid)?.id;
  return id === undefined ? text : identityOf(id);
}

const WIDTH = 300;

function cut(text: string): string {
  return text.length > WIDTH ? `${text.slice(0, WIDTH - 1)}…` : text;
}
