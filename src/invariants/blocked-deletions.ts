/**
 * I5: an object that is being deleted is gone, or reports its blockers, and these exist: objects, or a foreign row inside of one of its
 * rows.
 */
import { FINALIZER } from '../api/well-known.ts';
import { BLOCKED_RESOURCES } from '../blockers/dependencies.ts';
import type { RowId } from '../nb/row-id.ts';
import { rowId } from '../nb/row-id.ts';
import { conditionOf } from '../world/conditions.ts';
import type { ResourceName } from '../world/resources.ts';
import { RESOURCE_NAMES, traitsOf } from '../world/resources.ts';
import type { AnyObservedObject, World } from '../world/world.ts';
import type { Violation } from './violation.ts';

export function blockedDeletions(world: World): readonly Violation[] {
  return BLOCKED_RESOURCES.flatMap((resource) =>
    Array.from(world.tables[resource]?.entries() ?? []).flatMap(([, object]) => violationsOf(world, resource, object)),
  );
}

function violationsOf(world: World, resource: ResourceName, object: AnyObservedObject): Violation[] {
  const { metadata } = object;
  if (metadata.deletionTimestamp === undefined) return [];
  const { kind } = traitsOf(resource);
  const subject = `${kind} ${metadata.name}`;
  const violation = (message: string): Violation => ({ invariant: 'I5', subject, message });
  const blocked = conditionOf(resource, object, 'DeletionBlocked');
  // A foreign finalizer needs no report, nor does an object that is gone.
  if (metadata.finalizers?.includes(FINALIZER) !== true && blocked?.status !== 'True') return [];
  if (blocked?.status !== 'True')
    return [violation(`${subject} is being deleted since ${metadata.deletionTimestamp} and does not say what holds it`)];
  const named = [...(blocked.message ?? '').matchAll(NAMED)]
    .map(([, holder = '', name = '']) => ({ holder, name }))
    .filter(({ holder, name }) => !(holder === kind && name === metadata.name));
  const rows = [...(blocked.message ?? '').matchAll(NAMED_ROW)].map(([, table = '', identity = '']) => rowId(table, identity));
  if (named.length === 0 && rows.length === 0) return [violation(`${subject} names nothing that holds it: "${blocked.message ?? ''}"`)];
  return [
    ...named
      .filter(({ holder, name }) => !exists(world, holder, name))
      .map(({ holder, name }) => `${holder} ${name}, which does not exist`),
    ...rows.flatMap((id) => wrongRow(world, id) ?? []),
  ].map((holder) => violation(`${subject} is held by ${holder}`));
}

const RESOURCE_OF_KIND = new Map(RESOURCE_NAMES.map((name) => [traitsOf(name).kind, name]));
/** An object as a message names it. */
const NAMED = new RegExp(`\\b(${[...RESOURCE_OF_KIND.keys()].join('|')}) ([\\w.:/-]*[\\w])`, 'g');

/** A blocking row as a message names it. */
const NAMED_ROW = /\bbut (\w+) (.+?) in (?:it|\w+ \S+ of it) belongs to /g;

function wrongRow(world: World, id: RowId): string | undefined {
  const row = world.rows.rowsOf(id).find(({ ownership }) => ownership.kind === 'foreign');
  if (row === undefined) return `row ${id}, which is not there as another program's`;
  const parent = row.parent === undefined ? undefined : world.rows.entry(row.parent.uuid);
  return parent?.ownership.kind === 'ours' ? undefined : `row ${id}, which is in no row of Kiln's`;
}

function exists(world: World, kind: string, key: string): boolean {
  const resource = RESOURCE_OF_KIND.get(kind);
  return resource !== undefined && world.tables[resource]?.peek(key) !== undefined;
}
